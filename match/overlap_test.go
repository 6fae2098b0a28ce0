package match_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
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

// together returns a version of a service. Each endpoint is given as its path, or = and its URL, followed by its context
// keys, separated by spaces.
func together(source string, endpoints ...string) signpost.Version {
	v := signpost.Version{Name: "v1", Source: source}
	for _, text := range endpoints {
		path, keys, _ := strings.Cut(text, " ")
		e := feed("https://{{host}}" + path)
		if absolute, ok := strings.CutPrefix(path, "="); ok {
			e = feed(absolute)
		}
		for _, key := range strings.Fields(keys) {
			e.ContextObj = append(e.ContextObj, signpost.ContextItem{Key: key, Type: signpost.ContextCtx})
		}
		v.Manifest.Endpoints = append(v.Manifest.Endpoints, e)
	}
	return v
}

// overlaps returns the findings for services registered together, formatted as source, rule and message.
func overlaps(judged, registered []signpost.Version) []string {
	for _, some := range [][]signpost.Version{judged, registered} {
		for i, v := range some {
			some[i].Places = make(map[string]string)
			for j, e := range v.Manifest.Endpoints {
				some[i].Places[e.URL] = fmt.Sprintf("%s:%d", v.Source, j+1)
			}
		}
	}
	var texts []string
	for i, findings := range match.Overlaps(judged, registered) {
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
			[]string{`a overlap-drops-context: feeds of "/feeds" lose context key "k": "/feeds" shadows "/feeds" (a:1)`}},
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
			[]string{`a overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds"`}},
		{"two files, nested", services{together("a", "/feeds k l"), together("b", "/feeds/sport l")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds" (a:1)`}},
		{"the other way round", services{together("b", "/feeds/sport"), together("a", "/films", "/feeds k")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds" (a:2)`}},
		{"a third one in between", services{together("a", "/feeds k"), together("b", "/feeds/sport k"), together("c", "/feeds/sport/live")}, nil,
			[]string{`c overlap-drops-context: feeds of "/feeds/sport/live" lose context key "k": "/feeds/sport/live" shadows "/feeds/sport" (b:1)`}},
		{"lost on the way", services{together("a", "/feeds k"), together("b", "/feeds/sport"), together("c", "/feeds/sport/live")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds" (a:1)`,
				`c overlap-drops-context: feeds of "/feeds/sport/live" lose context key "k": "/feeds/sport/live" shadows "/feeds" (a:1)`}},
		{"two that lose different keys", services{together("a", "/feeds k"), together("b", "/feeds/sport l"), together("c", "/feeds/sport/live k")}, nil,
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds" (a:1)`,
				`c overlap-drops-context: feeds of "/feeds/sport/live" lose context key "l": "/feeds/sport/live" shadows "/feeds/sport" (b:1)`}},
		{"nothing to lose", services{together("a", "/feeds"), together("b", "/feeds/sport k")}, nil, nil},
		{"nothing lost", services{together("a", "/feeds k"), together("b", "/feeds/sport k")}, nil, nil},
		{"apart", services{together("a", "/feeds k"), together("b", "/films")}, nil, nil},
		{"versions of one file", services{together("a", "/feeds k"), together("a", "/feeds/v2/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/v2/sport" lose context key "k": "/feeds/v2/sport" shadows "/feeds" (a:1)`}},
		{"the same URL in two versions of one file", services{together("a", "/feeds"), together("a", "/feeds k")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds" lose context key "k": "/feeds" shadows "/feeds" (a:1)`}},

		{"registered besides, around", services{together("b", "/feeds/sport")}, services{together("a", "/feeds k")},
			[]string{`b overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds" (a:1)`}},
		{"registered besides, inside", services{together("a", "/feeds k")}, services{together("b", "/feeds/sport")},
			[]string{`a overlap-drops-context: feeds of "/feeds" lose context key "k": "/feeds/sport" (b:1) shadows it`}},
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
				`c overlap-drops-context: feeds of "/feeds/media" lose context key "k": "/feeds/media" shadows "/feeds" (a:1)`}},

		{"a placeholder around", services{together("a", "/{{x}} k"), together("b", "/sport/live")}, nil,
			[]string{`b overlap-drops-context: feeds of "/sport/live" lose context key "k": "/sport/live" shadows "/{{x}}" (a:1)`}},
		{"a placeholder beside text", services{together("a", "/series/new k"), together("b", "/series/{{id}}/episodes")}, nil,
			[]string{`b overlap-drops-context: feeds of "/series/{{id}}/episodes", such as "/series/new/episodes", lose context key "k": "/series/{{id}}/episodes" shadows "/series/new" (a:1)`}},
		{"placeholders that cross", services{together("a", "/{{kind}}/media k"), together("b", "/sports/{{page}}")}, nil,
			[]string{`b overlap-drops-context: feeds of "/sports/{{page}}", such as "/sports/media", lose context key "k": "/sports/{{page}}" shadows "/{{kind}}/media" (a:1)`}},
		{"where both cross", services{together("a", "/{{kind}}/media k"), together("b", "/sports/{{page}}"), together("c", "/sports/media")}, nil,
			[]string{`c overlap-drops-context: feeds of "/sports/media" lose context key "k": "/sports/media" shadows "/{{kind}}/media" (a:1)`,
				`b overlap-inside-segment`}},
		{"a value that begins like a URL", services{together("a", "/{{x}}-{{y}}")}, services{together("b", "/a-b"), together("c", "/a-b k")},
			[]string{`a overlap-inside-segment: "/{{x}}-{{y}}" begins like "/a-b" (c:1), such as "/a-b…"`}},
		{"lost on the way, from another URL", services{together("a", "/ab k", "/{{x}}-{{y}}/ab")}, services{together("b", "/a-{{x}} k", "/{{y}}/{{y}}")},
			[]string{`a overlap-inside-segment: "/ab" is also the beginning of feeds of "/{{x}}-{{y}}/ab", such as "/ab-…/ab"`,
				`a overlap-drops-context: feeds of "/ab", such as "/ab/…", lose context key "k": "/{{y}}/{{y}}" (b:2) shadows it`,
				`a overlap-drops-context: feeds of "/{{x}}-{{y}}/ab", such as "/a-…/ab", lose context key "k": "/{{x}}-{{y}}/ab" shadows "/a-{{x}}" (b:1)`}},
		{"placeholders on both sides", services{together("a", "/a-b k m", "/{{x}}-{{y}}/a-{{x}} k", "/a-b/{{x}} k")}, nil,
			[]string{`a overlap-drops-context: feeds of "/{{x}}-{{y}}/a-{{x}}", such as "/a-b/a-…", lose context key "m": "/{{x}}-{{y}}/a-{{x}}" shadows "/a-b"`,
				`a overlap-drops-context: feeds of "/a-b/{{x}}", such as "/a-b/…", lose context key "m": "/a-b/{{x}}" shadows "/a-b"`}},
		{"inside a segment, beside a placeholder", services{together("a", "/{{x}}/med k", "/films/media")}, nil,
			[]string{`a overlap-inside-segment: "/{{x}}/med" is also the beginning of "/films/media"`}},
		{"a loss that an allowance does not cover", services{together("a", "/shows k", "/shows/free", "/shows/free/{{id}}/purchases")}, nil,
			[]string{`a overlap-drops-context: feeds of "/shows/free" lose context key "k": "/shows/free" shadows "/shows"`,
				`a overlap-drops-context: feeds of "/shows/free/{{id}}/purchases", such as "/shows/free/…/purchases", lose context key "k": "/shows/free/{{id}}/purchases" shadows "/shows"`}},
		{"a directory", services{together("a", "/feeds/ k", "/feeds/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/sport" lose context key "k": "/feeds/sport" shadows "/feeds/"`}},
		{"a whole host", services{together("a", " k", "/feeds")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds" lose context key "k": "/feeds" shadows ""`}},
		{"several keys", services{together("a", "/feeds k l", "/feeds/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/sport" lose context keys "k", "l": "/feeds/sport" shadows "/feeds"`}},

		{"an absolute URL below one with {{host}}", services{together("a", "/feeds k"), together("b", "=https://feeds.example.com/feeds/sport")}, nil,
			[]string{`b overlap-drops-context: feeds of "https://feeds.example.com/feeds/sport" lose context key "k" on feeds.example.com: "https://feeds.example.com/feeds/sport" shadows "/feeds" (a:1)`}},
		{"above one", services{together("a", "/feeds/{{id}}"), together("b", "=https://feeds.example.com/feeds k")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds/{{id}}", such as "https://feeds.example.com/feeds/…", lose context key "k" on feeds.example.com: "/feeds/{{id}}" shadows "https://feeds.example.com/feeds" (b:1)`}},
		{"in one manifest", services{together("a", "/feeds k", "=https://feeds.example.com/feeds/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "https://feeds.example.com/feeds/sport" lose context key "k" on feeds.example.com: "https://feeds.example.com/feeds/sport" shadows "/feeds"`}},
		{"on a part of the host", services{together("a", "=https://cdn.{{host}}/feeds k", "=https://cdn.example.com/feeds/sport")}, nil,
			[]string{`a overlap-drops-context: feeds of "https://cdn.example.com/feeds/sport" lose context key "k" on example.com: "https://cdn.example.com/feeds/sport" shadows "https://cdn.{{host}}/feeds"`}},
		{"on another port or scheme", services{together("a", "/feeds k", "=https://feeds.example.com:8443/feeds/sport", "=http://feeds.example.com/feeds/sport")}, nil, nil},
		{"an address is no part of a host", services{together("a", "=https://cdn.{{host}}/feeds k", "=https://cdn.10.0.0.1/feeds/sport")}, nil, nil},
		{"the same URL on a host", services{together("a", "/feeds k"), together("b", "=https://b.example/feeds k", "=https://a.example/feeds l")}, nil,
			[]string{`a overlap-drops-context: feeds of "/feeds" lose context key "l" on a.example: "/feeds" shadows "https://a.example/feeds" (b:2)`}},
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
		return match.Overlaps(versions, nil)[1][0].Message
	}
	if got := message(a, b); !strings.HasSuffix(got, `shadows "https://{{host}}/feeds" (a.yaml)`) {
		t.Error(got)
	}
	b.Source, a.Name = a.Source, "v7"
	if got := message(a, b); !strings.HasSuffix(got, `shadows "https://{{host}}/feeds" (v7)`) {
		t.Error(got)
	}
	a.Name = ""
	if got := message(a, b); !strings.HasSuffix(got, `shadows "https://{{host}}/feeds"`) {
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
		if got := match.Overlaps([]signpost.Version{v}, nil)[0]; len(got) != want {
			t.Errorf("another %s: %v", name, got)
		}
	}
}

// FuzzOverlaps checks the findings against Match on the hosts that the URLs name, and on none. Every key that a feed
// loses is named at the endpoint that takes it, and every finding is true of its example.
func FuzzOverlaps(f *testing.F) {
	for seed := range uint64(120) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 7))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		origins := []string{"", "", "", "", "=https://a.example", "=https://cdn.{{host}}", "=https://cdn.a.example", "=https://b.example:81"}
		if seed%2 == 0 {
			origins = origins[:1]
		}
		var versions []signpost.Version
		for i := range 1 + random.IntN(4) {
			var endpoints []string
			seen := make(map[string]bool)
			for range 1 + random.IntN(4) {
				path := pick(origins...)
				for range 1 + random.IntN(3) {
					path += "/" + pick("a", "b", "ab", "a-b", "{{x}}", "{{y}}", "a-{{x}}", "{{x}}-b", "{{x}}-{{y}}", "{{x}}a{{y}}")
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
		findings := match.Overlaps(versions[:n], versions[n:])
		for _, host := range []string{"{{host}}", "a.example", "cdn.a.example", "b.example"} {
			o := newOracle(versions, n, host, findings)
			for range 40 {
				feed := pick("https://"+host, "https://cdn."+host)
				for range 1 + random.IntN(4) {
					feed += "/" + pick("a", "b", "ab", "a-b", "a-b-b", "c", "a-c", "c-b", "c-c", "abc", "cac")
				}
				if problem := o.problem(feed); problem != "" {
					t.Fatalf("seed %d, host %s: %s\n%v\n%v", seed, host, problem, versions, findings)
				}
			}
		}
		for _, some := range findings {
			for _, f := range some {
				if problem := untrue(versions, f); problem != "" {
					t.Fatalf("seed %d: %v: %s\n%v", seed, f, problem, versions)
				}
			}
		}
	})
}

// oracle knows what is registered on one host.
type oracle struct {
	versions []signpost.Version // resolved; their names are their numbers
	judged   int
	written  map[string]string // version and resolved URL to the URL as written
	findings [][]signpost.Finding
}

func newOracle(versions []signpost.Version, judged int, host string, findings [][]signpost.Finding) *oracle {
	o := &oracle{judged: judged, written: make(map[string]string), findings: findings}
	for i, v := range versions {
		v.Name = strconv.Itoa(i)
		resolved := signpost.Manifest{}
		for _, e := range v.Manifest.Endpoints {
			written := e.URL
			e.URL = strings.ReplaceAll(e.URL, "{{host}}", host)
			same := func(other signpost.Endpoint) bool { return shape(other.URL) == shape(e.URL) }
			if host != "{{host}}" && slices.ContainsFunc(resolved.Endpoints, same) {
				continue // resolved-url-collision
			}
			o.written[v.Name+e.URL] = written
			resolved.Endpoints = append(resolved.Endpoints, e)
		}
		v.Manifest = resolved
		o.versions = append(o.versions, v)
	}
	return o
}

// problem returns what a feed loses without a finding that names it.
func (o *oracle) problem(feed string) string {
	m, ok := match.NewIndex(o.versions...).Match(feed)
	if !ok {
		return ""
	}
	taker, _ := strconv.Atoi(m.Version)
	for _, s := range m.Shadowed {
		if shape(s.Endpoint) == shape(m.Endpoint) && s.Source != m.Source { // registered twice
			continue
		}
		for i, v := range o.versions {
			at := slices.IndexFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool { return e.URL == s.Endpoint })
			if at < 0 || v.Source != s.Source || taker >= o.judged && i >= o.judged {
				continue
			}
			version, url := taker, o.written[m.Version+m.Endpoint]
			if taker >= o.judged {
				version, url = i, o.written[v.Name+s.Endpoint]
			}
			inside := func(f signpost.Finding) bool { // one finding about the URL is enough
				return f.Rule == match.RuleOverlapInsideSegment && slices.ContainsFunc(quoted.FindAllString(f.Message, 2), func(url string) bool {
					return shape(url) == shape(strconv.Quote(o.written[v.Name+s.Endpoint]))
				})
			}
			if s.InsideSegment && slices.ContainsFunc(slices.Concat(o.findings...), inside) {
				continue
			}
			for _, item := range v.Manifest.Endpoints[at].ContextObj {
				named := func(f signpost.Finding) bool {
					return f.Rule == match.RuleOverlapDropsContext && f.Path.Endpoint() == url && strings.Contains(f.Message, strconv.Quote(item.Key))
				}
				if slices.Contains(s.LostKeys, item.Key) && !slices.ContainsFunc(o.findings[version], named) && (taker < o.judged || !slices.ContainsFunc(slices.Concat(o.findings...), named)) {
					return fmt.Sprintf("%s loses %q of %s to %s without a finding at %s", feed, item.Key, s.Endpoint, m.Endpoint, url)
				}
			}
		}
	}
	return ""
}

var quoted = regexp.MustCompile(`"[^"]*"`)

var losing = regexp.MustCompile(`^feeds of "([^"]*)"(?:, such as "([^"]*)",)? lose context keys? (.*?)(?: on (\S+))?: "([^"]*)"(?: \([^)]*\))? shadows (?:"([^"]*)"|it)`)

// untrue returns why a finding about a lost key is wrong, or "".
func untrue(versions []signpost.Version, f signpost.Finding) string {
	if f.Rule != match.RuleOverlapDropsContext {
		return ""
	}
	found := losing.FindStringSubmatch(f.Message)
	if found == nil {
		return "unknown wording"
	}
	of, feed, keys, host, taker, from := found[1], found[2], found[3], found[4], found[5], found[6]
	if from == "" {
		from = of
	}
	if feed == "" {
		feed = taker
	}
	if host == "" {
		host = "{{host}}"
	}
	resolve := func(url string) string { return strings.ReplaceAll(url, "{{host}}", host) }
	o := newOracle(versions, 0, host, nil)
	for _, url := range []string{taker, from} {
		if !slices.Contains(slices.Collect(maps.Values(o.written)), url) {
			return "" // see resolved-url-collision
		}
	}
	m, _ := match.NewIndex(o.versions...).Match(resolve(feed))
	if m.Endpoint != resolve(taker) {
		return fmt.Sprintf("%s answers for %s", m.Endpoint, feed)
	}
	for _, s := range m.Shadowed {
		if s.Endpoint == resolve(from) && slices.ContainsFunc(s.LostKeys, func(key string) bool { return strings.Contains(keys, strconv.Quote(key)) }) {
			return ""
		}
	}
	return fmt.Sprintf("%s loses nothing of %s: %+v", feed, from, m.Shadowed)
}
