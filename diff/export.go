package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

// planExport compares what a studio has on the hosts of the new services with all versions of them at once. Everything
// else that the studio has counts as registered besides.
func (d *differ) planExport(olds, news []signpost.Service) error {
	var hosts signpost.Hosts
	for _, s := range news {
		if len(s.Hosts) == 0 {
			return UndecidedHosts
		}
		hosts = append(hosts, s.Hosts...)
	}
	var studio signpost.Manifest
	for _, s := range olds {
		if !s.Served {
			return UndecidedExport
		}
		for _, v := range s.Versions {
			studio.Endpoints = append(studio.Endpoints, v.Manifest.Endpoints...)
		}
	}
	names := slices.Compact(hosts.Exact())
	for u := range studio.All() {
		if host := hostname(u); hosts.Has(host) && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	p := d.plan
	p.host = names[0]
	var unregistered []*comparison // on hosts on which nobody has registered them
	for _, host := range names {
		c, rest := d.exportOn(host, studio, news)
		if len(rest.Endpoints) == len(studio.Endpoints) {
			unregistered = append(unregistered, c)
			continue
		}
		p.comparisons = append(p.comparisons, c)
		studio = rest
	}
	if len(p.comparisons) == 0 {
		p.comparisons = unregistered
	}
	d.noteSubdomains(names, studio)
	last := p.comparisons[len(p.comparisons)-1]
	others := &signpost.Version{Manifest: studio}
	last.addBesides("", pair[signpost.Version]{others, others})
	isOwn := func(e signpost.Endpoint) bool {
		u := signpost.CutURL(e.URL)
		return u.HasHostPlaceholder() || hosts.Has(u.Hostname())
	}
	for i := range news {
		for _, v := range news[i].Versions {
			v.Manifest.Endpoints = slices.DeleteFunc(slices.Clone(v.Manifest.Endpoints), isOwn)
			last.addBesides(d.label(&news[i]), pair[signpost.Version]{new: &v})
		}
	}
	return nil
}

// noteSubdomains says on which subdomains of the hosts of NEW it has no URLs: whether those that others seem to have
// there are its own, such as https://cdn.{{host}}/ was, nothing tells.
func (d *differ) noteSubdomains(hosts []string, others signpost.Manifest) {
	var below []string
	for u := range others.All() {
		name := hostname(u)
		isBelow := func(host string) bool { return strings.HasSuffix(name, "."+host) }
		isRegistered := func(v signpost.Version) bool { return v.Hosts.Has(name) }
		if slices.ContainsFunc(hosts, isBelow) && !slices.ContainsFunc(d.Registered, isRegistered) {
			below = append(below, name)
		}
	}
	below = slices.Compact(slices.Sorted(slices.Values(below)))
	if len(below) > 0 {
		d.Note(fmt.Sprintf("OLD has URLs on %s, where NEW has none: they count as somebody else's; "+
			"if they are not, list the host under hosts", spell.First(below, 3)))
	}
}

// addBesides adds a version whose URLs are all written out.
func (c *comparison) addBesides(service string, states pair[signpost.Version]) {
	at := newSlot(service, states)
	at.besides, at.hosts[after] = true, c.hosts
	c.slots = append(c.slots, at)
}

// exportOn compares the endpoints that a studio has on one host with those of all services that declare it. It returns
// the other endpoints of the studio: those of other hosts, and those that something has which is registered besides.
func (d *differ) exportOn(
	host string, studio signpost.Manifest, services []signpost.Service,
) (c *comparison, rest signpost.Manifest) {
	manifest := &signpost.Service{Served: true}
	c = &comparison{pair: pair[signpost.Service]{manifest, manifest}, hosts: []string{host}}
	add := func(service, version, known string) *slot {
		at := &slot{service: service, version: version, known: known}
		at.old, at.new, at.hosts[after] = &signpost.Version{}, &signpost.Version{}, c.hosts
		c.slots = append(c.slots, at)
		return at
	}
	has := make(map[string]*slot)      // by URL
	own := map[string]bool{host: true} // the host, and those of which it is a part
	for i := range services {
		s := &services[i]
		if !s.Hosts.Has(host) {
			continue
		}
		for _, v := range s.Versions {
			at := add(d.label(s), v.Name, v.Name)
			for written, e := range endpointsOf(v) {
				u := written.Resolve(host)
				if has[canonical(u)] == nil && (hostname(u) == host || written.HasHostPlaceholder()) {
					has[canonical(u)], own[hostname(u)] = at, true
					at.new.Manifest.Endpoints = append(at.new.Manifest.Endpoints, *e)
				}
			}
		}
	}
	besides := make(map[string]bool)
	for _, v := range d.Registered {
		for u := range endpointsOf(v) {
			if !u.HasHostPlaceholder() || len(v.Hosts) == 0 || v.Hosts.Has(host) {
				besides[canonical(u.Resolve(host))] = true
			}
		}
	}
	gone := make(map[string]*slot) // by the version in the URL
	for u, e := range studio.All() {
		url := canonical(u)
		at := has[url]
		if at == nil && (besides[url] || !own[hostname(u)]) {
			rest.Endpoints = append(rest.Endpoints, *e)
			continue
		}
		if at == nil {
			version := cmp.Or(routes.VersionIn(u), "v1")
			if gone[version] == nil {
				gone[version] = add("", "", version)
			}
			at = gone[version]
		}
		at.old.Manifest.Endpoints = append(at.old.Manifest.Endpoints, *e)
	}
	return c, rest
}

// hostname returns the host of a URL in lower case.
func hostname(u signpost.URL) string { return strings.ToLower(u.Hostname()) }

// fillIn completes an endpoint of an export with what it does not say, so that this is not compared.
func fillIn(old *signpost.Endpoint, new signpost.Endpoint) {
	old.Name = cmp.Or(old.Name, new.Name)
	old.Method = cmp.Or(old.Method, new.Method)
	old.MIMEType = cmp.Or(old.MIMEType, new.MIMEType)
	if old.Modifiers == nil {
		old.Modifiers = new.Modifiers
	}
	if old.ContextObj == nil {
		old.ContextObj = new.ContextObj
	}
	old.ContextObj = slices.Clone(old.ContextObj)
	for i, item := range old.ContextObj {
		if same := contextItem(&new, item.Key); same != nil {
			old.ContextObj[i].Type = cmp.Or(item.Type, same.Type)
		}
	}
}
