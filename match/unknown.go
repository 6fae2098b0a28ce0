package match

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"signpost"
	"signpost/host"
	"signpost/internal/spell"
	"signpost/internal/suffix"
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
	counts := make(map[string]int) // by source
	isWanted := func(p unknownPair) bool { return counts[o.source(p.open)] < maxUnknown }
	for p := range o.unknownPairs(isWanted) {
		counts[o.source(p.open)]++
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
	allowed := make(map[int]bool)  // by number of the endpoint
	isWanted := func(p unknownPair) bool {
		at, _ := o.sides(p)
		return counts[o.source(p.open)] < maxUnknown && !allowed[at]
	}
	for p := range o.unknownPairs(isWanted) {
		at, _ := o.sides(p)
		allowed[at] = o.allows(at, RuleHostsUnknown, signpost.ContextItem{})
		if allowed[at] {
			continue
		}
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
		o.endpoints[at].URL, o.endpoints[beside].URL, o.place(at, beside), p.host)
}

// unknownPairs returns the pairs that overlap if a host is declared, in the order of the endpoints that take the feeds.
// It leaves out those that are not wanted at that time.
func (o *overlapChecker) unknownPairs(isWanted func(unknownPair) bool) iter.Seq[unknownPair] {
	namesHost := func(e indexed) bool { return !e.url.HasHostPlaceholder() }
	if !slices.ContainsFunc(o.endpoints, namesHost) { // usually: 4,000 versions with one URL take a third of the time
		return func(func(unknownPair) bool) {}
	}
	sites := o.unknownSites()
	everywhere := sync.OnceValue(o.everywhere)
	return func(yield func(unknownPair) bool) {
		found := make(map[unknownPair]bool)
		for number, e := range o.endpoints {
			pair := func(other int) (unknownPair, bool) {
				p, ok := o.unknownPair(number, other, isWanted)
				return p, ok && !found[p]
			}
			wants := func(n *node) (whole, inside bool) {
				wanted := slices.ContainsFunc(n.ends, func(other int) bool { _, ok := pair(other); return ok })
				return wanted, wanted
			}
			for _, s := range sites[number] {
				for n, feeds := range s.meetings(e, wants) {
					for _, other := range n.ends {
						p, ok := pair(other)
						if !ok || !o.overlapsOn(p, everywhere()[withoutHost(e.url)], n, number, other, feeds) {
							continue
						}
						found[p] = true
						if !yield(p) {
							return
						}
					}
				}
			}
		}
	}
}

// unknownSites returns, by number of an endpoint, the sites that it is in. There is one for each origin with {{host}} of
// a service whose hosts are not all known, which has the URLs with that origin, and those that name a host with which
// they have the same origin. Comparing each URL with each other one would take the square of their number.
func (o *overlapChecker) unknownSites() [][]*site {
	var open []*site
	byOrigin := make(map[string]int) // as an index of open
	ends := make(map[string]bool)    // what origins have after {{host}}
	sites := make([][]*site, len(o.endpoints))
	for number, e := range o.endpoints {
		if !e.url.HasHostPlaceholder() || !o.isUncertain(number) {
			continue
		}
		origin := e.url.Origin()
		i, known := byOrigin[origin]
		if !known {
			i = len(open)
			byOrigin[origin] = i
			open = append(open, &site{url: e.url})
			_, end, _ := strings.Cut(origin, signpost.HostPlaceholder)
			ends[end] = true
		}
		sites[number] = []*site{open[i]}
	}
	var endings [][]string
	for end := range ends {
		endings = append(endings, []string{end})
	}
	possible := suffix.NewSet(endings...)
	fitting := func(e indexed) (fit []*site) {
		origin := e.url.Origin()
		var indexes []int
		for _, number := range possible.Of(origin) {
			end := endings[number][0]
			for i := range len(origin) - len(end) {
				index, found := byOrigin[origin[:i]+signpost.HostPlaceholder+end]
				if found && open[index].url.HostFor(e.url) != "" {
					indexes = append(indexes, index)
				}
			}
		}
		slices.Sort(indexes)
		for _, index := range slices.Compact(indexes) {
			fit = append(fit, open[index])
		}
		return fit
	}
	known := make(map[string][]*site) // by origin that names a host
	for number, e := range o.endpoints {
		if e.url.HasHostPlaceholder() {
			continue
		}
		fit, found := known[e.url.Origin()]
		if !found {
			fit = fitting(e)
			known[e.url.Origin()] = fit
		}
		sites[number] = fit
	}
	for number, e := range o.endpoints {
		for _, s := range sites[number] {
			n := s.root.insert(e.words)
			n.ends = append(n.ends, number)
		}
	}
	return sites
}

