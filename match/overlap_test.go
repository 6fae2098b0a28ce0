package match_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
	"signpost/match"
)

// together returns a version of a service, whose source may be followed by @ and its name, and by its hosts in brackets.
func together(source, endpoints string) signpost.Version {
	source, hosts, _ := strings.Cut(strings.TrimSuffix(source, "]"), "[")
	source, name, _ := strings.Cut(source, "@")
	return signpost.Version{
		Name: cmp.Or(name, "v1"), Source: source, Hosts: strings.Fields(hosts),
		Manifest: signpost.Manifest{Endpoints: testkit.Endpoints(endpoints)},
	}
}

// services reads versions that are separated by semicolons: a source, a colon, and endpoints that are separated by commas.
func services(text string) []signpost.Version {
	var all []signpost.Version
	for service := range strings.SplitSeq(text, "; ") {
		if source, endpoints, ok := strings.Cut(service, ": "); ok {
			v := together(source, endpoints)
			for i := range v.Manifest.Endpoints {
				v.Lines = append(v.Lines, i+1)
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
		return strings.TrimSuffix(after, ", if both are on one host")
	}
	testkit.Equal(t, "another service", place(a, b), " (a.yaml)")
	b.Source, a.Name = a.Source, "v7"
	testkit.Equal(t, "another version", place(a, b), " (v7)")
	a.Name = ""
	testkit.Equal(t, "an unknown version", place(a, b), "")
}

// FuzzOverlaps checks the findings against brute force: what is registered is rendered for each host, and what a feed
// loses there must be in a finding. Every finding is true of its example.
func FuzzOverlaps(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Add(uint64(968)) // two versions have the same URL, and one of them allows its loss
	f.Add(uint64(3170))
	f.Add(uint64(4325)) // two services have a URL that ends inside a segment of a third one's
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 7))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		origins := []string{"", "", "", "", "=https://a.example", "=https://cdn.{{host}}", "=https://cdn.a.example", "=https://b.example:81"}
		if seed%2 == 0 {
			origins = origins[:1]
		}
		hosts := []string{"", "", "[a.example]", "[*.a.example]", "[a.example b.example]", "[*.example]", "[b.example *.cdn.a.example]"}
		most, deepest := 4, 3
		if seed%5 == 0 { // many that begin alike
			most, deepest = 8, 1
		}
		var versions []signpost.Version
		declared := pick(hosts...)
		for i := range 1 + random.IntN(4) {
			var endpoints []string
			seen := make(map[string]bool)
			for range 1 + random.IntN(most) {
				path := pick(origins...)
				depth := 1 + random.IntN(deepest)
				if random.IntN(12) == 0 {
					path, depth = cmp.Or(path, "=https://{{host}}"), 0
				}
				for range depth {
					path += "/" + pick("a", "b", "ab", "a-b", "{{x}}", "{{y}}", "a-{{x}}", "{{x}}-b", "{{x}}-{{y}}", "{{x}}a{{y}}")
				}
				if !seen[path] {
					seen[path] = true
					for range random.IntN(3) {
						path += " " + pick("k", "l", "m", "k!")
					}
					endpoints = append(endpoints, path)
				}
			}
			if i%2 == 0 {
				declared = pick(hosts...)
			}
			versions = append(versions, together(strconv.Itoa(i/2)+declared, strings.Join(endpoints, ", ")))
		}
		n := random.IntN(len(versions) + 1)
		o := oracle{versions: versions, judged: n}
		if n > 0 && seed%3 > 0 {
			o.allowedIn, o.allowedKey = random.IntN(n), pick("k", "l")
		}
		o.findings = match.OverlapsExcept(versions[:n], versions[n:], o.allowed)
		if problem := o.check(random); problem != "" {
			t.Fatalf("seed %d: %s\n%v\n%v", seed, problem, versions, o.findings)
		}
		if seed%2 == 1 {
			o.allowsAll = seed%4 == 1
			o.lintFiles(t)
			if problem := o.check(random); problem != "" {
				t.Fatalf("seed %d, as files: %s\n%v\n%v", seed, problem, o.versions, o.findings)
			}
		}
	})
}

