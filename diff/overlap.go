package diff

import (
	"fmt"
	"iter"
	"signpost"
	"signpost/match"
	"slices"
	"strconv"
	"strings"
)

// overlap finds the feeds that a different endpoint answers after the change. Everything registered together takes
// part: all versions, all services, and whatever is registered alongside.
type overlap struct {
	slots  []*slot
	number map[*slot]int // index into slots, used as version name in the indexes

	// Built on first use: most comparisons need none of it.
	before, after    *match.Index
	oldOnes, newOnes map[owner]*signpost.Endpoint
	kept             *match.Tree // old endpoints that still exist
	kinds            []owner     // one of each kind of those; endpoints of a kind have the same settings, before and after
	workLeft         int
}

// owner identifies an endpoint across both states.
type owner struct {
	slot int
	url  string
}

// workPerEndpoint bounds the search for taken-over feeds, as the average number of URL segment comparisons per
// endpoint. Real services need a handful; a manifest full of URLs such as /{{a}}-1, /{{a}}-2 would need a quadratic
// number.
const workPerEndpoint = 1000

// workPerFeed and workPerHit are the cost of finding the endpoint that answers for a feed, in URL segment comparisons:
// a fixed part, and a part for every candidate.
const (
	workPerFeed = 100
	workPerHit  = 5
)

// newOverlap registers the slots together. Ties go to the endpoint that was registered first, so manifests registered
// alongside come first, and the slots keep the same order before and after.
func newOverlap(slots []*slot, others []signpost.Version) *overlap {
	o := &overlap{number: make(map[*slot]int)}
	for i := range others {
		o.slots = append(o.slots, &slot{besides: true, service: others[i].Source, version: others[i].Name, pair: pair[signpost.Version]{&others[i], &others[i]}})
	}
	o.slots = append(o.slots, slots...)
	for i, s := range o.slots {
		o.number[s] = i
	}
	return o
}

// build indexes the URLs before and after the change.
func (o *overlap) build() {
	var before, after []signpost.Version
	collect := func(v *signpost.Version, slot int, into map[owner]*signpost.Endpoint) signpost.Version {
		bare := signpost.Version{Name: strconv.Itoa(slot)}
		if v == nil {
			return bare
		}
		for i := range v.Manifest.Endpoints {
			e := &v.Manifest.Endpoints[i]
			if id := (owner{slot, e.URL}); into[id] == nil {
				into[id] = e
				bare.Manifest.Endpoints = append(bare.Manifest.Endpoints, signpost.Endpoint{URL: e.URL})
			}
		}
		return bare
	}
	o.oldOnes, o.newOnes = make(map[owner]*signpost.Endpoint), make(map[owner]*signpost.Endpoint)
	for i, s := range o.slots {
		before = append(before, collect(s.old, i, o.oldOnes))
		after = append(after, collect(s.new, i, o.newOnes))
	}
	o.before, o.after = match.NewIndex(before...), match.NewIndex(after...)
	o.kept = &match.Tree{}
	known := make(map[string]bool)
	for i, v := range before {
		for _, e := range v.Manifest.Endpoints {
			id := owner{i, e.URL}
			is := o.newOnes[id]
			if is == nil {
				continue
			}
			o.kept.Add(match.Owner{Slot: id.slot, URL: id.url})
			was := o.oldOnes[id]
			if kind := fmt.Sprintf("%q", []any{was.Method, was.MIMEType, was.ContextObj, is.Method, is.MIMEType, is.ContextObj}); !known[kind] {
				known[kind] = true
				o.kinds = append(o.kinds, id)
			}
		}
	}
	o.workLeft = workPerEndpoint * (len(o.oldOnes) + len(o.newOnes))
}

// handover records that an endpoint answers for feeds of another one that still exists.
type handover struct {
	from owner
	feed string // an example; empty if every feed of the new endpoint is one
}

// handovers returns the endpoints that lose feeds to the given endpoint of the new state. It considers only those for
// which matters returns true. It returns false if it gave up the search.
func (o *overlap) handovers(at *slot, url string, matters func(from owner) bool) ([]handover, bool) {
	if o.before == nil {
		o.build()
	}
	to := owner{o.number[at], url}
	var found []handover
	seen := map[owner]bool{to: true}
	try := func(from owner, feed string) bool {
		if before, ok := o.ownerOf(o.before, feed); !ok || before != from {
			return false
		}
		after, ok := o.ownerOf(o.after, feed)
		return ok && after == to
	}

	// Replacing each placeholder with a value that occurs in no URL turns the endpoint's URL into its most general
	// feed.
	general := match.GeneralFeed(url)
	if from, ok := o.ownerOf(o.before, general); ok && !seen[from] && o.newOnes[from] != nil {
		seen[from] = true
		if matters(from) && try(from, general) {
			found = append(found, handover{from: from})
		}
	}
	if len(signpost.CutURL(url).Placeholders()) == 0 {
		return found, true // it is the only feed, apart from longer ones that go to the same endpoint
	}

	// Other endpoints have text where this one has a placeholder. Usually they are all alike and none of them matters.
	o.workLeft -= len(o.kinds)
	if !slices.ContainsFunc(o.kinds, matters) {
		return found, true
	}
	work := func() bool { o.workLeft--; return o.workLeft > 0 }
	complete := o.kept.Search(url, work, func(id match.Owner, feeds iter.Seq[string]) {
		from := owner{id.Slot, id.URL}
		if seen[from] || !matters(from) {
			return
		}
		for feed := range feeds {
			if o.workLeft -= 10; o.workLeft <= 0 {
				return
			}
			if try(from, feed) {
				seen[from] = true
				found = append(found, handover{from, match.Readable(feed)})
				return
			}
		}
	})
	return found, complete
}

// ownerOf returns the endpoint that answers for feed.
func (o *overlap) ownerOf(x *match.Index, feed string) (owner, bool) {
	o.workLeft -= workPerFeed
	m, ok := x.Match(feed)
	if !ok {
		return owner{}, false
	}
	o.workLeft -= workPerHit * len(m.Shadowed)
	slot, err := strconv.Atoi(m.Version)
	return owner{slot, m.Endpoint}, err == nil
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
	harm := func(from owner) []difference { return differences(o.oldOnes[from], o.newOnes[from], &to) }
	found, complete := o.handovers(at, to.URL, func(from owner) bool { return len(harm(from)) > 0 })
	if !complete {
		d.add(ChangeFeedsTakenOver, place{subject: []string{"incomplete"}}, nil, settingsOf(to),
			"may take feeds over from other endpoints: too many URLs with placeholders overlap to compare them all")
		return
	}

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
			d.add(ChangeContextShadowed, o.subject(g), lostKeys{first.url, texts}, nil,
				"takes feeds over from %s; lost context keys: %s", o.describe(at, g.from), quotedList(texts))
		} else {
			d.add(ChangeFeedsTakenOver, o.subject(g), settingsOf(*o.oldOnes[first]), settingsOf(to),
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

// subject identifies a takeover by the endpoints that lose feeds and the consequences for them.
func (o *overlap) subject(g *handoverGroup) place {
	var parts []string
	for _, h := range g.from {
		s := *o.slots[h.from.slot]
		if s.besides {
			s.service = "" // the source name depends on how signpost was called
		}
		parts = append(parts, strings.Join([]string{"from", s.service, s.version, h.from.url}, " "))
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
	text := strconv.Quote(first.from.url)
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
	if first.feed != "" {
		text += fmt.Sprintf(", such as %q", first.feed)
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
	if to.MIMEType != was.MIMEType && to.MIMEType != is.MIMEType {
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