// everywhere returns the sites of all URLs that can be part of a pair or decide about it, whatever their hosts.
func (o *overlapChecker) everywhere() map[string]*site {
	sites := make(map[string]*site)
	for number, e := range o.endpoints {
		if e.url.HasHostPlaceholder() && !o.isUncertain(number) {
			continue
		}
		s := sites[withoutHost(e.url)]
		if s == nil {
			s = &site{}
			sites[withoutHost(e.url)] = s
		}
		n := s.root.insert(e.words)
		n.ends = append(n.ends, number)
	}
	return sites
}

// withoutHost returns the scheme and the port of a URL.
func withoutHost(u signpost.URL) string {
	_, port := host.CutPort(u.Authority())
	return u.Scheme() + port
}

// isUncertain reports whether the hosts of a service are not all known.
func (o *overlapChecker) isUncertain(number int) bool {
	hosts := o.version(number).Hosts
	return len(hosts) == 0 || len(hosts.Exact()) < len(hosts)
}

// unknownPair returns the pair of two endpoints, and false if it is not wanted, or if no undeclared host decides whether
// they overlap.
func (o *overlapChecker) unknownPair(a, b int, isWanted func(unknownPair) bool) (unknownPair, bool) {
	if !o.endpoints[a].url.HasHostPlaceholder() {
		a, b = b, a
	}
	open, written := o.endpoints[a], o.endpoints[b]
	isAlike := o.calls[a] == o.calls[b] && open.in != written.in
	p := unknownPair{open: a, written: b}
	if !open.url.HasHostPlaceholder() || written.url.HasHostPlaceholder() || isAlike ||
		!o.isUncertain(a) || !o.isJudged(a) && !o.isJudged(b) || !isWanted(p) {
		return p, false
	}
	p.host = open.url.HostFor(written.url)
	hosts := o.version(a).Hosts
	isPossible := len(hosts) == 0 || hosts.Has(p.host)
	return p, p.host != "" && isPossible && !slices.Contains(hosts, p.host)
}

// overlapsOn reports whether an endpoint of a pair takes feeds from the other one, at a node, that lose something.
func (o *overlapChecker) overlapsOn(p unknownPair, s *site, n *node, number, other int, feeds *feeds) bool {
	e, from := o.endpoints[number], o.endpoints[other]
	loses := slices.Equal(e.words, from.words) || len(missingKeys(from.ContextObj, keySet(e.ContextObj))) > 0
	origin := o.endpoints[p.written].url.Origin()
	isThere := func(third int) bool {
		e := o.endpoints[third]
		if !e.url.HasHostPlaceholder() {
			return e.url.Origin() == origin
		}
		isOn := o.source(third) == o.source(p.open) || slices.Contains(o.version(third).Hosts, p.host)
		return isOn && strings.EqualFold(e.url.Resolve(p.host).Origin(), origin)
	}
	isKind := func(words []string) bool {
		return loses || n.endsInside(words) && words[n.depth-1] == e.words[n.depth-1]
	}
	_, found := feeds.find(isKind, func(words []string) bool { return s.answerer(words, isThere) == number })
	return found
}
