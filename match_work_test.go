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

// linear fails if the work for twice the size is much more than twice the work.
func linear(t *testing.T, name string, size int, work func(size int) int) {
	t.Helper()
	small, large := work(size), work(2*size)
	if float64(large) > 2.3*float64(small) {
		t.Errorf("%s: %d steps for size %d, %d for twice that", name, small, size, large)
	}
}

// The work of a match grows with the length of the feed, whatever the URLs are.
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