// check returns what is wrong with the findings, or "".
func (o oracle) check(random *rand.Rand) string {
	words := []string{"a", "b", "ab", "a-b", "a-b-b", "c", "a-c", "c-b", "c-c", "abc", "cac"}
	worlds := o.worlds()
	if slices.ContainsFunc(worlds, func(w world) bool { return w.collides }) {
		return "" // an error of lint, or no manifest
	}
	var urls []string
	for _, v := range o.versions {
		for _, e := range v.Manifest.Endpoints {
			urls = append(urls, e.URL)
		}
	}
	index := match.NewIndex(o.versions...)
	isUndeclared := func(v signpost.Version) bool { return len(v.Hosts) == 0 }
	isOpen := slices.ContainsFunc(o.versions, isUndeclared) // {{host}} stands for any host
	for _, w := range worlds {
		for range 20 {
			feed := w.origin
			for range 1 + random.IntN(4) {
				feed += "/" + words[random.IntN(len(words))]
			}
			if problem := o.problem(w, feed); problem != "" {
				return w.name + ": " + problem
			}
			found := ""
			if number := index.Find(feed); number >= 0 {
				found = urls[number]
			}
			m, _ := index.Match(feed)
			if m.Endpoint != found {
				return fmt.Sprintf("%s: Match finds %q, and Find %q", feed, m.Endpoint, found)
			}
			there, _ := w.index.Match(feed)
			if w.name == w.origin && !isOpen && m.Endpoint != w.written[there.Version+there.Endpoint] {
				return fmt.Sprintf("%s: %q answers, and not %q, rendered", feed, m.Endpoint, there.Endpoint)
			}
		}
	}
	for _, f := range slices.Concat(o.findings...) {
		if problem := o.untrue(f.Finding); problem != "" {
			return fmt.Sprintf("%v: %s", f.Finding, problem)
		}
	}
	return ""
}

// lintFiles replaces the findings by those of lint about files, one for each version: definitions, with an allow field if
// they allow something, and manifests for what is registered without hosts.
func (o *oracle) lintFiles(t testing.TB) {
	o.versions = slices.Clone(o.versions)
	var files []*definition.File
	numbers := make(map[string]int) // of the versions, by their files
	judged := make(map[string]bool) // URLs, which an export has as well
	for i, v := range o.versions {
		isManifest := i >= o.judged && len(v.Hosts) == 0
		v.Name, v.Source = "v1", fmt.Sprintf("%d.json", i)
		v.Manifest = v.Manifest.Clone()
		v.Manifest.Endpoints = slices.DeleteFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool {
			return isManifest && judged[e.URL]
		})
		for j, e := range v.Manifest.Endpoints {
			slices.SortFunc(e.ContextObj, func(a, b signpost.ContextItem) int { return strings.Compare(a.Key, b.Key) })
			isSame := func(a, b signpost.ContextItem) bool { return a.Key == b.Key } // which would be an error
			v.Manifest.Endpoints[j].ContextObj = slices.CompactFunc(e.ContextObj, isSame)
			for _, name := range append(v.Hosts.Exact(), signpost.HostPlaceholder) {
				judged[signpost.CutURL(e.URL).Resolve(name).String()] = i < o.judged
			}
		}
		o.versions[i], numbers[v.Source] = v, i
		text := string(testkit.Must(json.Marshal(v.Manifest))(t))
		if isManifest {
			files = append(files, definition.ParseManifest(v.Source, []byte(text)))
			continue
		}
		text = fmt.Sprintf(`{"base_path": "/%d", "versions": {"v1": %s}`, i, text)
		if len(v.Hosts) > 0 {
			text += fmt.Sprintf(`, "hosts": %s`, testkit.Must(json.Marshal(v.Hosts))(t))
		}
		if i == o.allowedIn && o.allowedKey != "" {
			allow := `"it is meant"`
			if !o.allowsAll {
				allow = fmt.Sprintf(`{"keys": [%q], "reason": "it is meant"}`, o.allowedKey)
			}
			text += fmt.Sprintf(`, "allow": {%q: %s, %q: "all that are optional"}`, match.RuleOverlapDropsContext, allow, match.RuleOverlapInsideSegment)
		}
		files = append(files, definition.Parse(v.Source, []byte(text+"}")))
	}
	o.isFiles = true
	o.findings = make([][]match.Overlap, o.judged)
	for _, f := range definition.LintTogether(files[:o.judged], files[o.judged:]) {
		i := numbers[f.File]
		o.findings[i] = append(o.findings[i], match.Overlap{Finding: f})
	}
}

