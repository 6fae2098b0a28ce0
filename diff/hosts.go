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

// fold collects the changes on several hosts as one list. What is the same on all of them is there once; what is not
// says on which hosts it happens.
type fold struct {
	hosts int // how many there are
	all   []*foldedChange
	known map[changeID]*foldedChange
}

// foldedChange is a change, and where it happens.
type foldedChange struct {
	Change
	on hostCount
}

// changeID identifies a change on several hosts.
type changeID struct {
	service, version, endpoint, message, fingerprint string

	number int // of those that are alike on one host
}

// hostCount is a number of hosts, of which the first has a name.
type hostCount struct {
	first string
	count int
}

// add adds the changes that are the same on some hosts.
func (f *fold) add(changes []Change, on hostCount) {
	numbers := make(map[changeID]int)
	for _, c := range changes {
		id := changeID{c.Service, c.Version, c.Endpoint, c.Message, c.Fingerprint, 0}
		numbers[id]++
		id.number = numbers[id]
		if known := f.known[id]; known != nil {
			known.on.count += on.count
			continue
		}
		f.known[id] = &foldedChange{c, on}
		f.all = append(f.all, f.known[id])
	}
}

func (f *fold) changes() (all []Change) {
	for _, c := range f.all {
		if c.on.count < f.hosts && c.Host == "" {
			c.Host, c.Message = shownHost(c.on.first), c.Message+", "+c.on.String()
		}
		all = append(all, c.Change)
	}
	return all
}

// String names the hosts in a message.
func (h hostCount) String() string {
	text := shownHost(h.first)
	switch {
	case text == "":
		return "if both are on one host"
	case h.count > 1:
		text += " and " + spell.Count(h.count-1, "other host")
	}
	return "on " + text
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
	isNew := c.old != nil && len(c.old.Hosts) > 0 && !c.old.Hosts.Has(d.host) && c.new.Hosts.Has(d.host)
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
