// Package diff tells what a change of a service means to studios that registered the state before: to their feeds, the
// values that editors saved, and the requests of apps.
//
// [Diff] compares two states of a service. A file of accepted changes, read by [ParseAccepted], marks the breaking ones
// that are intended.
package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"signpost"
)

// Diff returns the changes from old to new, never nil. They are grouped by version; within a version, the endpoints of
// old come first, in their order, followed by the added ones. If the JSON of a manifest differs, there is at least one
// change. If one of the services was served for a host, both are compared as served for it. Of an old state with errors,
// Diff compares what could be published.
//
// All versions count as registered together. Others are further registered manifests: they take part in overlap, before
// and after the change, but are not compared themselves.
func Diff(old, new signpost.Service, others ...signpost.Version) []Change {
	unnamed := func(*signpost.Service) string { return "" }
	return compare([]signpost.Service{old}, []signpost.Service{new}, others, unnamed)
}

// Services compares services that are registered together, paired by base path. Each change names the base path of its
// service. Otherwise it works like [Diff]; of several services, {{host}} must be unresolved.
func Services(before, after []signpost.Service, others ...signpost.Version) []Change {
	return compare(before, after, others, func(s *signpost.Service) string { return s.BasePath })
}

// differ collects changes and labels each with the current service, version and endpoint.
type differ struct {
	service, version, endpoint string
	changes                    []Change
	hosts                      hosts
	deprecations               map[signpost.Part]*signpost.Deprecation // of the old state of the service
	reordered                  bool                                    // ties between versions can go to another one
	registrations              func() (before, after *registration)    // most comparisons need none of it
}

// slot is a version of a service that exists in the old state, the new state, or both.
type slot struct {
	service, version string
	besides          bool // registered alongside, not compared; service holds its source
	pair[signpost.Version]
}

// compare pairs services by their names, and compares each pair.
func compare(olds, news []signpost.Service, others []signpost.Version, name func(*signpost.Service) string) []Change {
	d := differ{changes: []Change{}}
	if len(olds) == 1 && len(news) == 1 {
		old, new, hosts := align(olds[0], news[0])
		olds, news, d.hosts = []signpost.Service{old}, []signpost.Service{new}, hosts
	}
	olds = slices.Clone(olds)
	services, _ := pairUp(olds, news, name)
	slots := make([][]*slot, len(services))
	of := make(map[*signpost.Version]*slot)
	added := make(map[string]string) // base paths of added services, by their URLs
	for i, s := range services {
		switch {
		case s.old == nil:
			added[urls(s.new)] = s.new.BasePath
		case s.new != nil:
			*s.old = repaired(*s.old, *s.new)
		}
		// The order of versions is irrelevant: each has its own route.
		was, is := cmp.Or(s.old, &signpost.Service{}), cmp.Or(s.new, &signpost.Service{})
		versions, _ := pairUp(was.Versions, is.Versions, func(v *signpost.Version) string { return v.Name })
		for _, v := range versions {
			at := &slot{service: name(cmp.Or(s.old, s.new)), version: cmp.Or(v.old, v.new).Name, pair: v}
			of[v.old], of[v.new] = at, at
			slots[i] = append(slots[i], at)
		}
	}
	before, after := inOrder(olds, of), inOrder(news, of)
	lacks := func(s *slot) bool { return s.old == nil || s.new == nil }
	d.reordered = !slices.Equal(slices.DeleteFunc(slices.Clone(before), lacks), slices.DeleteFunc(slices.Clone(after), lacks))
	for i := range others {
		at := &slot{others[i].Source, others[i].Name, true, pair[signpost.Version]{&others[i], &others[i]}}
		before, after = append(before, at), append(after, at)
	}
	d.registrations = sync.OnceValues(func() (_, _ *registration) {
		return register(before, func(s *slot) *signpost.Version { return s.old }), register(after, func(s *slot) *signpost.Version { return s.new })
	})
	for i, s := range services {
		d.service, d.version, d.endpoint = name(cmp.Or(s.old, s.new)), "", ""
		switch {
		case s.old == nil:
			d.add(ChangeServiceAdded, place{}, nil, manifests(s.new.Versions), "service added")
			for _, at := range slots[i] {
				d.takenOverBy(at)
			}
		case s.new == nil:
			d.deprecations = s.old.Deprecations
			hint := ""
			if to := added[urls(s.old)]; to != "" {
				hint = fmt.Sprintf("; perhaps moved to %q, which has the same endpoints", to)
			}
			d.add(ChangeServiceRemoved, place{}, manifests(s.old.Versions), nil, "service removed, with all of its versions%s", hint)
		default:
			d.deprecations = s.old.Deprecations
			if was, is := s.old.BasePath, s.new.BasePath; was != is && was != "" && is != "" {
				d.add(ChangeBasePath, place{}, was, is, "base path changed from %q to %q: the manifests have new addresses, which must be registered again", was, is)
			}
			for _, at := range slots[i] {
				d.compareVersion(at)
			}
		}
	}
	return d.changes
}

