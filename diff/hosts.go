package diff

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
	"signpost/match"
)

// standIn is filled in for {{host}} where nothing tells what it stands for. Everything that declares no hosts is taken
// to be on this one host.
const standIn = "host.invalid"

// standInLabel begins the host that represents a suffix such as *.example.com.
const standInLabel = "signpost-any-host"

// fold returns the changes on several hosts as one list. What is the same on all of them is there once; what is not
// says on which hosts it happens.
func fold(hosts []string, lists [][]Change) []Change {
	type identity struct {
		service, version, endpoint, message, fingerprint string

		number int // of those that are alike on one host
	}
	on := make(map[identity][]string)
	var ids []identity
	var all []Change
	for i, list := range lists {
		numbers := make(map[identity]int)
		for _, c := range list {
			id := identity{c.Service, c.Version, c.Endpoint, c.Message, c.Fingerprint, 0}
			numbers[id]++
			id.number = numbers[id]
			if on[id] == nil {
				ids, all = append(ids, id), append(all, c)
			}
			on[id] = append(on[id], hosts[i])
		}
	}
	for i, id := range ids {
		if some := on[id]; len(some) < len(hosts) && all[i].Host == "" {
			all[i].Host, all[i].Message = shownHost(some[0]), all[i].Message+", "+onHosts(some)
		}
	}
	return all
}

// shownHost returns a host for people, or "" if nobody knows which one it is.
func shownHost(name string) string {
	if suffix, found := strings.CutPrefix(name, standInLabel); found {
		return "*" + suffix
	}
	if name == standIn {
		return ""
	}
	return name
}

// onHosts names hosts in a message.
func onHosts(names []string) string {
	text := shownHost(names[0])
	switch {
	case text == "":
		return "if both are on one host"
	case len(names) > 1:
		text += " and " + spell.Count(len(names)-1, "other host")
	}
	return "on " + text
}

// publishedOn returns false if the new state has no manifest for the current host. If the old one has, it reports that.
func (d *differ) publishedOn(c *comparison) bool {
	if strings.HasPrefix(d.host, standInLabel) || d.host == standIn || c.old == nil || c.new == nil || c.new.Served {
		return true
	}
	exists := func(s *signpost.Service) error {
		for _, v := range s.Versions {
			if _, err := v.Manifest.ForHost(d.host); err != nil {
				return err
			}
		}
		return nil
	}
	err := exists(c.new)
	if err == nil || !c.old.Served && exists(c.old) != nil {
		return true
	}
	d.hostChanged(d.host, nil, fmt.Sprintf("the service can no longer be published on %s: %v", d.host, err))
	return false
}

// arrive reports the feeds of others that a service takes over on the current host, if only its new state declares it.
func (d *differ) arrive(c *comparison) {
	isNew := c.old != nil && c.new != nil && len(c.old.Hosts) > 0 && !c.old.Hosts.Has(d.host) && c.new.Hosts.Has(d.host)
	if !isNew || d.host == standIn {
		return
	}
	d.register(c, "")
	known := d.changes
	d.changes = nil
	for _, at := range c.slots {
		if at.new != nil {
			d.slot = at
			d.takenOverBy(at)
		}
	}
	isKnown := func(change Change) bool {
		return slices.ContainsFunc(known, func(c Change) bool {
			return c.Fingerprint == change.Fingerprint && c.Endpoint == change.Endpoint
		})
	}
	d.changes = append(known, slices.DeleteFunc(d.changes, isKnown)...)
}

// hostsUnknown reports URLs that overlap if a host is the service's own, which its definition does not declare, unless
// they did before.
func (d *differ) hostsUnknown() {
	if d.plan.host != "" {
		return
	}
	known := make(map[[3]string]bool)
	for _, s := range []state{before, after} {
		var compared []*slot
		var versions, besides []signpost.Version
		for _, at := range d.plan.registered[s] {
			v := *at.in(s)
			v.Hosts = at.declared
			if at.besides {
				besides = append(besides, v)
				continue
			}
			v.Source = at.service
			compared, versions = append(compared, at), append(versions, v)
		}
		for _, u := range match.UnknownHosts(versions, besides) {
			at := compared[u.Version]
			id := [3]string{at.service, at.version, u.Message}
			if s == after && !known[id] {
				d.slot, d.endpoint = at, u.Endpoint
				d.add(ChangeHostsUnknown, subject{path: []string{u.Other.Rest()}}, nil, nil, "%s", u.Message)
			}
			known[id] = true
		}
	}
}
