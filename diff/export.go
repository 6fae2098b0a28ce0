package diff

import (
	"cmp"
	"slices"
	"strings"

	"signpost"
)

// planExport compares what a studio has on the hosts of the new services with all versions of them at once. Everything else
// that the studio has counts as registered besides.
func (d *differ) planExport(p *plan, olds, news []signpost.Service, name func(*signpost.Service) string) error {
	var hosts signpost.Hosts
	for _, s := range news {
		if len(s.Hosts) == 0 {
			return &UndecidedError{UndecidedHosts, "nothing tells which endpoints of the export are the service's own"}
		}
		hosts = append(hosts, s.Hosts...)
	}
	var all []signpost.Endpoint
	names := slices.Compact(hosts.Exact())
	for _, s := range olds {
		for _, v := range s.Versions {
			all = append(all, v.Manifest.Endpoints...)
		}
	}
	for _, e := range all {
		if host := hostname(e.URL); hosts.Has(host) && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	owned := make(map[string]bool) // hosts that are compared
	for _, host := range names {
		c := exportOn(host, all, news, name)
		if len(c.slots[0].old.Manifest.Endpoints) == 0 && (host != names[len(names)-1] || len(p.comparisons) > 0) {
			continue // nobody has registered it there
		}
		p.comparisons = append(p.comparisons, c)
		p.before, p.after = append(p.before, c.slots[0]), append(p.after, c.slots[0])
		for _, own := range c.slots[0].ownHosts() {
			owned[own] = true
		}
	}
	p.host, p.rendered = names[0], true

	rest := slices.DeleteFunc(all, func(e signpost.Endpoint) bool { return owned[hostname(e.URL)] })
	others := &signpost.Version{Manifest: signpost.Manifest{Endpoints: rest}}
	at := &slot{besides: true, pair: pair[signpost.Version]{others, others}, hosts: []string{standIn}}
	p.before, p.after = append(p.before, at), append(p.after, at)
	for i := range news {
		for j := range news[i].Versions {
			v := thirdParties(news[i].Versions[j], news[i].Hosts)
			foreign := &slot{service: name(&news[i]), version: v.Name, besides: true, pair: pair[signpost.Version]{nil, &v}, hosts: []string{standIn}}
			p.comparisons[0].slots = append(p.comparisons[0].slots, foreign)
			p.after = append(p.after, foreign)
		}
	}
	return nil
}

// thirdParties returns a version with the endpoints that are on hosts of others only.
func thirdParties(v signpost.Version, hosts signpost.Hosts) signpost.Version {
	v.Manifest.Endpoints = slices.DeleteFunc(slices.Clone(v.Manifest.Endpoints), func(e signpost.Endpoint) bool {
		u := signpost.CutURL(e.URL)
		return u.HasHostPlaceholder() || hosts.Has(u.Hostname())
	})
	return v
}

// exportOn compares the endpoints that a studio has on one host with those of all services that declare it.
func exportOn(host string, all []signpost.Endpoint, services []signpost.Service, name func(*signpost.Service) string) *comparison {
	at := &slot{hosts: []string{host}, parts: make(map[string]*slot)}
	at.old, at.new = &signpost.Version{}, &signpost.Version{}
	for i := range services {
		s := &services[i]
		for _, v := range s.Versions {
			for _, e := range v.Manifest.Endpoints {
				url := fill(e.URL, host)
				own := hostname(url) == host || signpost.CutURL(e.URL).HasHostPlaceholder()
				if own && s.Hosts.Has(host) && at.parts[url] == nil {
					at.parts[url] = &slot{service: name(s), version: v.Name}
					at.new.Manifest.Endpoints = append(at.new.Manifest.Endpoints, e)
				}
			}
		}
	}
	own := at.ownHosts()
	for _, e := range all {
		if slices.Contains(own, hostname(e.URL)) {
			at.old.Manifest.Endpoints = append(at.old.Manifest.Endpoints, e)
		}
	}
	return &comparison{pair: pair[signpost.Service]{&signpost.Service{Served: true}, &signpost.Service{Served: true}}, slots: []*slot{at}, hosts: at.hosts}
}

// ownHosts returns the host of a slot, and those of which it is only a part.
func (s *slot) ownHosts() []string {
	own := slices.Clone(s.hosts)
	for url := range s.parts {
		if host := hostname(url); !slices.Contains(own, host) {
			own = append(own, host)
		}
	}
	return own
}

// hostname returns the host of a URL in lower case.
func hostname(url string) string { return strings.ToLower(signpost.CutURL(url).Hostname()) }

// fillIn completes an endpoint of an export with what it does not say, so that this is not compared.
func fillIn(old *signpost.Endpoint, new signpost.Endpoint) {
	old.Name, old.Method, old.MIMEType = cmp.Or(old.Name, new.Name), cmp.Or(old.Method, new.Method), cmp.Or(old.MIMEType, new.MIMEType)
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
