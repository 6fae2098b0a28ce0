package signpost

import (
	"fmt"
	"strings"
	"testing"
)

// indexOf returns an index of endpoints with these URLs.
func indexOf(urls ...string) *Index {
	var v Version
	for _, url := range urls {
		v.Manifest.Endpoints = append(v.Manifest.Endpoints, Endpoint{URL: url})
	}
	return NewIndex(v)
}

// linear fails if doubling the size much more than doubles the work.
func linear(t *testing.T, name string, size int, work func(size int) int) {
	t.Helper()
	small, large := work(size), work(2*size)
	if float64(large) > 2.3*float64(small) {
		t.Errorf("%s: %d steps for size %d, %d for twice that", name, small, size, large)
	}
}

// The work of a match grows linearly with the length of the feed, whatever the URLs are.
func TestMatchWorkIsLinear(t *testing.T) {
	const base = "https://a.example/"
	steps := func(x *Index, feed string) int { return sweepFeed(&x.root, CutURL(feed).canonical()).steps }
	for name, urls := range map[string][]string{
		"two placeholders in a segment": {base + "{{show}}-{{season}}"},
		"200 placeholders":              {base + strings.Repeat("{{a}}-", 200)},
		"200 adjacent placeholders":     {base + strings.Repeat("{{a}}", 200)},
		"a text that repeats itself":    {base + "{{a}}" + strings.Repeat("-", 1000), base + "{{a}}" + strings.Repeat("-", 999) + "x"},
		"many texts":                    {base + "{{a}}-1", base + "{{a}}--1", base + "{{a}}-{{b}}-1", base + "{{a}}-{{b}}--2"},
	} {
		x := indexOf(urls...)
		linear(t, name, 8000, func(n int) int { return steps(x, base+strings.Repeat("-", n)) })
	}

	// It does not depend on the number of endpoints.
	for name, format := range map[string]string{
		"different texts":     "https://a.example/v1/{{id}}-part%d/{{x}}",
		"different segments":  "https://a.example/v1/{{id}}/part%d",
		"different beginning": "https://a.example/v%d/{{id}}",
		"different values":    "https://a.example/v1?id={{id}}&n=%d",
	} {
		feed := strings.Replace(fmt.Sprintf(format, 77), "{{id}}", "4711", 1)
		work := func(n int) int {
			var urls []string
			for i := range n {
				urls = append(urls, fmt.Sprintf(format, i))
			}
			return steps(indexOf(urls...), feed)
		}
		if few, many := work(100), work(10_000); many > few+10 {
			t.Errorf("%s: %d steps among 100 endpoints, %d among 10,000", name, few, many)
		}
	}
}

// FuzzMatchWork counts the steps of a match for any URLs and feeds. They grow with the length of the feed, and with the
// places in the URLs where a placeholder can be entered, once each.
func FuzzMatchWork(f *testing.F) {
	f.Add("https://a.example/{{show}}-{{season}}\nhttps://a.example/{{a}}--1", "https://a.example/", "-", "")
	f.Add("https://a.example/"+strings.Repeat("{{a}}-", 16), "https://a.example/", "-", "/x")
	f.Add("https://a.example/"+strings.Repeat("{{a}}", 16), "https://a.example/", "ab", "?c")
	f.Add("https://a.example/{{a}}-\nhttps://a.example/{{a}}--\nhttps://a.example/{{a}}---{{b}}-\nhttps://a.example/{{a}}-{{b}}--{{c}}-", "https://a.example/", "-", "")
	f.Add("https://{{host}}/a{{x}}\nhttps://{{host}}/aa{{x}}\nhttps://{{host}}/aaa{{x}}a{{y}}aa", "https://{{host}}/", "a", "/")
	f.Add("https://a.example/{{a}}/{{b}}/{{c}}\nhttps://a.example/{{a}}/x/{{c}}", "https://a.example", "/x", "")
	f.Fuzz(func(t *testing.T, text, before, piece, after string) {
		urls := strings.Split(text, "\n")
		if len(text) > 4<<10 || len(before)+len(piece)+len(after) > 200 {
			return
		}
		x := indexOf(urls...)
		places := 0
		for _, url := range urls {
			places += 1 + strings.Count(url, "{{")
		}
		steps := func(n int) int {
			feed := CutURL(before + strings.Repeat(piece, n) + after).canonical()
			s := sweepFeed(&x.root, feed).steps
			if most := 4 * (places + 1) * (len(feed) + 2); s > most {
				t.Errorf("%d steps for a feed of %d bytes and %d places, more than %d", s, len(feed), places, most)
			}
			return s
		}
		if few, many := steps(200), steps(400); many > 5*few/2+100 {
			t.Errorf("%d steps for %q 200 times, %d for 400 times", few, piece, many)
		}
	})
}
