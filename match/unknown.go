package match

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
)

// Unknown says that two URLs overlap if a host is one of a service, which does not declare it: its definition has no
// hosts, or covers that host by a suffix alone.
type Unknown struct {
	Version  int // index of the version that Endpoint is of, one of those judged
	Endpoint signpost.URL
	Other    signpost.URL // of the other endpoint. One of the two contains {{host}}, the other one names Host
	Host     string
	Message  string
}

// maxUnknown is the largest number of pairs of a service that are counted. Nobody reads more.
const maxUnknown = 1000

// UnknownHosts returns what [Overlaps] does not know because hosts are not declared, of which it reports one for each
// service.
func UnknownHosts(versions, registered []signpost.Version) []Unknown {
	o := newOverlapChecker(valid(versions), valid(registered), nothingAllowed)
	var all []Unknown
	for _, p := range o.unknownPairs() {
		at, beside := o.sides(p)
		all = append(all, Unknown{
			o.endpoints[at].in, o.endpoints[at].url, o.endpoints[beside].url, p.host, o.describeUnknown(p),
		})
	}
	return all
}

// reportUnknown reports each service once whose hosts decide about an overlap that is not allowed.
func (o *overlapChecker) reportUnknown() {
	var first []unknownPair        // of each service
	counts := make(map[string]int) // by source
	for _, p := range o.unknownPairs() {
		source := o.source(p.open)
		if counts[source] == 0 {
			first = append(first, p)
		}
		counts[source]++
	}
	for _, p := range first {
		text := o.describeUnknown(p)
		switch others := counts[o.source(p.open)] - 1; {
		case others == maxUnknown-1:
			text += fmt.Sprintf("; hosts would also decide about at least %d other pairs of URLs", others)
		case others > 0:
			text += fmt.Sprintf("; hosts would also decide about %s of URLs", spell.Count(others, "other pair"))
		}
		at, _ := o.sides(p)
		o.report(at, RuleHostsUnknown, "declare the hosts of the service under hosts; or write {{host}} instead of "+
			p.host+", if it is one of them", "%s", text)
	}
}

// unknownPair is an endpoint whose URL contains {{host}} and one that names a host. They overlap if the service of the
// first is on that host.
type unknownPair struct {
	open, written int
	host          string
}

// sides returns the endpoint of a pair that a finding is about, which is judged, and the other one.
func (o *overlapChecker) sides(p unknownPair) (at, beside int) {
	if o.isJudged(p.open) {
		return p.open, p.written
	}
	return p.written, p.open
}

func (o *overlapChecker) describeUnknown(p unknownPair) string {
	at, beside := o.sides(p)
	return fmt.Sprintf("%q and %q%s overlap if %s is a host of the service, which hosts does not say",
		o.endpoints[at].URL, o.endpoints[beside].URL, o.location(at, beside), p.host)
}

// unknownPairs returns the pairs that overlap if a host is declared, in the order of the endpoints that take the feeds:
// those that are not allowed, and at most maxUnknown of a service.
func (o *overlapChecker) unknownPairs() (pairs []unknownPair) {
	namesHost := func(e indexed) bool { return !e.url.HasHostPlaceholder() }
	if !slices.ContainsFunc(o.endpoints, namesHost) { // usually: 4,000 versions with one URL take a third of the time
		return nil
	}
	sites := o.unknownSites()
	found := make(map[unknownPair]bool)
	counts := make(map[string]int) // by source
	allowed := make(map[int]bool)  // by number of the endpoint
	for number, e := range o.endpoints {
		pair := func(other int) (p unknownPair, ok bool) {
			p, ok = o.possiblePair(number, other)
			at, _ := o.sides(p)
			if !ok || allowed[at] || counts[o.source(p.open)] == maxUnknown {
				return p, false
			}
			p.host = o.undeclaredHost(p)
			return p, p.host != "" && !found[p]
		}
		wants := func(n *node) (whole, inside bool) {
			wanted := slices.ContainsFunc(n.ends, func(other int) bool { _, ok := pair(other); return ok })
			return wanted, wanted
		}
		for _, s := range sites[number] {
			for n, feeds := range s.meetings(e, wants) {
				for _, other := range n.ends {
					p, ok := pair(other)
					if !ok || !o.takes(p, number, other, n, feeds) {
						continue
					}
					found[p] = true
					at, _ := o.sides(p)
					allowed[at] = o.allows(at, RuleHostsUnknown, signpost.ContextItem{})
					if !allowed[at] {
						counts[o.source(p.open)]++
						pairs = append(pairs, p)
					}
				}
			}
		}
	}
	return pairs
}

