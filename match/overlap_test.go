package match_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
	"signpost/match"
)

// together returns a version of a service, whose source may be followed by @ and its name.
func together(source, endpoints string) signpost.Version {
	source, name, _ := strings.Cut(source, "@")
	return signpost.Version{Name: cmp.Or(name, "v1"), Source: source, Manifest: signpost.Manifest{Endpoints: testkit.Endpoints(endpoints)}}
}

// services reads versions that are separated by semicolons: a source, a colon, and endpoints that are separated by commas.
func services(text string) []signpost.Version {
	var all []signpost.Version
	for service := range strings.SplitSeq(text, "; ") {
		if source, endpoints, ok := strings.Cut(service, ": "); ok {
			v := together(source, endpoints)
			v.Places = make(map[string]string)
			for i, e := range v.Manifest.Endpoints {
				v.Places[e.URL] = fmt.Sprintf("%s:%d", v.Source, i+1)
			}
			all = append(all, v)
		}
	}
	return all
}

func TestOverlaps(t *testing.T) {
	testkit.Cases(t, "testdata/overlaps.golden", func(text string) string {
		var out strings.Builder
		before, after, _ := strings.Cut(text, " | ")
		judged := services(before)
		for i, findings := range match.Overlaps(judged, services(after)) {
			for _, f := range findings {
				fmt.Fprintln(&out, judged[i].Source, f.Rule+":", strings.ReplaceAll(f.Message, "https://{{host}}", ""))
			}
		}
		return out.String()
	})
}

// Without a place function, findings name the source or, within one service, the version.
func TestOverlapsNameTheSource(t *testing.T) {
	a, b := together("a.yaml", "/feeds k"), together("b.yaml", "/feeds/sport")
	place := func(versions ...signpost.Version) string {
		_, after, _ := strings.Cut(match.Overlaps(versions, nil)[1][0].Message, `shadows "https://{{host}}/feeds"`)
		return after
	}
	testkit.Equal(t, "another service", place(a, b), " (a.yaml)")
	b.Source, a.Name = a.Source, "v7"
	testkit.Equal(t, "another version", place(a, b), " (v7)")
	a.Name = ""
	testkit.Equal(t, "an unknown version", place(a, b), "")
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
			versions = append(versions, together(strconv.Itoa(i/2), strings.Join(endpoints, ", ")))
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
