package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/match"
)

// state is a position in time.
type state int

// The two states that are compared.
const (
	before state = iota
	after
)

// plan says what is compared with what, for which hosts, and what is registered around it.
type plan struct {
	comparisons []*comparison
	registered  [2][]*slot        // everything, before and after, in order
	host        string            // what {{host}} is filled in with; empty if changes are about every host
	moves       [][2]string       // hosts of a manifest, and those that replace them
	alike       map[string]string // hosts that need not be compared; see [match.Alike]
}

// comparison is a service before and after.
type comparison struct {
	name string // empty unless several services are compared
	pair[signpost.Service]
	slots []*slot
	hosts []string // that {{host}} is filled in with, one after the other
}

// slot is a version of a service that exists before the change, after it, or both.
type slot struct {
	service, version string
	known            string // the version, or what the URLs say about it
	source           string // of what is registered besides
	besides          bool   // registered alongside, not compared
	pair[signpost.Version]

	declared signpost.Hosts    // by either definition
	certain  map[string]bool   // hosts on which it is, and not only perhaps, because a suffix covers them
	earlier  signpost.Hosts    // those that it was on before; empty means all of them
	hosts    [2][]string       // on which it is registered, before and after
	urls     [2][]signpost.URL // of the endpoints, as written
}

// makePlan pairs the services and their versions.
func (d *differ) makePlan(olds, news []signpost.Service) (err error) {
	p := &plan{host: d.Host}
	d.plan = p
	olds, news, d.Registered = withoutMarks(olds), withoutMarks(news), unmarked(d.Registered)
	manifest, definitions := d.mixed(olds, news)
	switch {
	case d.Export:
		err = d.planExport(olds, news)
	case manifest != nil:
		err = d.planManifest(manifest, definitions, manifest == &olds[0])
	default:
		err = d.pairServices(olds, news)
	}
	if err != nil {
		return err
	}
	for _, c := range p.comparisons {
		p.register(c.slots...)
	}
	p.sortAfter(news)
	for i := range d.Registered {
		v := &d.Registered[i]
		at := newSlot("", pair[signpost.Version]{v, v})
		at.source, at.declared, at.besides = v.Source, v.Hosts, true
		p.register(at)
	}
	p.assignHosts()
	return nil
}

// label returns what changes call a service.
func (d *differ) label(s *signpost.Service) string {
	if d.several {
		return s.BasePath
	}
	return ""
}

// pairServices compares each service with its other state, and each version of it.
func (d *differ) pairServices(olds, news []signpost.Service) error {
	if len(olds) == 1 && len(news) == 1 && olds[0].Served && news[0].Served {
		d.plan.moves = joinManifests(&olds[0], &news[0])
		if !hasHost(olds[0].Versions...) {
			d.plan.host = "" // they are compared as they are
		}
	}
	key := d.label
	if len(olds) > 1 || len(news) > 1 {
		joined := joinByURLs(olds, news)
		key = func(s *signpost.Service) string {
			if isAnonymous(s) {
				return cmp.Or(joined[s], s.Versions[0].Source)
			}
			return d.label(s)
		}
	}
	pairs, _ := pairUp(olds, news, key)
	if len(pairs) > 1 {
		if err := completeManifests(pairs); err != nil {
			return err
		}
		pairs = d.pairUnknown(pairs)
	}
	for _, s := range pairs {
		d.plan.comparisons = append(d.plan.comparisons, d.newComparison(s))
	}
	return nil
}

// isAnonymous reports whether a service is a manifest that does not tell its base path.
func isAnonymous(s *signpost.Service) bool {
	return s.Served && s.BasePath == "" && len(s.Versions) == 1
}

