package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"signpost"
	"signpost/internal/spell"
	"signpost/match"
)

// registration is one state of everything that is registered together: all versions, all services, and whatever is
// registered alongside, on all of their hosts.
type registration struct {
	index     *match.Index
	owners    []owner              // by the number of the endpoint in the index
	endpoints []*signpost.Endpoint // by number, as written
	numbers   map[owner]int
}

// owner identifies an endpoint across both states.
type owner struct {
	slot *slot
	url  string // rendered, as it is compared
}

// register makes d.registrations what a studio has that registers a service on some hosts, before and after. Others are
// on all of their hosts.
func (d *differ) register(c *comparison, p *plan, before, after func(host string) bool) {
	current := d.host
	on := func(own func(string) bool) func(*slot, string) bool {
		return func(s *slot, host string) bool {
			return own(host) || !slices.Contains(c.slots, s) || !slices.Contains(s.hosts, current)
		}
	}
	d.registrations = sync.OnceValues(func() (_, _ *registration) {
		return newRegistration(p.before, oldState, on(before)), newRegistration(p.after, newState, on(after))
	})
}

// newRegistration indexes a state of the given slots, on those hosts that on returns true for. Ties go to the endpoint
// that was registered first, as in package match.
func newRegistration(slots []*slot, state func(*slot) *signpost.Version, on func(*slot, string) bool) *registration {
	r := &registration{numbers: make(map[owner]int)}
	var all signpost.Manifest
	for _, s := range slots {
		endpoints := state(s).Manifest.Endpoints
		for i := range endpoints {
			for _, host := range s.hosts {
				if !on(s, host) {
					continue
				}
				url := fill(endpoints[i].URL, host)
				id := owner{s, canonical(url)}
				if _, twice := r.numbers[id]; twice {
					continue
				}
				r.numbers[id] = len(r.owners)
				r.owners = append(r.owners, id)
				r.endpoints = append(r.endpoints, &endpoints[i])
				all.Endpoints = append(all.Endpoints, signpost.Endpoint{URL: url})
			}
		}
	}
	r.index = match.NewIndex(signpost.Version{Manifest: all})
	return r
}

// guests returns which slots are on the stand-in together with two others: those that declare no hosts, and the service
// of one of the two. Services that declare hosts meet on those.
func guests(a, b *slot) func(*slot) bool {
	guest := a
	if len(a.declared) == 0 {
		guest = b
	}
	return func(s *slot) bool {
		return len(s.declared) == 0 || s.source == guest.source && s.service == guest.service
	}
}