// oracle knows what is registered, and what was found.
type oracle struct {
	versions []signpost.Version
	judged   int
	findings [][]match.Overlap

	allowedIn  int    // the version that allows the loss of a key that is optional
	allowedKey string // empty if none does
	isFiles    bool   // where a key that is named may be required, and all optional ones are allowed inside of segments
	allowsAll  bool   // the loss of all keys that are optional
}

// allowed reports whether a version allows a loss.
func (o oracle) allowed(version, _ int, rule string, lost signpost.ContextItem) bool {
	if version != o.allowedIn || lost.Key == "" || o.allowedKey == "" {
		return false
	}
	if o.isFiles && (o.allowsAll || rule == match.RuleOverlapInsideSegment) {
		return !lost.Required
	}
	return lost.Key == o.allowedKey && (o.isFiles || !lost.Required)
}

// allowsInside reports whether the endpoint that a finding would be about allows that an endpoint loses keys to another one
// that begins like it.
func (o oracle) allowsInside(loser, taker int, items []signpost.ContextItem, lost []string) bool {
	at := loser
	if loser >= o.judged {
		at = taker
	}
	isTold := func(item signpost.ContextItem) bool {
		return slices.Contains(lost, item.Key) && !o.allowed(at, 0, match.RuleOverlapInsideSegment, item)
	}
	return len(lost) > 0 && !slices.ContainsFunc(items, isTold)
}

// world is what is registered on one host. The versions have rendered URLs, and their names are their numbers.
type world struct {
	name     string
	origin   string
	versions []signpost.Version
	index    *match.Index      // of the versions
	written  map[string]string // version and rendered URL to the URL as written
	unknown  string            // the service that is on the host only perhaps
	collides bool              // a version has a URL twice, so that it has no manifest there
}

// worlds returns one world for each host on which something is registered. If services declare no hosts, they are on one
// that has no name, with each of the others in turn; and perhaps they are on one that a URL names.
func (o oracle) worlds() []world {
	var all []world
	sources := map[string]signpost.Hosts{}
	for _, v := range o.versions {
		sources[v.Source] = v.Hosts
	}
	origins := []string{"https://a.example", "https://cdn.a.example", "https://b.example:81", "https://b.example", "https://x.a.example",
		"https://cdn.cdn.a.example", "https://x.cdn.a.example", "https://x.example", "https://cdn.b.example", "https://cdn.x.cdn.a.example"}
	for _, origin := range origins {
		has := func(v signpost.Version, name string) bool { return v.Hosts.Has(name) }
		lists := func(v signpost.Version, name string) bool { return slices.Contains(v.Hosts, name) }
		all = append(all, o.world(origin, origin, has), o.world(origin+", without suffixes", origin, lists))
		for _, source := range slices.Sorted(maps.Keys(sources)) {
			hosts := sources[source]
			perhaps := func(v signpost.Version, name string) bool {
				uncertain := len(hosts) == 0 || hosts.Has(name)
				return slices.Contains(v.Hosts, name) || v.Source == source && uncertain && !slices.Contains(hosts, name)
			}
			w := o.world(origin+", perhaps with "+source, origin, perhaps)
			w.unknown = source
			all = append(all, w)
		}
	}
	for _, origin := range []string{"https://{{host}}", "https://cdn.{{host}}"} {
		for _, source := range slices.Sorted(maps.Keys(sources)) {
			undeclared := func(v signpost.Version, _ string) bool { return len(v.Hosts) == 0 || v.Source == source }
			all = append(all, o.world(origin+" with "+source, origin, undeclared))
		}
	}
	return all
}

// world renders what is registered on an origin. has reports whether {{host}} is the given host in a version.
func (o oracle) world(name, origin string, has func(v signpost.Version, host string) bool) world {
	w := world{name: name, origin: origin, written: make(map[string]string)}
	for i, v := range o.versions {
		v.Name = strconv.Itoa(i)
		var rendered []signpost.Endpoint
		for _, e := range v.Manifest.Endpoints {
			written := e.URL
			if prefix, after, open := strings.Cut(e.URL, "{{host}}"); open && !strings.Contains(origin, "{{host}}") {
				host := strings.TrimPrefix(origin, prefix)
				if host == origin || strings.Contains(host, ":") || !has(v, host) {
					continue
				}
				e.URL = prefix + host + after
			} else if open && !has(v, "") {
				continue
			}
			w.collides = w.collides || w.written[v.Name+e.URL] != ""
			w.written[v.Name+e.URL] = written
			rendered = append(rendered, e)
		}
		v.Manifest, v.Hosts = signpost.Manifest{Endpoints: rendered}, nil
		w.versions = append(w.versions, v)
	}
	w.index = match.NewIndex(w.versions...)
	return w
}