// inOrder returns the slots of the versions of services, in their order.
func inOrder(services []signpost.Service, of map[*signpost.Version]*slot) []*slot {
	var all []*slot
	for _, s := range services {
		for i := range s.Versions {
			all = append(all, of[&s.Versions[i]])
		}
	}
	return all
}

// manifests returns copies of the manifests, keyed by version.
func manifests(versions []signpost.Version) map[string]signpost.Manifest {
	all := make(map[string]signpost.Manifest, len(versions))
	for _, v := range versions {
		all[v.Name] = signpost.NewManifest(v.Manifest.Endpoints...)
	}
	return all
}

// urls returns the URLs of a service as one text.
func urls(s *signpost.Service) string {
	var all []string
	for _, v := range s.Versions {
		for _, e := range v.Manifest.Endpoints {
			all = append(all, e.URL)
		}
	}
	return strings.Join(all, " ")
}

func (d *differ) compareVersion(at *slot) {
	d.version, d.endpoint = at.version, ""
	switch {
	case at.new == nil:
		d.add(ChangeVersionRemoved, place{}, signpost.NewManifest(at.old.Manifest.Endpoints...), nil, "version removed, with all of its endpoints")
	case at.old == nil:
		d.add(ChangeVersionAdded, place{}, nil, signpost.NewManifest(at.new.Manifest.Endpoints...), "version added")
		d.takenOverBy(at)
	default:
		d.manifest(at)
	}
}

func (d *differ) manifest(at *slot) {
	old, new := at.old.Manifest, at.new.Manifest
	url := func(e *signpost.Endpoint) string { return e.URL }
	pairs, moved := pairUp(old.Endpoints, new.Endpoints, url)
	pairs = pairRest(pairs, func(e *signpost.Endpoint) string { return canonical(e.URL) })

	// Endpoints have no id, so a new URL is a new endpoint. Its name may still hint at where the old one went.
	places := make(map[string][]string)
	for _, p := range pairs {
		if p.old == nil {
			places[p.new.Name] = append(places[p.new.Name], p.new.URL)
		}
	}
	for _, p := range pairs {
		switch {
		case p.new == nil:
			d.endpoint = p.old.URL
			hint := ""
			if to := places[p.old.Name]; len(to) == 1 {
				hint = fmt.Sprintf("; perhaps moved to %q, which has the same name", to[0])
			}
			d.add(ChangeEndpointRemoved, place{}, p.old.Clone(), nil, "endpoint %q removed%s", p.old.Name, hint)
		case p.old == nil:
			d.endpoint = p.new.URL
			d.add(ChangeEndpointAdded, place{}, nil, p.new.Clone(), "endpoint %q added", p.new.Name)
			d.takenOver(at, *p.new)
		default:
			d.endpoint = p.old.URL
			respelled := p.old.URL != p.new.URL
			if respelled {
				d.add(ChangeURL, place{subject: []string{d.hosts.open(p.new.URL)}}, p.old.URL, p.new.URL, "URL changed to %q, which is the same to clients", p.new.URL)
			}
			d.descriptor(*p.old, *p.new)
			if moved || d.reordered || respelled { // ties between endpoints go to the first one
				d.takenOver(at, *p.new)
			}
		}
	}
	d.endpoint = ""
	if moved {
		d.add(ChangeOrder, place{}, keysOf(old.Endpoints, url), keysOf(new.Endpoints, url), "endpoints are in another order")
	}
}

