package match_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"signpost"
	"signpost/internal/testkit"
	"signpost/match"
)

// endpoints returns a manifest of endpoints with these URLs. The context key of each is its URL.
func endpoints(urls ...string) signpost.Manifest {
	var m signpost.Manifest
	for _, url := range urls {
		m.Endpoints = append(m.Endpoints, signpost.Endpoint{
			URL: url, Name: url, Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
			ContextObj: []signpost.ContextItem{{Key: url, Type: signpost.ContextCtx}},
		})
	}
	return m
}

// Spec 1.7: if endpoints overlap, only the longest one supplies context keys.
func TestSpec1_7LongestEndpointSuppliesContext(t *testing.T) {
	const feeds, media = "https://a.example/v1/feeds", "https://a.example/v1/feeds/media"
	m, _ := match.NewIndex(signpost.Version{Name: "v1", Manifest: endpoints(feeds, media)}).Match(media + "/7?x=1")
	want := match.Match{
		Endpoint: media, Version: "v1", Name: media,
		ContextObj: []signpost.ContextItem{{Key: media, Type: signpost.ContextCtx}},
		Shadowed:   []match.Shadowed{{Endpoint: feeds, LostKeys: []string{feeds}, By: match.ByLength}},
		Descriptor: endpoints(media).Endpoints[0],
	}
	testkit.Equal(t, "match", m, want)
}

// TestMatch shows which endpoint answers for a feed, and why others do not.
func TestMatch(t *testing.T) {
	index := match.NewIndex(
		signpost.Version{Name: "v1", Manifest: endpoints(
			"https://a.example/v1",
			"https://a.example/v1/series/{{id}}",
			"https://a.example/v1/series/{{id}}/episodes",
			"https://a.example/v1/series/new",
			"https://a.example/v1/{{any}}-{{thing}}",
			"https://a.example:8443/v1",
			"https://a.example/search?q=",
			"http://a.example/v1",
			"https://c.example/series/{{id}}",
			"https://c.example/series/new",
			"https://c.example/series/{{name}}",
			"https://c.example/ser",
			"https://c.example/",
		)},
		signpost.Version{Name: "v2", Manifest: endpoints("https://b.example/v2/", "https://bare.example")},
	)
	inside := map[bool]string{true: ", inside a segment"}
	testkit.Cases(t, "testdata/feeds.golden", func(feed string) string {
		m, ok := index.Match(feed)
		if !ok {
			return ""
		}
		out := fmt.Sprintf("%s of %s%s\n", m.Endpoint, m.Version, inside[m.InsideSegment])
		for _, s := range m.Shadowed {
			out += fmt.Sprintf("not %s by %s%s\n", s.Endpoint, s.By, inside[s.InsideSegment])
		}
		return out
	})
}

// An endpoint with {{host}} takes part once, whether its service declares the host of the feed or covers it by a suffix.
func TestMatchOnDeclaredHosts(t *testing.T) {
	one, other := together("one.yaml[a.example *.example]", "/feeds"), together("other.yaml[b.example]", "/feeds/sport")
	index := match.NewIndex(one, other)
	for name, shadowed := range map[string]int{"a": 0, "b": 1, "c": 0} {
		m, ok := index.Match("https://" + name + ".example/feeds/sport")
		if !ok || len(m.Shadowed) != shadowed {
			t.Errorf("%s.example: %+v", name, m)
		}
	}
}

// pattern is the URL of an endpoint as a regular expression.
type pattern struct {
	url      string
	regexp   *regexp.Regexp
	literals int
}

func patternOf(url string) pattern {
	parts := regexp.MustCompile(`\{\{.*?\}\}`).Split(url, -1)
	p := pattern{url: url}
	for i, part := range parts {
		p.literals += utf8.RuneCountInString(part)
		parts[i] = regexp.QuoteMeta(part)
	}
	p.regexp = regexp.MustCompile(`\A` + strings.Join(parts, `[^/?#]+`))
	p.regexp.Longest()
	return p
}

var authority = regexp.MustCompile(`\Ahttps://[^/?#]*`)

// prefix returns the length of the match, or -1 if the URL is not a prefix of the feed.
func (p pattern) prefix(feed string) int {
	found := p.regexp.FindString(feed)
	// The match must cover the whole authority of the feed.
	host := authority.FindString(feed)
	if found == "" || len(found) < len(host) || authority.FindString(found) != host {
		return -1
	}
	return len(found)
}

// longest implements the rule literally.
func longest(patterns []pattern, feed string) (best pattern, prefixes int) {
	length := -1
	for _, p := range patterns {
		n := p.prefix(feed)
		if n < 0 {
			continue
		}
		prefixes++
		if n > length || n == length && p.literals > best.literals {
			best, length = p, n
		}
	}
	return best, prefixes
}

// shape returns a URL without placeholder names. URLs of the same shape match the same feeds.
func shape(url string) string { return regexp.MustCompile(`\{\{.*?\}\}`).ReplaceAllString(url, "{{}}") }

