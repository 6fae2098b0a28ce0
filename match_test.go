package signpost_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// endpoints returns a manifest of endpoints with these URLs, each with a context key of its own name.
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

// Spec 1.7: of several endpoints that overlap, only the longest supplies context keys.
func TestSpec1_7LongestEndpointSuppliesContext(t *testing.T) {
	const feeds, media = "https://a.example/v1/feeds", "https://a.example/v1/feeds/media"
	m, ok := signpost.NewIndex(signpost.Version{Name: "v1", Manifest: endpoints(feeds, media)}).Match(media + "/7?x=1")
	want := signpost.Match{
		Endpoint: media, Version: "v1", Name: media,
		ContextObj: []signpost.ContextItem{{Key: media, Type: signpost.ContextCtx}},
		Shadowed:   []signpost.Shadowed{{Endpoint: feeds, LostKeys: []string{feeds}}},
	}
	if diff := cmp.Diff(want, m); !ok || diff != "" {
		t.Errorf("match (-want +got):\n%s", diff)
	}
}

func TestMatch(t *testing.T) {
	index := signpost.NewIndex(
		signpost.Version{Name: "v1", Manifest: endpoints(
			"https://a.example/v1",
			"https://a.example/v1/series/{{id}}",
			"https://a.example/v1/series/{{id}}/episodes",
			"https://a.example/v1/series/new",
			"https://a.example/v1/{{any}}-{{thing}}",
			"https://a.example:8443/v1",
			"https://a.example/search?q=",
			"http://a.example/v1",
		)},
		signpost.Version{Name: "v2", Manifest: endpoints(
			"https://{{tenant}}.example/v2/",
			"https://bare.example",
		)},
	)
	for _, test := range []struct {
		feed, endpoint, version string
		inside                  bool
	}{
		{"https://a.example/v1", "https://a.example/v1", "v1", false},
		{"https://a.example/v1/", "https://a.example/v1", "v1", false},
		{"https://a.example/v1?x", "https://a.example/v1", "v1", false},
		{"https://a.example/v10", "https://a.example/v1", "v1", true},
		{"HTTPS://A.Example/v1/x", "https://a.example/v1", "v1", false},
		{"https://a.example/V1", "", "", false},
		{"https://a.example:443/v1", "", "", false},
		{"https://a.example:8443/v1/x", "https://a.example:8443/v1", "v1", false},
		{"http://a.example/v1/x", "http://a.example/v1", "v1", false},
		{"https://a.example.org/v1", "", "", false},
		{"https://a.example/v1/series/7", "https://a.example/v1/series/{{id}}", "v1", false},
		{"https://a.example/v1/series/", "https://a.example/v1", "v1", false},
		{"https://a.example/v1/series/7/episodes/3", "https://a.example/v1/series/{{id}}/episodes", "v1", false},
		{"https://a.example/v1/series/7/episodes-all", "https://a.example/v1/series/{{id}}/episodes", "v1", true},
		{"https://a.example/v1/series/new", "https://a.example/v1/series/new", "v1", false},      // a tie: more literal
		{"https://a.example/v1/series/newer", "https://a.example/v1/series/{{id}}", "v1", false}, // longer
		{"https://a.example/v1/x-y-z/1", "https://a.example/v1/{{any}}-{{thing}}", "v1", false},
		{"https://a.example/v1/x-", "https://a.example/v1", "v1", false},
		{"https://a.example/search?q=x", "https://a.example/search?q=", "v1", true},
		{"https://b.example/v2/x", "https://{{tenant}}.example/v2/", "v2", false},
		{"https://b.c.example/v2/x", "https://{{tenant}}.example/v2/", "v2", false},
		{"https://b.example/v2", "", "", false},
		{"https://bare.example/anything", "https://bare.example", "v2", false},
		{"https://bare.example.org/anything", "", "", false},
		{"nonsense", "", "", false},
		{"", "", "", false},
	} {
		m, ok := index.Match(test.feed)
		if ok != (test.endpoint != "") || m.Endpoint != test.endpoint || m.Version != test.version || m.InsideSegment != test.inside {
			t.Errorf("%s: got %q of %q, inside %v", test.feed, m.Endpoint, m.Version, m.InsideSegment)
		}
	}
}

// naive is the rule as the design words it, with a regular expression for each endpoint.
func naive(m signpost.Manifest, feed string) (best string) {
	longest, literals := -1, -1
	for _, e := range m.Endpoints {
		parts := regexp.MustCompile(`\{\{.*?\}\}`).Split(e.URL, -1)
		n := 0
		for i, p := range parts {
			n += len(p)
			parts[i] = regexp.QuoteMeta(p)
		}
		pattern := regexp.MustCompile(`\A` + strings.Join(parts, `[^/?#]+`))
		pattern.Longest()
		found := pattern.FindString(feed)
		// Of the same host: the endpoint's URL reaches the end of the feed's authority.
		host := regexp.MustCompile(`\Ahttps://[^/?#]*`).FindString(feed)
		if found == "" || len(found) < len(host) || regexp.MustCompile(`\Ahttps://[^/?#]*`).FindString(found) != host {
			continue
		}
		if len(found) > longest || len(found) == longest && n > literals {
			best, longest, literals = e.URL, len(found), n
		}
	}
	return best
}

func TestMatchAgainstNaiveScan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for range 300 {
		seen := make(map[string]bool)
		var urls []string
		for range 1 + random.IntN(20) {
			url := "https://" + pick("a", "b") + ".example"
			for range random.IntN(5) {
				url += pick("/", "/", "a", "b", "ab", "{{x}}", "{{y}}", "-", "?", "{{x}}-{{y}}")
			}
			// Two URLs that differ only in the names of placeholders are the same to a feed.
			if shape := regexp.MustCompile(`\{\{.\}\}`).ReplaceAllString(url, "{{}}"); !seen[shape] {
				seen[shape] = true
				urls = append(urls, url)
			}
		}
		m := endpoints(urls...)
		index := signpost.NewIndex(signpost.Version{Manifest: m})
		for range 30 {
			feed := "https://" + pick("a", "b", "c") + ".example"
			for range random.IntN(8) {
				feed += pick("/", "/", "a", "b", "ab", "aab", "-", "?", "#", "xyz")
			}
			got, _ := index.Match(feed)
			want := naive(m, feed)
			if got.Endpoint != want && regexp.MustCompile(`\{\{.\}\}`).ReplaceAllString(got.Endpoint, "{{}}") != regexp.MustCompile(`\{\{.\}\}`).ReplaceAllString(want, "{{}}") {
				t.Fatalf("feed %s\nindex %s\nnaive %s\nof %q", feed, got.Endpoint, want, urls)
			}
		}
	}
}

// Patterns like {{a}}-{{b}}-{{c}}… must not make the index try every way to cut a feed.
func TestMatchOfManyPlaceholdersEnds(t *testing.T) {
	url := "https://a.example/" + strings.Repeat("{{a}}-", 30) + "end"
	feed := "https://a.example/" + strings.Repeat("-", 400)
	if m, ok := signpost.NewIndex(signpost.Version{Manifest: endpoints(url)}).Match(feed); ok {
		t.Errorf("matched %v", m)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprintf("https://a.example/v1/group%d/feeds/{{id}}/part%d", i%97, i))
		}
		m := endpoints(urls...)
		index := signpost.NewIndex(signpost.Version{Manifest: m})
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