// host returns what {{host}} stands for in a URL.
func (w world) host(url string) string {
	prefix, _, _ := strings.Cut(url, "{{host}}")
	return strings.TrimPrefix(w.origin, prefix)
}

// problem returns what a feed loses without a finding that names it.
func (o oracle) problem(w world, feed string) string {
	m, ok := w.index.Match(feed)
	if !ok {
		return ""
	}
	taker, _ := strconv.Atoi(m.Version)
	takes := w.written[m.Version+m.Endpoint]
	for _, s := range m.Shadowed {
		for i, v := range w.versions {
			at := slices.IndexFunc(v.Manifest.Endpoints, func(e signpost.Endpoint) bool { return e.URL == s.Endpoint })
			if at < 0 || v.Source != s.Source || taker >= o.judged && i >= o.judged {
				continue
			}
			loser := w.written[v.Name+s.Endpoint]
			items := v.Manifest.Endpoints[at].ContextObj
			var lost []string
			for _, item := range items {
				if !slices.ContainsFunc(m.ContextObj, func(kept signpost.ContextItem) bool { return kept.Key == item.Key }) {
					lost = append(lost, item.Key)
				}
			}
			twins := shape(s.Endpoint) == shape(m.Endpoint)
			told := func(rule string, version int, words ...string) bool {
				return slices.ContainsFunc(o.findings[version], func(f match.Overlap) bool {
					missing := func(word string) bool { return !strings.Contains(shape(f.Message), shape(strconv.Quote(word))) }
					return f.Rule == rule && !slices.ContainsFunc(words, missing)
				})
			}
			toldAnywhere := func(rule string, words ...string) bool {
				for i := range o.findings {
					if told(rule, i, words...) {
						return true
					}
				}
				return false
			}
			if strings.Contains(w.origin, "{{host}}") && len(o.versions[taker].Hosts) > 0 && len(o.versions[i].Hosts) > 0 {
				continue // they meet on their hosts
			}
			if source, undecided := o.undecided(w, taker, takes, i, loser); undecided {
				isUnknown := len(lost) > 0 && !s.InsideSegment && !twins
				if isUnknown && source == w.unknown && !o.toldUnknown(takes, loser) {
					return fmt.Sprintf("%s would lose %v of %s to %s, and nothing says so", feed, lost, loser, takes)
				}
				continue
			}
			mixed := strings.Contains(takes, "{{host}}") != strings.Contains(loser, "{{host}}")
			isExact := func(version int, url string) bool { return slices.Contains(o.versions[version].Hosts, w.host(url)) }
			apart := signpost.CutURL(takes).Origin() != signpost.CutURL(loser).Origin() && !mixed
			if w.unknown != "" || apart && !isExact(taker, takes) && !isExact(i, loser) { // no host is known to be that of both
				continue
			}
			if twins && s.Source != m.Source {
				if !toldAnywhere(match.RuleRegisteredTwice, takes) && !toldAnywhere(match.RuleRegisteredTwice, loser) {
					return fmt.Sprintf("%s and %s are registered twice", takes, loser)
				}
				continue
			}
			if s.InsideSegment && (toldAnywhere(match.RuleOverlapInsideSegment, takes, loser) || o.allowsInside(i, taker, items, lost)) {
				continue
			}
			for _, item := range items {
				at := taker
				if taker >= o.judged {
					at = i
				}
				if !slices.Contains(lost, item.Key) || o.allowed(at, 0, match.RuleOverlapDropsContext, item) {
					continue
				}
				named := taker < o.judged && told(match.RuleOverlapDropsContext, taker, takes, item.Key) ||
					taker >= o.judged && toldAnywhere(match.RuleOverlapDropsContext, loser, item.Key)
				if !named {
					return fmt.Sprintf("%s loses %q of %s to %s without a finding", feed, item.Key, loser, takes)
				}
			}
		}
	}
	return ""
}

// undecided reports whether two URLs meet in a world only perhaps, because one names a host, the other contains {{host}},
// and its service, whose source is returned, does not list that host.
func (o oracle) undecided(w world, a int, urlA string, b int, urlB string) (source string, ok bool) {
	if strings.Contains(urlB, "{{host}}") {
		a, urlA, urlB = b, urlB, urlA
	}
	v := o.versions[a]
	isMixed := strings.Contains(urlA, "{{host}}") && !strings.Contains(urlB, "{{host}}")
	return v.Source, isMixed && !slices.Contains(v.Hosts, w.host(urlA))
}

