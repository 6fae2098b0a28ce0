package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/match"
)

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// together returns a version of a service. Each endpoint is given as its path followed by its context keys, separated
// by spaces.
func together(source string, endpoints ...string) signpost.Version {
	v := signpost.Version{Name: "v1", Source: source}
	for _, text := range endpoints {
		words := strings.Fields(text)
		e := feed("https://{{host}}" + words[0])
		for _, key := range words[1:] {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: key, Type: signpost.ContextCtx})
		}
		v.Manifest.Endpoints = append(v.Manifest.Endpoints, e)
	}
	return v
}

// overlaps returns the findings for services registered together, formatted as source, rule and message.
func overlaps(judged, registered []signpost.Version) []string {
	all := slices.Concat(judged, registered)
	place := func(version, endpoint int) string { return fmt.Sprintf("%s:%d", all[version].Source, endpoint+1) }
	var texts []string
	for i, findings := range match.Overlaps(judged, registered, place) {
		for _, f := range findings {
			texts = append(texts, strings.ReplaceAll(fmt.Sprintf("%s %s: %s", judged[i].Source, f.Rule, f.Message), "https://{{host}}", ""))
		}
	}
	return texts
}

// Two versions of a service are registered in the same studio, which uses one descriptor for a URL.
func TestVersionsWithOneURL(t *testing.T) {
	post := func(v signpost.Version) signpost.Version {
		v.Manifest.Endpoints[0].Method = signpost.MethodPost
		return v
	}
	required := func(v signpost.Version) signpost.Version {
		v.Manifest.Endpoints[0].ContextObj[0].Required = true
		return v
	}
	const twice = `a registered-twice: "/feeds" is declared with other settings by another version (a:1)`
	for _, test := range []struct {
		name   string
		v1, v2 signpost.Version
		want   []string
	}{
		{"alike", together("a", "/feeds k"), together("a", "/feeds k"), nil},
		{"another method", together("a", "/feeds"), post(together("a", "/feeds")), []string{twice}},
		{"another item", together("a", "/feeds k"), required(together("a", "/feeds k")), []string{twice}},
		{"fewer keys", together("a", "/feeds k"), together("a", "/feeds"), []string{twice}},
		{"more keys", together("a", "/feeds"), together("a", "/feeds k"),
			[]string{`a overlap-drops-context: feeds of "/feeds" do not get "k", as those of "/feeds" (a:1) do`}},
		{"another service", together("a", "/feeds"), post(together("b", "/feeds")),
			[]string{`b registered-twice: "/feeds" is also declared by another service (a:1)`}},
	} {
		test.v2.Name = "v2"
		if diff := cmp.Diff(test.want, overlaps([]signpost.Version{test.v1, test.v2}, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestOverlaps(t *testing.T) {
	type services = []signpost.Version
	for _, test := range []struct {
		name       string
		judged     services
		registered services
		want       []string
	}{
		{"one file, nested", services{together("a", "/feeds k", "/feeds/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" do`}},
		{"two files, nested", services{together("a", "/feeds k l"), together("b", "/feeds/sport l")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" (a:1) do`}},
		{"the other way round", services{together("b", "/feeds/sport"), together("a", "/films", "/feeds k")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" (a:2) do`}},
		{"a third one in between", services{together("a", "/feeds k"), together("b", "/feeds/sport k"), together("c", "/feeds/sport/live")}, nil,
			[]string{`c overlap-drops-context: feeds of "/feeds/sport/live" do not get "k", as those of "/feeds/sport" (b:1) do`}},
		{"lost on the way", services{together("a", "/feeds k"), together("b", "/feeds/sport"), together("c", "/feeds/sport/live")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" (a:1) do`}},
		{"two that lose different keys", services{together("a", "/feeds k"), together("b", "/feeds/sport l"), together("c", "/feeds/sport/live k")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" (a:1) do`,
				`c overlap-drops-context: feeds of "/feeds/sport/live" do not get "l", as those of "/feeds/sport" (b:1) do`}},
		{"nothing to lose", services{together("a", "/feeds"), together("b", "/feeds/sport k")}, nil, nil},
		{"nothing lost", services{together("a", "/feeds k"), together("b", "/feeds/sport k")}, nil, nil},
		{"apart", services{together("a", "/feeds k"), together("b", "/films")}, nil, nil},
		{"versions of one file", services{together("a", "/feeds k"), together("a", "/feeds/v2/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/v2/sport" do not get "k", as those of "/feeds" (a:1) do`}},
		{"the same URL in two versions of one file", services{together("a", "/feeds"), together("a", "/feeds k")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds" do not get "k", as those of "/feeds" (a:1) do`}},

		{"registered besides, around", services{together("b", "/feeds/sport")}, services{together("a", "/feeds k")},
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" do not get "k", as those of "/feeds" (a:1) do`}},
		{"registered besides, inside", services{together("a", "/feeds k")}, services{together("b", "/feeds/sport")},
			[]string{`a overlap-drops-context: feeds of "/feeds" do not get "k" where "/feeds/sport" (b:1) answers for them`}},
		{"only besides", services{together("c", "/films")}, services{together("a", "/feeds k"), together("b", "/feeds/sport", "/feed", "/feeds k")}, nil},

		{"registered twice", services{together("a", "/feeds k"), together("b", "/feeds")}, nil,
			[]string{`b registered-twice: "/feeds" is also declared by another service (a:1)`}},
		{"registered three times", services{together("a", "/feeds"), together("b", "/feeds"), together("c", "/feeds")}, nil,
			[]string{`b registered-twice: "/feeds" is also declared by another service (a:1)`, `c registered-twice: "/feeds" is also declared by another service (a:1)`}},
		{"registered twice, under another name", services{together("a", "/feeds/{{id}}"), together("b", "/feeds/{{series_id}}")}, nil,
			[]string{`b registered-twice: "/feeds/{{series_id}}" is also declared by another service, as "/feeds/{{id}}" (a:1)`}},
		{"registered besides, too", services{together("a", "/feeds"), together("a", "/feeds")}, services{together("b", "/feeds"), together("c", "/feeds")},
			[]string{`a registered-twice: "/feeds" is also declared by another service (b:1)`, `a registered-twice: "/feeds" is also declared by another service (b:1)`}},
		{"in versions of one service", services{together("a", "/feeds"), together("a", "/feeds")}, nil, nil},

		{"inside a segment", services{together("a", "/media k"), together("b", "/media-archive k l")}, nil,
			[]string{`a overlap-inside-segment: "/media" is also the beginning of "/media-archive" (b:1)`}},
		{"inside a segment, alike", services{together("a", "/media k", "/media-archive k"), together("b", "/media-old k")}, nil, nil},
		{"inside a segment, registered besides", services{together("b", "/media-archive")}, services{together("a", "/media k")},
			[]string{`b overlap-inside-segment: "/media-archive" begins like "/media" (a:1)`}},
		{"inside and around", services{together("a", "/feeds k"), together("b", "/feeds/med k"), together("c", "/feeds/media")}, nil,
			[]string{`b overlap-inside-segment: "/feeds/med" is also the beginning of "/feeds/media" (c:1)`,
				`c overlap-drops-context: feeds of "/feeds/media" do not get "k", as those of "/feeds" (a:1) do`}},

		{"a placeholder around", services{together("a", "/{{x}} k"), together("b", "/sport/live")}, nil,
			[]string{`b overlap-drops-context: feeds of "/sport/live" do not get "k", as those of "/{{x}}" (a:1) do`}},
		{"a placeholder beside text", services{together("a", "/series/new k"), together("b", "/series/{{id}}/episodes")}, nil,
			[]string{`b overlap-drops-context: feeds of "/series/{{id}}/episodes", such as "/series/new/episodes", do not get "k", as those of "/series/new" (a:1) do`}},
		{"placeholders that cross", services{together("a", "/{{kind}}/media k"), together("b", "/sports/{{page}}")}, nil,
			[]string{`b overlap-drops-context: feeds of "/sports/{{page}}", such as "/sports/media", do not get "k", as those of "/{{kind}}/media" (a:1) do`}},
		{"where both cross", services{together("a", "/{{kind}}/media k"), together("b", "/sports/{{page}}"), together("c", "/sports/media")}, nil,
			[]string{`c overlap-drops-context: feeds of "/sports/media" do not get "k", as those of "/{{kind}}/media" (a:1) do`,
				`b overlap-inside-segment`}},
		{"text before a placeholder, declared twice", services{together("a", "/{{x}}-{{y}}")}, services{together("b", "/a-b"), together("c", "/a-b k")},
			[]string{`a overlap-inside-segment: "/{{x}}-{{y}}" begins like "/a-b" (c:1)`}},
		{"lost on the way, from another URL", services{together("a", "/ab k", "/{{x}}-{{y}}/ab")}, services{together("b", "/a-{{x}} k", "/{{y}}/{{y}}")},
			[]string{`a overlap-drops-context: feeds of "/ab", such as "/ab/…", do not get "k" where "/{{y}}/{{y}}" (b:2) answers for them`,
				`a overlap-inside-segment: "/ab" is also the beginning of "/{{x}}-{{y}}/ab"`,
				`a overlap-drops-context: feeds of "/{{x}}-{{y}}/ab", such as "/a-…-…/ab", do not get "k", as those of "/a-{{x}}" (b:1) do`}},
		{"inside a segment, where others lose the key on the way", services{together("a", "/a-b k m", "/{{x}}-{{y}}/a-{{x}} k", "/a-b/{{x}} k")}, nil,
			[]string{`a overlap-inside-segment: "/a-b" is also the beginning of "/{{x}}-{{y}}/a-{{x}}"`,
				`a overlap-drops-context: feeds of "/a-b/{{x}}" do not get "m", as those of "/a-b" do`}},
		{"URLs that are invalid", services{together("a", "/feeds k", "/feeds/{a}", "/feeds/#x"), together("b", "/{{")}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := overlaps(test.judged, test.registered)
			if test.name == "where both cross" { // b answers for /sports/media2 and lacks the key of a
				if !slices.ContainsFunc(got, func(s string) bool { return s == test.want[0] }) {
					t.Errorf("got %q", got)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a place function, findings name the source or, within one service, the version.
func TestOverlapsNameTheSource(t *testing.T) {
	a, b := together("a.yaml", "/feeds k"), together("b.yaml", "/feeds/sport")
	message := func(versions ...signpost.Version) string {
		return match.Overlaps(versions, nil, nil)[1][0].Message
	}
	if got := message(a, b); !strings.HasSuffix(got, `as those of "https://{{host}}/feeds" (a.yaml) do`) {
		t.Error(got)
	}
	b.Source, a.Name = a.Source, "v7"
	if got := message(a, b); !strings.HasSuffix(got, `as those of "https://{{host}}/feeds" (v7) do`) {
		t.Error(got)
	}
	a.Name = ""
	if got := message(a, b); !strings.HasSuffix(got, `as those of "https://{{host}}/feeds" do`) {
		t.Error(got)
	}
}

// Endpoints differ by method, type, or any part of a context item.
func TestOverlapInsideSegmentOnlyWhereItMatters(t *testing.T) {
	for name, edit := range map[string]func(*signpost.Endpoint){
		"method":   func(e *signpost.Endpoint) { e.Method = signpost.MethodPost },
		"type":     func(e *signpost.Endpoint) { e.MIMEType = signpost.MIMEFeed },
		"key":      func(e *signpost.Endpoint) { e.ContextObj[0].Key = "l" },
		"required": func(e *signpost.Endpoint) { e.ContextObj[0].Required = true },
		"fewer":    func(e *signpost.Endpoint) { e.ContextObj = nil },
		"more": func(e *signpost.Endpoint) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: "l", Type: signpost.ContextCtx})
		},
		"nothing": func(e *signpost.Endpoint) {},
		"name":    func(e *signpost.Endpoint) { e.Name = "Another" },
	} {
		v := together("a", "/media k", "/media2 k")
		edit(&v.Manifest.Endpoints[1])
		want := 1
		if name == "nothing" || name == "name" {
			want = 0
		}
		if got := match.Overlaps([]signpost.Version{v}, nil, nil)[0]; len(got) != want {
			t.Errorf("another %s: %v", name, got)
		}
	}
}

// FuzzOverlaps checks that no feed loses a key without a warning.
func FuzzOverlaps(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 7))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		var versions []signpost.Version
		for i := range 1 + random.IntN(4) {
			var endpoints []string
			seen := make(map[string]bool)
			for range 1 + random.IntN(4) {
				path := ""
				for range 1 + random.IntN(3) {
					path += "/" + pick("a", "b", "ab", "a-b", "{{x}}", "{{y}}", "a-{{x}}", "{{x}}-b", "{{x}}-{{y}}")
				}
				if !seen[path] {
					seen[path] = true
					for range random.IntN(3) {
						path += " " + pick("k", "l", "m")
					}
					endpoints = append(endpoints, path)
				}
			}
			versions = append(versions, together(strconv.Itoa(i/2), endpoints...))
		}
		n := random.IntN(len(versions) + 1)
		judged, registered := versions[:n], versions[n:]
		var findings []signpost.Finding
		for _, some := range match.Overlaps(judged, registered, nil) {
			findings = append(findings, some...)
		}

		index := match.NewIndex(versions...)
		isJudged := make(map[string]bool)
		for _, v := range judged {
			for _, e := range v.Manifest.Endpoints {
				isJudged[e.URL] = true
			}
		}
		for range 50 {
			feed := "https://{{host}}"
			for range 1 + random.IntN(4) {
				feed += "/" + pick("a", "b", "ab", "a-b", "a-b-b", "c", "a-c", "c-b", "c-c", "abc")
			}
			m, ok := index.Match(feed)
			if !ok {
				continue
			}
			for _, s := range m.Shadowed {
				for _, key := range s.LostKeys {
					if (isJudged[m.Endpoint] || isJudged[s.Endpoint]) && !warned(findings, feed, key, s.Endpoint) {
						t.Fatalf("seed %d: %s loses %q of %s to %s without a warning\n%v\n%v", seed, feed, key, s.Endpoint, m.Endpoint, versions, findings)
					}
				}
			}
		}
	})
}

// warned reports whether a finding says that a feed loses a key of an endpoint.
func warned(findings []signpost.Finding, feed, key, endpoint string) bool {
	isPrefix := func(url string) bool {
		_, ok := match.NewIndex(signpost.Version{Manifest: endpoints(url)}).Match(feed)
		return ok
	}
	return slices.ContainsFunc(findings, func(f signpost.Finding) bool {
		switch f.Rule {
		case match.RuleOverlapDropsContext:
			return strings.Contains(f.Message, strconv.Quote(key)) && isPrefix(f.Path.Endpoint())
		case match.RuleOverlapInsideSegment:
			return shape(f.Path.Endpoint()) == shape(endpoint) || strings.Contains(shape(f.Message), strconv.Quote(shape(endpoint)))
		}
		return shape(f.Path.Endpoint()) == shape(endpoint) // registered twice
	})
}