// openSite has the URLs of one origin with {{host}}, and those that name a host with which they have the same origin.
type openSite struct {
	*site
	before, after string // what the origin has around {{host}}
}

// has reports whether a URL that names a host can have the origin of the site. Most cannot, which the texts around
// {{host}} tell at once: there can be thousands of both.
func (s openSite) has(u signpost.URL, origin string) bool {
	return strings.HasPrefix(origin, s.before) && strings.HasSuffix(origin, s.after) && s.url.HostFor(u) != ""
}

// unknownSites returns, by number of an endpoint, the sites that it is in. There is one for each origin with {{host}} of
// a service whose hosts are not all known. Comparing each URL with each other one would take the square of their number.
func (o *overlapChecker) unknownSites() [][]*site {
	var open []openSite
	known := make(map[string][]*site) // by origin
	for number, e := range o.endpoints {
		origin := e.url.Origin()
		if !e.url.HasHostPlaceholder() || !o.isUncertain(number) || known[origin] != nil {
			continue
		}
		before, after, _ := strings.Cut(origin, signpost.HostPlaceholder)
		s := openSite{&site{url: e.url}, before, after}
		open = append(open, s)
		known[origin] = []*site{s.site}
	}
	sites := make([][]*site, len(o.endpoints))
	for number, e := range o.endpoints {
		origin := e.url.Origin()
		all, isKnown := known[origin]
		if !isKnown && !e.url.HasHostPlaceholder() {
			for _, s := range open {
				if s.has(e.url, origin) {
					all = append(all, s.site)
				}
			}
			known[origin] = all
		}
		if e.url.HasHostPlaceholder() && !o.isUncertain(number) {
			continue
		}
		sites[number] = all
		for _, s := range all {
			n := s.root.insert(e.words)
			n.ends = append(n.ends, number)
		}
	}
	return sites
}

// isUncertain reports whether the hosts of a service are not all known.
func (o *overlapChecker) isUncertain(number int) bool {
	hosts := o.version(number).Hosts
	return len(hosts) == 0 || len(hosts.Exact()) < len(hosts)
}

// possiblePair returns the pair of two endpoints without its host, and false if there is none or it does not matter.
func (o *overlapChecker) possiblePair(a, b int) (unknownPair, bool) {
	if !o.endpoints[a].url.HasHostPlaceholder() {
		a, b = b, a
	}
	open, written := o.endpoints[a], o.endpoints[b]
	isMixed := open.url.HasHostPlaceholder() && !written.url.HasHostPlaceholder()
	isAlike := o.calls[a] == o.calls[b] && open.in != written.in
	isAsked := o.isJudged(a) || o.isJudged(b)
	return unknownPair{open: a, written: b}, isMixed && !isAlike && isAsked && o.isUncertain(a)
}

// undeclaredHost returns the host that decides whether the endpoints of a pair overlap, or "" if it is declared, or
// cannot be one of the service.
func (o *overlapChecker) undeclaredHost(p unknownPair) string {
	name := o.endpoints[p.open].url.HostFor(o.endpoints[p.written].url)
	hosts := o.version(p.open).Hosts
	isPossible := len(hosts) == 0 || hosts.Has(name)
	if !isPossible || slices.Contains(hosts, name) {
		return ""
	}
	return name
}

// takes reports whether an endpoint of a pair takes feeds from the other one, at a node, that lose something.
func (o *overlapChecker) takes(p unknownPair, number, other int, n *node, feeds *feeds) bool {
	e, from := o.endpoints[number], o.endpoints[other]
	loses := slices.Equal(e.words, from.words) || len(missingKeys(from.ContextObj, keySet(e.ContextObj))) > 0
	isKind := func(words []string) bool {
		return loses || n.endsInside(words) && words[n.depth-1] == e.words[n.depth-1]
	}
	there := o.sites[o.endpoints[p.written].url.Origin()]
	isOfService := func(third int) bool { return o.source(third) == o.source(p.open) }
	isThere := func(third int) bool { return isOfService(third) || !o.isGuest(there, third) }
	answers := func(words []string) bool {
		best := there.best(words, isThere)
		for _, s := range o.open {
			if s.url.Resolve(p.host).Origin() == there.origin {
				best = best.or(s.best(words, isOfService))
			}
		}
		return best.node != nil && best.ends[0] == number
	}
	_, found := feeds.find(isKind, answers)
	return found
}