// only returns which endpoints are those of some slots.
func (r *registration) only(takesPart func(*slot) bool) func(number int) bool {
	return func(number int) bool { return takesPart(r.owners[number].slot) }
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

// handovers returns the endpoints whose feeds break when the given endpoint takes them over. Those that lose the most
// come first.
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
	isHarmed := func(from int) bool { return len(harm(from)) > 0 }
	var all, some []handover
	var contest func(int) (_, _ func(int) bool)
	if strings.Contains(to.URL, standIn) {
		contest = func(from int) (_, _ func(int) bool) {
			takesPart := guests(at, before.owners[from].slot)
			return before.only(takesPart), after.only(takesPart)
		}
	}
	for from, feed := range before.index.Takeovers(after.index, number, isHarmed, contest) {
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

func settingsOf(url string, e *signpost.Endpoint) feedSettings {
	return feedSettings{url, e.Method, e.MIMEType, append([]signpost.ContextItem{}, e.ContextObj...)}
}

// lostKeys names the context keys that feeds lost.
type lostKeys struct {
	Endpoint string   `json:"endpoint"`
	LostKeys []string `json:"lost_keys"`
}

// takenOverBy reports the feeds that each endpoint of an added version takes over.
func (d *differ) takenOverBy(at *slot) {
	for _, e := range d.render(at.new) {
		d.endpoint = e.shown
		d.takenOver(at, e)
	}
	d.endpoint = ""
}

// takenOver reports feeds that the endpoint takes over if it treats them differently.
func (d *differ) takenOver(at *slot, to endpoint) {
	var groups []*handoverGroup
	for _, h := range d.handovers(at, &to.Endpoint) {
		for _, lost := range []bool{false, true} {
			some := slices.DeleteFunc(slices.Clone(h.harm), func(d difference) bool { return (d.kind == keyLost) != lost })
			if len(some) == 0 {
				continue
			}
			i := slices.IndexFunc(groups, func(g *handoverGroup) bool { return slices.Equal(g.harm, some) })
			if i < 0 {
				i, groups = len(groups), append(groups, &handoverGroup{harm: some})
			}
			groups[i].from = append(groups[i].from, h)
		}
	}
	for _, g := range groups {
		was, about := d.showFrom(g.from[0]), g.subject()
		about.host = d.meetingHost(g.from[0], to)
		from := d.describe(g, at, about.host)
		var texts []string
		for _, one := range g.harm {
			texts = append(texts, one.text)
		}
		if g.harm[0].kind == keyLost {
			d.add(ChangeContextShadowed, about, lostKeys{was, texts}, nil,
				"takes feeds over from %s; lost context keys: %s", from, spell.Quoted(texts))
		} else {
			d.add(ChangeFeedsTakenOver, about, settingsOf(was, g.from[0].was), settingsOf(to.shown, &to.Endpoint),
				"takes feeds over from %s: %s", from, strings.Join(texts, "; "))
		}
	}
}

// handoverGroup holds feeds of several endpoints that are affected in the same way: by lost keys, or by anything else.
type handoverGroup struct {
	harm []difference
	from []handover
}

// subject identifies a takeover by the endpoints that lose feeds and the consequences for them.
func (g *handoverGroup) subject() subject {
	var steps []string
	for _, h := range g.from {
		steps = append(steps, strings.Join([]string{"from", h.from.slot.known, signpost.CutURL(h.was.URL).Rest()}, " "))
	}
	for _, d := range g.harm {
		steps = append(steps, fmt.Sprintf("harm %d %q %q %q", d.kind, d.key, d.old, d.new))
	}
	slices.Sort(steps)
	return subject{path: slices.Compact(steps)}
}

// showFrom returns the URL of an endpoint that loses feeds as changes show it.
func (d *differ) showFrom(h handover) string {
	if d.rendered {
		return h.from.url
	}
	return h.was.URL
}

// describe names the first endpoint of a group, which loses feeds to one at a slot, and counts the rest. on is the host
// on which alone it does, or "".
func (d *differ) describe(g *handoverGroup, at *slot, on string) string {
	first := g.from[0]
	text := strconv.Quote(d.showFrom(first))
	if s := first.from.slot; s != at {
		service := cmp.Or(s.source, s.service)
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
		feed := signpost.CutURL(first.feed.URL)
		if written := signpost.CutURL(first.was.URL); !d.rendered && on == "" && written.HasHostPlaceholder() {
			feed = feed.WithAuthority(written.Authority())
		}
		text += fmt.Sprintf(", such as %q", feed)
	}
	if on != "" {
		text += ", on " + on
	}
	return text
}

// meetingHost returns the host on which feeds go to another endpoint, if only one of the two URLs has {{host}} in it.
func (d *differ) meetingHost(h handover, to endpoint) string {
	hasHost := func(url string) bool { return strings.Contains(url, signpost.HostPlaceholder) }
	if d.rendered || hasHost(h.was.URL) == hasHost(to.shown) {
		return ""
	}
	return hostname(to.URL)
}

// difference is something that breaks for feeds when a different endpoint answers for them.
type difference struct {
	kind     differenceKind
	key      string // the context key, if any
	old, new string
	text     string // for people
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

// differences returns what breaks for the feeds of an endpoint when to answers for them instead. was and is are the
// endpoint before and after the change; what changed in the same way there is reported there. What the manifest of
// somebody else does not say is not compared.
func differences(was, is, to *signpost.Endpoint) []difference {
	var all []difference
	add := func(kind differenceKind, key, old, new, format string, args ...any) {
		all = append(all, difference{kind, key, old, new, fmt.Sprintf(format, args...)})
	}
	if was.Method != "" && !strings.EqualFold(to.Method, was.Method) && !strings.EqualFold(to.Method, is.Method) {
		add(otherMethod, "", was.Method, to.Method, "method %q instead of %q", to.Method, was.Method)
	}
	if was.MIMEType != "" && !sameMediaType(to.MIMEType, was.MIMEType) && !sameMediaType(to.MIMEType, is.MIMEType) {
		add(otherMIMEType, "", was.MIMEType, to.MIMEType, "mime_type %q instead of %q", to.MIMEType, was.MIMEType)
	}
	for _, c := range to.ContextObj {
		had, has := contextItem(was, c.Key), contextItem(is, c.Key)
		if c.Required && (had == nil || !had.Required) && (has == nil || !has.Required) {
			add(keyRequired, c.Key, "", "", "context key %q is required", c.Key)
		}
		if had == nil {
			continue
		}
		if c.Type != had.Type && (has == nil || c.Type != has.Type) {
			add(otherKeyType, c.Key, had.Type, c.Type, "context key %q is sent as %s instead of %s", c.Key, c.Type, had.Type)
		}
		if old, new := had.SentAs(), c.SentAs(); new != old && (has == nil || new != has.SentAs()) {
			add(otherKeyName, c.Key, old, new, "context key %q is sent under the name %q instead of %q", c.Key, new, old)
		}
	}
	for _, c := range was.ContextObj {
		if contextItem(to, c.Key) == nil && contextItem(is, c.Key) != nil {
			add(keyLost, c.Key, "", "", "%s", c.Key)
		}
	}
	return all
}

// contextItem returns the first context item of an endpoint with a key, or nil.
func contextItem(e *signpost.Endpoint, key string) *signpost.ContextItem {
	i := slices.IndexFunc(e.ContextObj, func(c signpost.ContextItem) bool { return c.Key == key })
	if i < 0 {
		return nil
	}
	return &e.ContextObj[i]
}