// joinByURLs returns keys for anonymous manifests that have URLs in common, the same for two. Those with the most come
// first.
func joinByURLs(olds, news []signpost.Service) map[*signpost.Service]string {
	type candidate struct {
		old, new *signpost.Service
		common   int
	}
	var candidates []candidate
	for i := range olds {
		urls := urlSetOf(olds[i].Versions...)
		for j := range news {
			if isAnonymous(&olds[i]) && isAnonymous(&news[j]) {
				candidates = append(candidates, candidate{&olds[i], &news[j], urls.common("", news[j].Versions...)})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.common - a.common })
	keys := make(map[*signpost.Service]string)
	for _, c := range candidates {
		if c.common > 0 && keys[c.old] == "" && keys[c.new] == "" {
			keys[c.old] = fmt.Sprintf("manifest %d", len(keys))
			keys[c.new] = keys[c.old]
		}
	}
	return keys
}

// completeManifests compares anonymous manifests without a counterpart with an empty one, unless that may be a
// definition on the other side that has none either.
func completeManifests(pairs []pair[signpost.Service]) error {
	for i, p := range pairs {
		alone := cmp.Or(p.old, p.new)
		if !isAnonymous(alone) || p.old != nil && p.new != nil {
			continue
		}
		urls := urlSetOf(alone.Versions...)
		for _, other := range pairs {
			facing := cmp.Or(other.old, other.new)
			isFacing := (other.old == nil) != (other.new == nil) && (other.old == nil) != (p.old == nil)
			hasPath := func(u signpost.URL) bool { return len(urls.byRest[u.Rest()]) > 0 }
			if isFacing && !facing.Served && slices.ContainsFunc(urlsOf(facing.Versions...), hasPath) {
				return UndecidedService
			}
		}
		empty := &signpost.Service{Served: true, Versions: []signpost.Version{{Name: alone.Versions[0].Name}}}
		pairs[i] = pair[signpost.Service]{cmp.Or(p.old, empty), cmp.Or(p.new, empty)}
	}
	return nil
}

// pairUnknown pairs services whose base path had an error with the only new one that has URLs of theirs. Without one
// they are left out: they were never published.
func (d *differ) pairUnknown(pairs []pair[signpost.Service]) []pair[signpost.Service] {
	for i, p := range pairs {
		if p.old == nil || p.new != nil || d.label(p.old) != "" {
			continue
		}
		pairs[i].old = nil
		urls := urlSetOf(p.old.Versions...)
		var fits []*pair[signpost.Service]
		for j, other := range pairs {
			if other.old == nil && other.new != nil && urls.common("", other.new.Versions...) > 0 {
				fits = append(fits, &pairs[j])
			}
		}
		if len(fits) == 1 {
			fits[0].old = p.old
		}
	}
	return slices.DeleteFunc(pairs, func(p pair[signpost.Service]) bool { return p.old == nil && p.new == nil })
}

// newComparison compares each version of a service.
func (d *differ) newComparison(services pair[signpost.Service]) *comparison {
	c := &comparison{name: d.label(cmp.Or(services.new, services.old)), pair: services}
	was, is := cmp.Or(c.old, &signpost.Service{}), cmp.Or(c.new, &signpost.Service{})
	versions, _ := pairUp(was.Versions, is.Versions, func(v *signpost.Version) string { return v.Name })
	for _, v := range versions {
		at := newSlot(c.name, v)
		at.declared = c.declared()
		if !was.Served && !is.Served {
			at.earlier = was.Hosts
		}
		c.slots = append(c.slots, at)
	}
	return c
}

func newSlot(service string, versions pair[signpost.Version]) *slot {
	at := &slot{service: service, version: cmp.Or(versions.old, versions.new).Name, pair: versions}
	at.known = cmp.Or(at.version, versionIn(versions.all()...))
	return at
}

// declared returns the hosts that either definition declares.
func (c *comparison) declared() signpost.Hosts {
	var hosts signpost.Hosts
	for _, s := range c.all() {
		if !s.Served {
			hosts = append(hosts, s.Hosts...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(hosts)))
}

// register adds slots to the states that they have.
func (p *plan) register(slots ...*slot) {
	for _, at := range slots {
		for _, s := range []state{before, after} {
			if v := at.in(s); v != nil {
				p.registered[s] = append(p.registered[s], at)
				at.urls[s] = urlsOf(*v)
			}
		}
	}
}

// sortAfter sorts what is registered after the change into the order of the services. Routes have none, but ties
// between endpoints go to the one that was registered first.
func (p *plan) sortAfter(news []signpost.Service) {
	position := make(map[*signpost.Version]int)
	for _, s := range news {
		for i := range s.Versions {
			position[&s.Versions[i]] = len(position) + 1
		}
	}
	slices.SortStableFunc(p.registered[after], func(a, b *slot) int { return position[a.new] - position[b.new] })
}

// reordered reports whether versions that exist before and after are registered in another order.
func (p *plan) reordered() bool {
	kept := func(slots []*slot) []*slot {
		return slices.DeleteFunc(slices.Clone(slots), func(s *slot) bool { return s.old == nil || s.new == nil })
	}
	return !slices.Equal(kept(p.registered[before]), kept(p.registered[after]))
}

// assignHosts determines on which hosts everything is registered and compared. Two services meet on the hosts that both
// can have. If one of them declares none, they are taken to meet on a stand-in, or on the host of a manifest.
func (p *plan) assignHosts() {
	var names []string // that something declares, and stand-ins for suffixes
	known := make(map[string]bool)
	isOpen := false // something does not declare what its {{host}} stands for
	all := slices.Concat(p.registered[before], p.registered[after])
	for _, at := range all {
		urls := slices.Concat(at.urls[before], at.urls[after])
		isOpen = isOpen || len(at.declared) == 0 && slices.ContainsFunc(urls, signpost.URL.HasHostPlaceholder)
		for _, entry := range at.declared {
			if name := nameFor(entry); !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	unknown := cmp.Or(p.host, standIn)
	on := func(hosts signpost.Hosts) []string {
		has := hasOf(hosts)
		some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !has(name) })
		isThere := len(hosts) == 0 || p.host == "" && isOpen || p.host != "" && hosts.Has(p.host)
		if isThere && !slices.Contains(some, unknown) {
			some = append(some, unknown)
		}
		return some
	}
	for _, at := range all {
		if at.certain != nil {
			continue // it is there before and after
		}
		at.certain = map[string]bool{unknown: unknown == standIn || !at.besides}
		for _, name := range at.hosts[after] {
			at.certain[name] = true
		}
		for _, entry := range at.declared {
			at.certain[nameFor(entry)] = true
		}
		if at.hosts[after] == nil {
			at.hosts[after] = on(at.declared)
		}
		hadBefore := hasOf(at.earlier)
		at.hosts[before] = slices.DeleteFunc(slices.Clone(at.hosts[after]), func(name string) bool {
			return name != standIn && len(at.earlier) > 0 && !hadBefore(name)
		})
	}
	for _, c := range p.comparisons {
		switch {
		case c.hosts != nil:
		case p.host != "":
			c.hosts = []string{p.host}
		default:
			c.hosts = on(c.declared())
		}
	}
	p.findAlike()
}

// hasOf returns hosts.Has for normalized names, in a form that does not look at each host for each name.
func hasOf(hosts signpost.Hosts) func(name string) bool {
	exact := make(map[string]bool, len(hosts))
	for _, entry := range hosts {
		exact[entry] = true
	}
	isExact := func(entry string) bool { return !strings.HasPrefix(entry, "*") && !strings.HasPrefix(entry, ".") }
	suffixes := slices.DeleteFunc(slices.Clone(hosts), isExact)
	return func(name string) bool { return exact[name] || len(suffixes) > 0 && suffixes.Has(name) }
}

// findAlike finds hosts that are alike, so that one of them is enough.
func (p *plan) findAlike() {
	var versions []signpost.Version
	for _, s := range []state{before, after} {
		for _, at := range p.registered[s] {
			isCertain := func(name string) bool { return at.certain[name] }
			perhaps := slices.DeleteFunc(slices.Clone(at.hosts[s]), isCertain)
			versions = append(versions, signpost.Version{Manifest: at.in(s).Manifest, Hosts: at.hosts[s]},
				signpost.Version{Hosts: perhaps})
		}
	}
	for _, c := range p.comparisons {
		versions = append(versions, signpost.Version{Hosts: c.hosts})
	}
	p.alike = match.Alike(versions...)
}

// nameFor returns the host for an entry of a list of hosts: a stand-in if it is a suffix.
func nameFor(entry string) string {
	if suffix, wild := strings.CutPrefix(entry, "*"); wild {
		return standInLabel + suffix
	}
	return strings.TrimPrefix(entry, ".")
}

// withoutMarks returns copies of services with their manifests as they are served.
func withoutMarks(services []signpost.Service) []signpost.Service {
	services = slices.Clone(services)
	for i := range services {
		services[i].Versions = unmarked(services[i].Versions)
	}
	return services
}

func unmarked(versions []signpost.Version) []signpost.Version {
	versions = slices.Clone(versions)
	for i, v := range versions {
		versions[i].Manifest = v.Manifest.Served()
	}
	return versions
}