// toldUnknown reports whether two URLs are known to overlap if a host is declared, and a finding says that there are such.
func (o oracle) toldUnknown(a, b string) bool {
	isPair := func(u match.Unknown) bool {
		return u.Endpoint.String() == a && u.Other.String() == b || u.Endpoint.String() == b && u.Other.String() == a
	}
	isTold := func(f match.Overlap) bool { return f.Rule == match.RuleHostsUnknown }
	return slices.ContainsFunc(match.UnknownHosts(o.versions[:o.judged], o.versions[o.judged:]), isPair) &&
		slices.ContainsFunc(slices.Concat(o.findings...), isTold)
}

var losing = regexp.MustCompile(`^feeds of "([^"]*)"(?:, such as "([^"]*)",)? lose context keys? (.*?)(?: on (\S+))?: "([^"]*)"(?: \([^)]*\))? shadows (?:"([^"]*)"|it)`)

// untrue returns why a finding about a lost key is wrong, or "".
func (o oracle) untrue(f signpost.Finding) string {
	if f.Rule != match.RuleOverlapDropsContext {
		return ""
	}
	found := losing.FindStringSubmatch(f.Message)
	if found == nil {
		return "unknown wording"
	}
	of, feed, keys, host, taker, from := found[1], found[2], found[3], found[4], found[5], found[6]
	from, feed = cmp.Or(from, of), cmp.Or(feed, taker)
	for _, w := range o.worlds() {
		if w.unknown != "" {
			continue
		}
		at := feed
		if origin := signpost.CutURL(feed); origin.HasHostPlaceholder() {
			at = w.origin + origin.Rest()
		}
		m, _ := w.index.Match(at)
		if w.written[m.Version+m.Endpoint] != taker || host != "" && !strings.Contains(w.origin, host) {
			continue
		}
		for _, s := range m.Shadowed {
			loses := func(key string) bool { return strings.Contains(keys, strconv.Quote(key)) }
			for i := range o.versions {
				takenBy, _ := strconv.Atoi(m.Version)
				_, undecided := o.undecided(w, takenBy, taker, i, from)
				if w.written[strconv.Itoa(i)+s.Endpoint] == from && slices.ContainsFunc(s.LostKeys, loses) && !undecided {
					return ""
				}
			}
		}
	}
	return fmt.Sprintf("%s loses nothing of %s", feed, from)
}

// BenchmarkOverlaps shows that the work grows with the number of endpoints, not with its square, however many hosts they
// name, and whether or not services declare theirs. Only URLs that all cross are compared with each other, and a pair takes
// a fraction of a microsecond.
func BenchmarkOverlaps(b *testing.B) {
	for _, hosts := range []string{"", "[feeds.example.com]", "[*.example.net]"} {
		for _, n := range []int{2500, 5000} {
			var urls []string
			for i := range n {
				switch i % 5 {
				case 0:
					urls = append(urls, fmt.Sprintf("=https://partner%d.example.net/feeds/part%d k%d", i/5, i%97, i%3))
				default:
					urls = append(urls, fmt.Sprintf("/feeds/part%d/{{id}}/%d k0 k1 k2 k%d", i%97, i, i))
				}
			}
			v := together("a"+hosts, strings.Join(urls, ", "))
			b.Run(fmt.Sprintf("%d-endpoints-%s", n, hosts), func(b *testing.B) {
				for b.Loop() {
					match.Overlaps([]signpost.Version{v}, nil)
				}
			})
		}
		for _, n := range []int{3000, 6000} {
			var urls []string
			for i := range n / 2 {
				urls = append(urls, fmt.Sprintf("/feeds/a%d-{{x}} k, /feeds/{{x}}-b%d l", i, i))
			}
			v := together("a"+hosts, strings.Join(urls, ", "))
			b.Run(fmt.Sprintf("%d-that-cross-%s", n, hosts), func(b *testing.B) {
				for b.Loop() {
					match.Overlaps([]signpost.Version{v}, nil)
				}
			})
		}
		var services [2][]signpost.Version
		for i := range 1000 {
			v := together(fmt.Sprintf("%d[host%d.example.com]", i, i), fmt.Sprintf("/feeds k, /feeds/%d", i%7))
			if i%2 == 1 && hosts == "" {
				v.Hosts = nil
			}
			services[1] = append(services[1], v)
		}
		services[0] = services[1][:500]
		for _, some := range services {
			b.Run(fmt.Sprintf("%d-services-%s", len(some), hosts), func(b *testing.B) {
				for b.Loop() {
					match.Overlaps(some, nil)
				}
			})
		}
	}
}

