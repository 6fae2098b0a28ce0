package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/internal/spell"
	"signpost/match"
)

// registration is one state of everything that is registered together: all versions, all services, and whatever is
// registered alongside.
type registration struct {
	index     *match.Index
	owners    []owner              // by the number of the endpoint in the index
	endpoints []*signpost.Endpoint // by number
	numbers   map[owner]int
}

// owner identifies an endpoint across both states.
type owner struct {
	slot *slot
	url  string // as it is compared
}

// register indexes a state of the given slots. Ties go to the endpoint that was registered first, as in package match.
func register(slots []*slot, state func(*slot) *signpost.Version) *registration {
	r := &registration{numbers: make(map[owner]int)}
	var all signpost.Manifest
	for _, s := range slots {
		endpoints := state(s).Manifest.Endpoints
		for i := range endpoints {
			e := &endpoints[i]
			id := owner{s, canonical(e.URL)}
			if _, twice := r.numbers[id]; twice {
				continue
			}
			r.numbers[id] = len(r.owners)
			r.owners = append(r.owners, id)
			r.endpoints = append(r.endpoints, e)
			all.Endpoints = append(all.Endpoints, signpost.Endpoint{URL: e.URL})
		}
	}
	r.index = match.NewIndex(signpost.Version{Manifest: all})
	return r
}

// maxHandovers is the largest number of endpoints that a change names or counts. Nobody reads more.
const maxHandovers = 100

// handover records that an endpoint loses feeds to another one, although it still exists.
type handover struct {
	from owner
	was  *signpost.Endpoint
	feed match.Feed // an example
	harm []difference
}

// handovers returns the endpoints whose feeds break when the given endpoint takes them over. Those that lose the most come
// first.
func (d *differ) handovers(at *slot, to *signpost.Endpoint) []handover {
	before, after := d.registrations()
	number := after.numbers[owner{at, canonical(to.URL)}]
	harm := func(from int) []difference {
		id := before.owners[from]
		is, exists := after.numbers[id]
		if !exists || is == number {
			return nil
		}
		return differences(before.endpoints[from], after.endpoints[is], to)
	}
	var all, some []handover
	for from, feed := range before.index.Takeovers(after.index, number, func(from int) bool { return len(harm(from)) > 0 }) {
		h := handover{before.owners[from], before.endpoints[from], feed, harm(from)}
		if feed.All {
			all = append(all, h)
		} else {
			some = append(some, h)
		}
		if len(all)+len(some) == maxHandovers {
			break
		}
	}
	return append(all, some...)
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
	// Group feeds that change in the same way.
	var groups []*handoverGroup
	byHarm := make(map[string]*handoverGroup)
	for _, h := range d.handovers(at, &to) {
		for _, lost := range []bool{false, true} {
			some := slices.DeleteFunc(slices.Clone(h.harm), func(d difference) bool { return (d.what == keyLost) != lost })
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
		was := *g.from[0].was
		var texts []string
		for _, one := range g.harm {
			texts = append(texts, one.String())
		}
		if g.lost {
			d.add(ChangeContextShadowed, d.takeover(g), lostKeys{was.URL, texts}, nil,
				"takes feeds over from %s; lost context keys: %s", g.describe(at), quotedList(texts))
		} else {
			d.add(ChangeFeedsTakenOver, d.takeover(g), settingsOf(was), settingsOf(to),
				"takes feeds over from %s: %s", g.describe(at), strings.Join(texts, "; "))
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
		service := h.from.slot.service
		if h.from.slot.besides {
			service = "" // the source name depends on how signpost was called
		}
		parts = append(parts, strings.Join([]string{"from", service, h.from.slot.version, d.hosts.open(h.was.URL)}, " "))
	}
	for _, d := range g.harm {
		parts = append(parts, fmt.Sprintf("harm %d %q %q %q", d.what, d.key, d.old, d.new))
	}
	slices.Sort(parts)
	return place{subject: parts}
}

// describe names the first endpoint that loses feeds to one at a slot, and counts the rest.
func (g *handoverGroup) describe(at *slot) string {
	first := g.from[0]
	text := strconv.Quote(first.was.URL)
	if s := first.from.slot; s != at {
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
	if others := len(g.from) - 1; others > 0 {
		text += " and " + spell.Count(others, "other endpoint")
	}
	if !first.feed.All {
		text += fmt.Sprintf(", such as %q", first.feed.URL)
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
