package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/match"
)

// overlap finds the feeds that a different endpoint answers after the change. Everything registered together takes
// part: all versions, all services, and whatever is registered alongside.
type overlap struct {
	slots         []*slot
	before, after *registration // built on first use: most comparisons need none of it
	build         func()
}

// registration is what is registered together, in order.
type registration struct {
	index     *match.Index
	owners    []owner // by the number of the endpoint in the index
	endpoints map[owner]*signpost.Endpoint
}

// owner identifies an endpoint across both states.
type owner struct {
	slot int
	url  string // as it is compared
}

// newOverlap registers the slots together with others. Ties go to the endpoint that was registered first, as in package
// match: the versions of a service in their order, and what is registered alongside after them.
func newOverlap(slots []*slot, old, new []signpost.Service, others []signpost.Version) *overlap {
	o := &overlap{slots: slots}
	number := make(map[*signpost.Version]int)
	for i, s := range slots {
		number[s.old], number[s.new] = i, i
	}
	for i := range others {
		number[&others[i]] = len(o.slots)
		o.slots = append(o.slots, &slot{besides: true, service: others[i].Source, version: others[i].Name})
	}
	register := func(services []signpost.Service) *registration {
		r := &registration{endpoints: make(map[owner]*signpost.Endpoint)}
		var bare []signpost.Version
		add := func(v *signpost.Version) {
			var m signpost.Manifest
			for i := range v.Manifest.Endpoints {
				e := &v.Manifest.Endpoints[i]
				if id := (owner{number[v], canonical(e.URL)}); r.endpoints[id] == nil {
					r.endpoints[id] = e
					r.owners = append(r.owners, id)
					m.Endpoints = append(m.Endpoints, signpost.Endpoint{URL: e.URL})
				}
			}
			bare = append(bare, signpost.Version{Manifest: m})
		}
		for _, s := range services {
			for i := range s.Versions {
				add(&s.Versions[i])
			}
		}
		for i := range others {
			add(&others[i])
		}
		r.index = match.NewIndex(bare...)
		return r
	}
	o.build = func() { o.before, o.after = register(old), register(new) }
	return o
}

// find returns the endpoint that answers for a feed.
func (r *registration) find(feed match.Feed) (owner, bool) {
	number, ok := r.index.Find(feed)
	if !ok {
		return owner{}, false
	}
	return r.owners[number], true
}

// maxHandovers is the largest number of endpoints that a change names or counts. Nobody reads more.
const maxHandovers = 100

// handover records that an endpoint answers for feeds of another one that still exists.
type handover struct {
	from owner
	feed match.Feed // an example
	all  bool       // every feed of the new endpoint is one
}

