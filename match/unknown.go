package match

import (
	"slices"
	"strings"

	"signpost"
	"signpost/host"
)

// unknownHosts reports each service once whose hosts decide whether one of its URLs with {{host}} overlaps with a URL that
// names a host: it declares no hosts, or covers that host by a suffix alone.
func (o *overlapChecker) unknownHosts() {
	u := unknownHosts{o, make(map[string]*site), make(map[string]bool)}
	for number, e := range o.endpoints {
		if e.url.HasHostPlaceholder() && !o.isUncertain(number) {
			continue
		}
		s := u.sites[u.origin(number)]
		if s == nil {
			s = &site{}
			u.sites[u.origin(number)] = s
		}
		n := s.root.insert(e.parts)
		n.ends = append(n.ends, number)
	}
	for number, e := range o.endpoints {
		if s := u.sites[u.origin(number)]; s != nil {
			u.check(number, e, s)
		}
	}
}

// unknownHosts searches for URLs that may be on one host. Its sites have all URLs with the same scheme and port, whatever
// their hosts.
type unknownHosts struct {
	*overlapChecker
	sites map[string]*site
	told  map[string]bool // by source
}

func (u *unknownHosts) origin(number int) string {
	url := u.endpoints[number].url
	_, port := host.CutPort(url.Authority())
	return url.Scheme() + port
}

// isUncertain reports whether the hosts of a service are not all known.
func (o *overlapChecker) isUncertain(number int) bool {
	hosts := o.version(number).Hosts
	return len(hosts) == 0 || len(hosts.Exact()) < len(hosts)
}

func (u *unknownHosts) check(number int, e indexed, s *site) {
	wants := func(n *node) bool {
		return slices.ContainsFunc(n.ends, func(other int) bool { return u.host(number, other) != "" })
	}
	for n, feeds := range s.meetings(e, wants, wants) {
		for _, other := range n.ends {
			name := u.host(number, other)
			if name == "" {
				continue
			}
			sameURL := slices.Equal(e.words, u.endpoints[other].words)
			kept := keySet(e.ContextObj)
			loses := slices.ContainsFunc(u.endpoints[other].ContextObj, func(item signpost.ContextItem) bool { return !kept[item.Key] })
			takesPart := u.on(number, other, name)
			for words := range feeds {
				answers := s.answers(words, takesPart) == number
				inside := n.endsInside(words) && words[n.depth-1] == e.words[n.depth-1]
				if answers && (sameURL || loses || inside) {
					u.tell(number, other, name)
					break
				}
			}
		}
	}
}

// host returns the host on which two endpoints may overlap: it is written out in the URL of one, and may be a host of the
// service of the other, whose URL has {{host}}. It is empty if there is none, or if nothing depends on it.
func (u *unknownHosts) host(number, other int) string {
	open, written := number, other
	if !u.endpoints[open].url.HasHostPlaceholder() {
		open, written = other, number
	}
	a, b := u.endpoints[open], u.endpoints[written]
	if !a.url.HasHostPlaceholder() || b.url.HasHostPlaceholder() || u.told[u.source(open)] || !u.isUncertain(open) ||
		!u.isJudged(open) && !u.isJudged(written) || u.calls[open] == u.calls[written] && a.in != b.in {
		return ""
	}
	name := a.url.HostFor(b.url)
	hosts := u.version(open).Hosts
	if name == "" || slices.Contains(hosts, name) || len(hosts) > 0 && !hosts.Has(name) {
		return ""
	}
	return name
}

// on reports which endpoints take part if the service of one of two endpoints, the one with {{host}}, is on a host.
func (u *unknownHosts) on(number, other int, name string) func(int) bool {
	open, written := number, other
	if !u.endpoints[open].url.HasHostPlaceholder() {
		open, written = other, number
	}
	origin := u.endpoints[written].url.Origin()
	return func(third int) bool {
		e := u.endpoints[third]
		if !e.url.HasHostPlaceholder() {
			return e.url.Origin() == origin
		}
		isThere := u.source(third) == u.source(open) || slices.Contains(u.version(third).Hosts, name)
		return isThere && strings.EqualFold(e.url.Resolve(name).Origin(), origin)
	}
}

func (u *unknownHosts) tell(number, other int, name string) {
	open, written := number, other
	if !u.endpoints[open].url.HasHostPlaceholder() {
		open, written = other, number
	}
	u.told[u.source(open)] = true
	at, beside := open, written
	if !u.isJudged(open) {
		at, beside = written, open
	}
	u.report(at, RuleHostsUnknown, "declare the hosts of the service under hosts; or write {{host}} instead of "+name+", if it is one of them",
		"%q and %q%s overlap if %s is a host of the service, which hosts does not say",
		u.endpoints[at].URL, u.endpoints[beside].URL, u.place(at, beside), name)
}
