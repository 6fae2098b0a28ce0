package diff

import (
	"cmp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
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
	var studio []signpost.Endpoint
	for _, s := range olds {
		if !s.Served {
			return UndecidedExport
		}
		for _, v := range s.Versions {
			studio = append(studio, v.Manifest.Endpoints...)
		}
	}
	names := slices.Compact(hosts.Exact())
	for _, e := range studio {
		if host := hostname(e.URL); hosts.Has(host) && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	p := d.plan
	p.host = names[0]
	for i, host := range names {
		c, rest := d.exportOn(host, studio, news)
		isLast := i == len(names)-1 && len(p.comparisons) == 0
		if len(rest) < len(studio) || isLast { // else nobody has registered it there
			p.comparisons = append(p.comparisons, c)
			studio = rest
		}
	}
	last := p.comparisons[len(p.comparisons)-1]
	others := signpost.Version{Manifest: signpost.Manifest{Endpoints: studio}}
	last.addBesides("", pair[signpost.Version]{&others, &others})
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

// addBesides adds a version whose URLs are all written out.
func (c *comparison) addBesides(service string, states pair[signpost.Version]) {
	at := newSlot(service, states)
	at.besides, at.hosts[after] = true, []string{standIn}
	c.slots = append(c.slots, at)
}

// exportOn compares the endpoints that a studio has on one host with those of all services that declare it. It returns
// the other endpoints of the studio: those of other hosts, and those that something has which is registered besides.
func (d *differ) exportOn(
	host string, studio []signpost.Endpoint, services []signpost.Service,
) (c *comparison, rest []signpost.Endpoint) {
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
			for _, e := range v.Manifest.Endpoints {
				url := canonical(fill(e.URL, host))
				if has[url] != nil || hostname(url) != host && !signpost.CutURL(e.URL).HasHostPlaceholder() {
					continue
				}
				has[url], own[hostname(url)] = at, true
				at.new.Manifest.Endpoints = append(at.new.Manifest.Endpoints, e)
			}
		}
	}
	besides := make(map[string]bool)
	for _, v := range d.Registered {
		for _, e := range v.Manifest.Endpoints {
			if len(v.Hosts) == 0 || v.Hosts.Has(host) {
				besides[canonical(fill(e.URL, host))] = true
			}
		}
	}
	gone := make(map[string]*slot) // by the version in the URL
	for _, e := range studio {
		url := canonical(e.URL)
		at := has[url]
		if at == nil && (besides[url] || !own[hostname(url)]) {
			rest = append(rest, e)
			continue
		}
		if at == nil {
			version := cmp.Or(routes.VersionIn(signpost.CutURL(e.URL)), "v1")
			if gone[version] == nil {
				gone[version] = add("", "", version)
			}
			at = gone[version]
		}
		at.old.Manifest.Endpoints = append(at.old.Manifest.Endpoints, e)
	}
	return c, rest
}

// hostname returns the host of a URL in lower case.
func hostname(url string) string { return strings.ToLower(signpost.CutURL(url).Hostname()) }

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