// However many words two segments have in common, no overlap goes unnoticed.
func TestOverlapsOfLongSegments(t *testing.T) {
	repeated := strings.Repeat("a", 700)
	for _, urls := range [][2]string{
		{"/{{x}}" + repeated + "b{{y}}", "/{{x}}" + repeated + "c{{y}}"},
		{"/{{x}}" + repeated + "{{y}}" + repeated, "/" + repeated + "{{x}}" + repeated + "{{y}}"},
		{"/{{x}}" + repeated + "b/{{y}}", "/{{x}}" + repeated},
	} {
		for _, keys := range [][2]string{{"", " k"}, {" l", " k"}} {
			v := together("a.yaml", urls[0]+keys[0]+", "+urls[1]+keys[1])
			isLoss := func(f signpost.Finding) bool { return f.Rule != match.RuleRegisteredTwice }
			if found := match.Overlaps([]signpost.Version{v}, nil)[0]; !slices.ContainsFunc(found, isLoss) {
				t.Errorf("%.20s… and %.20s…: %v", urls[0], urls[1], found)
			}
			before := match.NewIndex(signpost.Version{Manifest: endpoints("https://a.example" + urls[1])})
			after := match.NewIndex(signpost.Version{Manifest: endpoints("https://a.example"+urls[0], "https://a.example"+urls[1])})
			taken := 0
			for range before.Takeovers(after, 0, func(int) (int, bool) { return 1, true }, nil) {
				taken++
			}
			if taken != 1 {
				t.Errorf("%.20s… takes feeds of %.20s… %d times", urls[0], urls[1], taken)
			}
		}
	}
}

// What is not listed is counted or said, and each registered URL that is lost to is named.
func TestOverlapsBeyondTheLimits(t *testing.T) {
	nested, alike := []string{"/feeds k"}, []string{"/a k"}
	for i := range 10_001 {
		nested = append(nested, fmt.Sprintf("/feeds/%d", i))
	}
	for i := range 150 {
		alike = append(alike, fmt.Sprintf("/a-%d", i))
	}
	for limited, urls := range map[bool][]string{true: nested, false: nested[:10_000]} {
		found := match.Overlaps([]signpost.Version{together("a.yaml", strings.Join(urls, ", "))}, nil)[0]
		isLimit := func(f signpost.Finding) bool { return f.Rule == match.RuleTooLarge }
		if n := slices.IndexFunc(found, isLimit); (n >= 0) != limited || len(found) != len(urls)-1 {
			t.Errorf("%d URLs: %d findings, of which %d is about the limit", len(urls), len(found), n)
		}
	}
	a, rest := together("a.yaml", alike[0]), together("b.yaml", strings.Join(alike[1:], ", "))
	if found := match.Overlaps([]signpost.Version{a}, []signpost.Version{rest})[0]; !strings.HasSuffix(found[0].Message, " and at least 80 more") {
		t.Errorf("got %s", found[0].Message)
	}
	if found := match.Overlaps([]signpost.Version{rest}, []signpost.Version{a})[0]; len(found) != 150 {
		t.Errorf("got %d findings about endpoints that begin like a registered one", len(found))
	}
}

// However many overlaps are allowed, one that is not is reported.
func TestUnknownHostsBesideAllowedOnes(t *testing.T) {
	urls := []string{"/feeds k"}
	for i := range 1001 {
		urls = append(urls, fmt.Sprintf("=https://partner.example/feeds/%d", i))
	}
	v := together("a.yaml", strings.Join(append(urls, "/films k, =https://partner.example/films/last"), ", "))
	allowed := func(_, position int, _ string, _ signpost.ContextItem) bool { return position == 0 }
	findings := match.OverlapsExcept([]signpost.Version{v}, nil, allowed)[0]
	isLast := func(f match.Overlap) bool {
		return f.Rule == match.RuleHostsUnknown && f.Position == len(v.Manifest.Endpoints)-2
	}
	if !slices.ContainsFunc(findings, isLast) {
		t.Errorf("got %v", findings)
	}
}