// FuzzMatch compares the index with a linear scan. URLs and feeds are built from few words, so that they overlap in
// every possible way.
func FuzzMatch(f *testing.F) {
	for seed := range uint64(120) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 2))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		seen := make(map[string]bool)
		var urls []string
		var patterns []pattern
		for range 1 + random.IntN(20) {
			url := "https://" + pick("a", "b") + ".example" + pick("", "/", "?")
			for range random.IntN(7) {
				if strings.HasSuffix(url, "example") {
					break
				}
				url += pick("/", "/", "a", "b", "ab", "aab", "{{x}}", "{{y}}", "-", "--", "?", "{{x}}-{{y}}", "é")
			}
			if _, err := signpost.ParseURL(url); err == nil && !seen[shape(url)] {
				seen[shape(url)] = true
				urls, patterns = append(urls, url), append(patterns, patternOf(url))
			}
		}
		index := match.NewIndex(signpost.Version{Manifest: endpoints(urls...)})
		for range 30 {
			feed := "https://" + pick("a", "b", "c") + ".example" + pick("/", "/", "/", "?", "#", "", ".org/")
			for range random.IntN(9) {
				feed += pick("/", "/", "a", "b", "ab", "aab", "-", "--", "?", "#", "xyz", "é")
			}
			got, _ := index.Match(feed)
			want, prefixes := longest(patterns, feed)
			if shape(got.Endpoint) != shape(want.url) {
				t.Fatalf("feed %s\nindex %s\nplain %s\nof %q", feed, got.Endpoint, want.url, urls)
			}
			for _, s := range got.Shadowed {
				if patternOf(s.Endpoint).prefix(feed) < 0 {
					t.Fatalf("feed %s: %s is shadowed, but not a prefix", feed, s.Endpoint)
				}
			}
			if prefixes > 0 && prefixes != 1+len(got.Shadowed) {
				t.Fatalf("feed %s has %d prefixes, and the match %+v", feed, prefixes, got)
			}
		}
	})
}

// The source is reported, and ties go to the first one.
func TestMatchOfSeveralSources(t *testing.T) {
	const feeds, sport = "https://a.example/feeds", "https://a.example/feeds/sport"
	index := match.NewIndex(
		signpost.Version{Name: "v1", Source: "feeds.yaml", Manifest: endpoints(feeds)},
		signpost.Version{Name: "v1", Source: "sport.yaml", Manifest: endpoints(sport)},
		signpost.Version{Name: "v2", Source: "copy.yaml", Manifest: endpoints(feeds, sport)},
	)
	m, _ := index.Match(sport + "/7")
	want := `{"endpoint":"` + sport + `","version":"v1","name":"` + sport + `","source":"sport.yaml",` +
		`"context_obj":[{"key":"` + sport + `","type":"ctx","required":false}],"inside_segment":false,"shadowed":[` +
		`{"endpoint":"` + sport + `","source":"copy.yaml","lost_keys":[]},` +
		`{"endpoint":"` + feeds + `","source":"feeds.yaml","lost_keys":["` + feeds + `"]},` +
		`{"endpoint":"` + feeds + `","source":"copy.yaml","lost_keys":["` + feeds + `"]}]}`
	testkit.Equal(t, "match", string(testkit.Must(json.Marshal(m))(t)), want)
}

// Callers own what Match returns.
func TestMatchCopies(t *testing.T) {
	index := match.NewIndex(signpost.Version{Manifest: endpoints("https://a.example/kids")})
	first, _ := index.Match("https://a.example/kids/1")
	first.Descriptor.ContextObj[0].Key, first.ContextObj[0].Key = "changed", "changed"
	second, ok := index.Match("https://a.example/kids/1")
	if !ok || second.ContextObj[0].Key == "changed" || second.Descriptor.ContextObj[0].Key == "changed" {
		t.Errorf("a change of one match shows in the next: %+v", second)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprintf("https://a.example/v1/group%d/feeds/{{id}}/part%d", i%97, i))
		}
		m := endpoints(urls...)
		index := match.NewIndex(signpost.Version{Manifest: m})
		feed := fmt.Sprintf("https://a.example/v1/group%d/feeds/4711/part%d?limit=20", (n-1)%97, n-1)
		b.Run(fmt.Sprint(n, "-endpoints"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m, ok := index.Match(feed); !ok || m.InsideSegment {
					b.Fatal(m)
				}
			}
		})
	}
}

// A new endpoint takes feeds over from every endpoint that answered for them and matters.
func TestTakeovers(t *testing.T) {
	urls := []string{"https://a.example/feeds", "https://a.example/{{kind}}/top", "https://a.example/films", "https://{{host}}/feeds"}
	before := match.NewIndex(signpost.Version{Manifest: endpoints(urls...)})
	after := match.NewIndex(signpost.Version{Manifest: endpoints(append(urls, "https://a.example/feeds/{{id}}")...)})
	taken := func(matters func(from int) bool) string {
		var all []string
		kept := func(from int) (int, bool) { return from, matters(from) }
		for from, feed := range before.Takeovers(after, len(urls), kept, nil) {
			all = append(all, fmt.Sprint(from, " ", feed))
		}
		return strings.Join(all, ", ")
	}
	const top, general = "1 {/feeds/top false}", "0 {/feeds/… true}"
	testkit.Equal(t, "taken over", taken(func(int) bool { return true }), top+", "+general)
	testkit.Equal(t, "taken over from those that matter", taken(func(from int) bool { return from == 0 }), general)
	kept := func(from int) (int, bool) { return from, true }
	for from := range before.Takeovers(after, len(urls), kept, nil) {
		if from != 1 {
			t.Error("the search goes on")
		}
		break
	}
}
