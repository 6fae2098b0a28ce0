package diff

import (
	"cmp"
	"slices"

	"signpost"
)

// plan says what is compared with what, for which hosts, and what is registered around it.
type plan struct {
	name          func(*signpost.Service) string // for labels, and to pair services
	comparisons   []*comparison
	before, after []*slot // everything that is registered, in order
	host          string  // what {{host}} is filled in with; empty if changes are about every host
	rendered      bool    // changes show URLs with the host filled in
	moves         [][2]string
}

// plan pairs the services and their versions.
func (d *differ) plan(olds, news []signpost.Service, name func(*signpost.Service) string) (p *plan, err error) {
	p = &plan{name: name, host: d.Host}
	olds, news, d.Registered = served(olds), served(news), asServed(d.Registered)
	manifest, definitions := mixed(olds, news)
	switch {
	case d.Export:
		err = d.planExport(p, olds, news)
	case manifest != nil:
		err = d.planManifest(p, manifest, definitions, manifest == &olds[0])
	default:
		p.pairServices(olds, news)
	}
	if err != nil {
		return nil, err
	}
	p.rendered = p.rendered || p.host != ""
	for _, c := range p.comparisons {
		p.register(c.slots...)
	}
	p.sortAfter(news)
	d.registerBesides(p)
	return p, nil
}

// pairServices compares each service with its other state, and each version of it.
func (p *plan) pairServices(olds, news []signpost.Service) {
	if len(olds) == 1 && len(news) == 1 && olds[0].Served && news[0].Served {
		p.moves = joinManifests(&olds[0], &news[0])
		if !hasHost(olds[0].Versions...) && !hasHost(news[0].Versions...) {
			p.host = "" // they are compared as they are
		}
	}
	pairs, _ := pairUp(olds, news, p.name)
	for _, s := range pairUnknown(pairs, p.name) {
		p.comparisons = append(p.comparisons, newComparison(p.name(cmp.Or(s.new, s.old)), s.old, s.new))
	}
}

// pairUnknown pairs services whose base path had an error with the only new one that has URLs of theirs. Without one
// they are left out: they were never published.
func pairUnknown(pairs []pair[signpost.Service], name func(*signpost.Service) string) []pair[signpost.Service] {
	if len(pairs) == 1 {
		return pairs
	}
	for i, p := range pairs {
		if p.old == nil || p.new != nil || name(p.old) != "" {
			continue
		}
		pairs[i].old = nil
		var fits []*pair[signpost.Service]
		for j, other := range pairs {
			if other.old == nil && other.new != nil && urlsOf(p.old.Versions...).common("", other.new.Versions...) > 0 {
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
func newComparison(name string, old, new *signpost.Service) *comparison {
	c := &comparison{name: name, pair: pair[signpost.Service]{old, new}}
	was, is := cmp.Or(old, &signpost.Service{}), cmp.Or(new, &signpost.Service{})
	var before signpost.Hosts
	if !was.Served && !is.Served {
		before = was.Hosts
	}
	versions, _ := pairUp(was.Versions, is.Versions, func(v *signpost.Version) string { return v.Name })
	for _, v := range versions {
		version := cmp.Or(v.old, v.new).Name
		c.slots = append(c.slots, &slot{service: name, version: version, pair: v, declared: c.declared(), before: before})
	}
	return c
}

// register adds slots to the states that they have.
func (p *plan) register(slots ...*slot) {
	for _, at := range slots {
		if at.old != nil {
			p.before = append(p.before, at)
		}
		if at.new != nil {
			p.after = append(p.after, at)
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
	slices.SortStableFunc(p.after, func(a, b *slot) int { return position[a.new] - position[b.new] })
}

// served returns copies of services with their manifests as they are served.
func served(services []signpost.Service) []signpost.Service {
	services = slices.Clone(services)
	for i := range services {
		services[i].Versions = asServed(services[i].Versions)
	}
	return services
}

func asServed(versions []signpost.Version) []signpost.Version {
	versions = slices.Clone(versions)
	for i, v := range versions {
		versions[i].Manifest = v.Manifest.Served()
	}
	return versions
}

// states returns the states of a version that exist.
func (at *slot) states() []signpost.Version {
	var states []signpost.Version
	for _, v := range []*signpost.Version{at.old, at.new} {
		if v != nil {
			states = append(states, *v)
		}
	}
	return states
}

func oldState(s *slot) *signpost.Version { return s.old }
func newState(s *slot) *signpost.Version { return s.new }

// reordered reports whether versions that exist before and after are registered in another order.
func (p *plan) reordered() bool {
	kept := func(slots []*slot) []*slot {
		return slices.DeleteFunc(slices.Clone(slots), func(s *slot) bool { return s.old == nil || s.new == nil })
	}
	return !slices.Equal(kept(p.before), kept(p.after))
}

// registerBesides adds what is registered alongside, and determines for which hosts everything is rendered.
func (d *differ) registerBesides(p *plan) {
	for i := range d.Registered {
		v := &d.Registered[i]
		same := pair[signpost.Version]{v, v}
		p.register(&slot{source: v.Source, version: v.Name, besides: true, pair: same, declared: v.Hosts})
	}
	all := slices.Concat(p.before, p.after)
	names := hostNames{only: p.host}
	for _, at := range all {
		names.declare(at)
	}
	for _, at := range all {
		if at.hosts == nil {
			at.hosts = names.of(at.declared)
		}
		if at.known == "" {
			at.known = cmp.Or(at.version, versionIn(at.states()...))
		}
	}
	for _, c := range p.comparisons {
		switch {
		case c.hosts != nil:
		case p.host != "":
			c.hosts = []string{p.host}
		default:
			c.hosts = names.of(c.declared())
		}
	}
}

// declared returns the hosts that either definition declares.
func (c *comparison) declared() signpost.Hosts {
	var hosts signpost.Hosts
	for _, s := range []*signpost.Service{c.old, c.new} {
		if s != nil && !s.Served {
			hosts = append(hosts, s.Hosts...)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(hosts)))
}
