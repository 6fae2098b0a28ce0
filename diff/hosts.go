package diff

import (
	"fmt"
	"iter"
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

// hostNames are the hosts for which everything that is registered together is rendered.
type hostNames struct {
	only  string   // if what is compared is for a single host
	names []string // exact names and stand-ins for suffixes, of all
	open  bool     // something does not declare what its {{host}} stands for
}

// declare takes the hosts of a slot into account.
func (h *hostNames) declare(at *slot) {
	if len(at.declared) == 0 {
		h.open = h.open || hasHost(at.states()...)
	}
	for _, entry := range at.declared {
		name := strings.TrimPrefix(entry, ".")
		if suffix, wild := strings.CutPrefix(entry, "*"); wild {
			name = standInLabel + suffix
		}
		if !slices.Contains(h.names, name) {
			h.names = append(h.names, name)
		}
	}
}

// of returns the hosts for something that declares hosts. Two services meet on the hosts that both can have. If one of
// them declares none, they are taken to meet on a stand-in.
func (h *hostNames) of(hosts signpost.Hosts) []string {
	var names []string
	for _, name := range h.names {
		if hosts.Has(name) {
			names = append(names, name)
		}
	}
	switch {
	case h.only == "" && (h.open || len(names) == 0):
		names = append(names, standIn)
	case h.only != "" && (len(hosts) == 0 || hosts.Has(h.only)) && !slices.Contains(names, h.only):
		names = append(names, h.only)
	}
	return names
}

// covers reports whether all that an entry of a list of hosts covers is on hosts, too.
func covers(hosts signpost.Hosts, entry string) bool {
	suffix, wild := strings.CutPrefix(entry, "*")
	if !wild {
		return hosts.Has(entry)
	}
	return slices.ContainsFunc(hosts, func(other string) bool {
		wider, wild := strings.CutPrefix(other, "*")
		return wild && strings.HasSuffix(suffix, wider)
	})
}

// fold returns the changes on several hosts as one list. What is the same on all of them is there once; what is not
// says on which hosts it happens.
func fold(hosts []string, lists [][]Change) []Change {
	if len(hosts) == 1 {
		return lists[0]
	}
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
func (d *differ) arrive(c *comparison, p *plan) {
	isNew := c.old != nil && c.new != nil && len(c.old.Hosts) > 0 && !c.old.Hosts.Has(d.host) && c.new.Hosts.Has(d.host)
	if !isNew || d.host == standIn {
		return
	}
	d.register(c, p, c.old.Hosts.Has, c.declared().Has)
	known := d.changes
	d.changes = nil
	for _, at := range c.slots {
		d.slot = at
		if at.new != nil {
			d.takenOverBy(at)
		}
	}
	for _, change := range d.changes {
		same := func(c Change) bool { return c.Fingerprint == change.Fingerprint && c.Endpoint == change.Endpoint }
		if !slices.ContainsFunc(known, same) {
			known = append(known, change)
		}
	}
	d.changes = known
}

// hostsUnknown reports URLs that overlap if a host is the service's own, which its definition does not declare, unless
// they did before.
func (d *differ) hostsUnknown(p *plan) {
	if p.rendered {
		return
	}
	type pair struct{ service, version, message string }
	known := make(map[pair]bool)
	for at, u := range unknownHosts(p.before, oldState) {
		known[pair{at.service, at.version, u.Message}] = true
	}
	for at, u := range unknownHosts(p.after, newState) {
		if !known[pair{at.service, at.version, u.Message}] {
			d.slot, d.endpoint = at, u.Endpoint
			d.add(ChangeHostsUnknown, subject{path: []string{signpost.CutURL(u.Other).Rest()}}, nil, nil, "%s", u.Message)
		}
	}
}

// unknownHosts returns what depends on undeclared hosts in a state of what is compared.
func unknownHosts(slots []*slot, state func(*slot) *signpost.Version) iter.Seq2[*slot, match.Unknown] {
	var compared []*slot
	var versions, besides []signpost.Version
	for _, at := range slots {
		v := *state(at)
		v.Hosts, v.Places = at.declared, nil
		if at.besides {
			besides = append(besides, v)
			continue
		}
		v.Source = at.service
		compared, versions = append(compared, at), append(versions, v)
	}
	return func(yield func(*slot, match.Unknown) bool) {
		for _, u := range match.UnknownHosts(versions, besides) {
			if !yield(compared[u.Version], u) {
				return
			}
		}
	}
}