// handovers returns the endpoints that lose feeds to the given endpoint of the new state. It considers only those for
// which matters returns true.
func (o *overlap) handovers(to owner, matters func(from owner) bool) []handover {
	var found []handover
	seen := map[owner]bool{to: true}
	general := match.GeneralFeed(to.url)
	wants := func(number int) bool {
		from := o.before.owners[number]
		return !seen[from] && o.after.endpoints[from] != nil && matters(from)
	}
	for number, feeds := range o.before.index.Meetings(to.url, wants) {
		from := o.before.owners[number]
		if len(found) == maxHandovers {
			break
		}
		for feed := range feeds {
			was, _ := o.before.find(feed)
			if is, _ := o.after.find(feed); was == from && is == to {
				seen[from] = true
				found = append(found, handover{from, feed, feed.URL == general.URL})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b handover) int { // those that lose the most first
		switch {
		case a.all == b.all:
			return 0
		case a.all:
			return -1
		}
		return 1
	})
	return found
}

// feedSettings holds what a feed gets from the endpoint that answers for it.
type feedSettings struct {
	Endpoint   string                 `json:"endpoint"`
	Method     string                 `json:"method"`
	MIMEType   string                 `json:"mime_type"`
	ContextObj []signpost.ContextItem `json:"context_obj"`
}

func settingsOf(e signpost.Endpoint) feedSettings {
	return feedSettings{e.URL, e.Method, e.MIMEType, append([]signpost.ContextItem{}, e.ContextObj...)}
}

// lostKeys names the context keys that feeds lost.
type lostKeys struct {
	Endpoint string   `json:"endpoint"`
	LostKeys []string `json:"lost_keys"`
}

// takenOverBy reports the feeds that each of the added endpoints takes over.
func (d *differ) takenOverBy(at *slot, endpoints []signpost.Endpoint) {
	d.version = at.version
	for _, e := range endpoints {
		d.endpoint = e.URL
		d.takenOver(at, e)
	}
	d.endpoint = ""
}

// takenOver reports feeds that the endpoint takes over if it treats them differently.
func (d *differ) takenOver(at *slot, to signpost.Endpoint) {
	o := d.overlap
	if o.before == nil {
		o.build()
	}
	harm := func(from owner) []difference {
		return differences(o.before.endpoints[from], o.after.endpoints[from], &to)
	}
	found := o.handovers(owner{slices.Index(o.slots, at), canonical(to.URL)}, func(from owner) bool { return len(harm(from)) > 0 })

	// Group feeds that change in the same way.
	var groups []*handoverGroup
	byHarm := make(map[string]*handoverGroup)
	for _, h := range found {
		for _, lost := range []bool{false, true} {
			some := slices.DeleteFunc(harm(h.from), func(d difference) bool { return (d.what == keyLost) != lost })
			id := fmt.Sprint(some)
			switch {
			case len(some) == 0:
				continue
			case byHarm[id] == nil:
				byHarm[id] = &handoverGroup{lost: lost, harm: some}
				groups = append(groups, byHarm[id])
			}
			byHarm[id].from = append(byHarm[id].from, h)
		}
	}
	for _, g := range groups {
		first := g.from[0].from
		var texts []string
		for _, one := range g.harm {
			texts = append(texts, one.String())
		}
		if g.lost {
			d.add(ChangeContextShadowed, d.takeover(g), lostKeys{o.before.endpoints[first].URL, texts}, nil,
				"takes feeds over from %s; lost context keys: %s", o.describe(at, g.from), quotedList(texts))
		} else {
			d.add(ChangeFeedsTakenOver, d.takeover(g), settingsOf(*o.before.endpoints[first]), settingsOf(to),
				"takes feeds over from %s: %s", o.describe(at, g.from), strings.Join(texts, "; "))
		}
	}
}

// handoverGroup holds feeds of several endpoints that are affected in the same way.
type handoverGroup struct {
	lost bool // they lose keys; otherwise they are affected in some other way
	harm []difference
	from []handover
}

// takeover identifies a takeover by the endpoints that lose feeds and the consequences for them.
func (d *differ) takeover(g *handoverGroup) place {
	var parts []string
	for _, h := range g.from {
		s := *d.overlap.slots[h.from.slot]
		if s.besides {
			s.service = "" // the source name depends on how signpost was called
		}
		parts = append(parts, strings.Join([]string{"from", s.service, s.version, d.hosts.open(d.overlap.before.endpoints[h.from].URL)}, " "))
	}
	for _, d := range g.harm {
		parts = append(parts, fmt.Sprintf("harm %d %q %q %q", d.what, d.key, d.old, d.new))
	}
	slices.Sort(parts)
	return place{subject: parts}
}

// describe names the first endpoint that loses feeds and counts the rest.
func (o *overlap) describe(at *slot, from []handover) string {
	first := from[0]
	text := strconv.Quote(o.before.endpoints[first.from].URL)
	if s := o.slots[first.from.slot]; s != at {
		service := s.service
		if service == at.service {
			service = ""
		}
		switch {
		case service != "" && s.version != "":
			text += fmt.Sprintf(" (%s of %s)", s.version, service)
		case service+s.version != "":
			text += fmt.Sprintf(" (%s)", service+s.version)
		}
	}
	switch others := len(from) - 1; {
	case others == 1:
		text += " and 1 other endpoint"
	case others > 1:
		text += fmt.Sprintf(" and %d other endpoints", others)
	}
	if !first.all {
		text += fmt.Sprintf(", such as %q", first.feed)
	}
	if first.feed.Host != "" {
		text += ", on " + first.feed.Host
	}
	return text
}

// difference is something that breaks for feeds when a different endpoint answers for them.
type difference struct {
	what     differenceKind
	key      string // the context key, if any
	old, new string
}

type differenceKind int

// Fingerprints contain these numbers, so append new constants at the end.
const (
	otherMethod differenceKind = iota
	otherMIMEType
	keyRequired
	otherKeyType
	otherKeyName
	keyLost
)

func (d difference) String() string {
	switch d.what {
	case otherMethod:
		return fmt.Sprintf("method %q instead of %q", d.new, d.old)
	case otherMIMEType:
		return fmt.Sprintf("mime_type %q instead of %q", d.new, d.old)
	case keyRequired:
		return fmt.Sprintf("context key %q is required", d.key)
	case otherKeyType:
		return fmt.Sprintf("context key %q is sent as %s instead of %s", d.key, d.new, d.old)
	case otherKeyName:
		return fmt.Sprintf("context key %q is sent under the name %q instead of %q", d.key, d.new, d.old)
	}
	return d.key
}

// differences returns what breaks for the feeds of an endpoint when to answers for them instead. was and is are the
// endpoint before and after the change; what changed in the same way there is reported there.
func differences(was, is, to *signpost.Endpoint) []difference {
	var all []difference
	if to.Method != was.Method && to.Method != is.Method {
		all = append(all, difference{otherMethod, "", was.Method, to.Method})
	}
	if !sameMediaType(to.MIMEType, was.MIMEType) && !sameMediaType(to.MIMEType, is.MIMEType) {
		all = append(all, difference{otherMIMEType, "", was.MIMEType, to.MIMEType})
	}
	before, now, then := contextByKey(was), contextByKey(is), contextByKey(to)
	for _, c := range to.ContextObj {
		had, has := before[c.Key], now[c.Key]
		if c.Required && (had == nil || !had.Required) && (has == nil || !has.Required) {
			all = append(all, difference{keyRequired, c.Key, "", ""})
		}
		if had == nil {
			continue
		}
		if c.Type != had.Type && (has == nil || c.Type != has.Type) {
			all = append(all, difference{otherKeyType, c.Key, had.Type, c.Type})
		}
		if c.SentAs() != had.SentAs() && (has == nil || c.SentAs() != has.SentAs()) {
			all = append(all, difference{otherKeyName, c.Key, had.SentAs(), c.SentAs()})
		}
	}
	for _, c := range was.ContextObj {
		if then[c.Key] == nil && now[c.Key] != nil {
			all = append(all, difference{keyLost, c.Key, "", ""})
		}
	}
	return all
}

// contextByKey returns the context items of an endpoint by key. The first one wins.
func contextByKey(e *signpost.Endpoint) map[string]*signpost.ContextItem {
	if len(e.ContextObj) == 0 {
		return nil
	}
	byKey := make(map[string]*signpost.ContextItem, len(e.ContextObj))
	for i := range e.ContextObj {
		if c := &e.ContextObj[i]; byKey[c.Key] == nil {
			byKey[c.Key] = c
		}
	}
	return byKey
}