// place is what a change concerns inside an endpoint.
type place struct {
	prefix  string   // of messages about it
	subject []string // path to it, for the fingerprint
}

// sub returns a place nested in p, with the same prefix.
func (p place) sub(steps ...string) place {
	p.subject = append(p.subject[:len(p.subject):len(p.subject)], steps...)
	return p
}

func (d *differ) add(rule string, at place, old, new any, format string, args ...any) {
	c := Change{
		Rule: rule, Level: levels[rule], Service: d.service, Version: d.version, Endpoint: d.endpoint, Written: d.hosts.open(d.endpoint),
		Message: at.prefix + fmt.Sprintf(format, args...), Old: old, New: new,
	}
	c.Fingerprint = c.fingerprint(at.subject)
	d.lower(&c)
	d.changes = append(d.changes, c)
}

// text compares two strings of the manifest. Empty means absent.
func (d *differ) text(rule string, at place, what, old, new string) {
	at = at.sub(what)
	switch {
	case old == new:
	case old == "":
		d.add(rule, at, nil, new, "%s %q added", what, new)
	case new == "":
		d.add(rule, at, old, nil, "%s %q removed", what, old)
	default:
		d.add(rule, at, old, new, "%s changed from %q to %q", what, old, new)
	}
}

// pair holds the matching items of two lists; nil means the list has none.
type pair[T any] struct{ old, new *T }

// pairUp pairs the n-th item with a given key in old with the n-th item with that key in new. Items of old come first,
// in their order, followed by those only in new. moved reports whether the common items are ordered differently.
func pairUp[T any](old, new []T, key func(*T) string) (pairs []pair[T], moved bool) {
	open := make(map[string][]int, len(new)) // unpaired items of new, by key
	for i := range new {
		k := key(&new[i])
		open[k] = append(open[k], i)
	}
	taken := make([]bool, len(new))
	last := -1
	for i := range old {
		p := pair[T]{old: &old[i]}
		k := key(p.old)
		if at := open[k]; len(at) > 0 {
			open[k] = at[1:]
			p.new = &new[at[0]]
			taken[at[0]] = true
			moved = moved || at[0] < last
			last = at[0]
		}
		pairs = append(pairs, p)
	}
	for i := range new {
		if !taken[i] {
			pairs = append(pairs, pair[T]{new: &new[i]})
		}
	}
	return pairs, moved
}

// pairRest pairs a removed item with an added one if both have the same key, and no other removed or added item does. An
// empty key matches nothing.
func pairRest[T any](pairs []pair[T], key func(*T) string) []pair[T] {
	removed, added := make(map[string][]int), make(map[string][]int)
	for i, p := range pairs {
		switch {
		case p.new == nil:
			removed[key(p.old)] = append(removed[key(p.old)], i)
		case p.old == nil:
			added[key(p.new)] = append(added[key(p.new)], i)
		}
	}
	for k, at := range removed {
		if to := added[k]; k != "" && len(at) == 1 && len(to) == 1 {
			pairs[at[0]].new, pairs[to[0]].new = pairs[to[0]].new, nil
		}
	}
	return slices.DeleteFunc(pairs, func(p pair[T]) bool { return p.old == nil && p.new == nil })
}

// canonical returns a URL as it is compared with feeds: the case of its scheme and host does not matter.
func canonical(url string) string {
	u := signpost.CutURL(url)
	return u.Origin() + u.Rest()
}

// keysOf returns the keys of items, in order.
func keysOf[T any](items []T, key func(*T) string) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = key(&items[i])
	}
	return keys
}
