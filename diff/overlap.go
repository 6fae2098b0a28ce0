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
	endpoints []registered // by the number in the index
	numbers   map[owner]int
	uncertain bool // some are on their hosts only perhaps
}

// registered is an endpoint on one of the hosts of its version.
type registered struct {
	*signpost.Endpoint
	owner   owner
	url     signpost.URL // rendered
	written signpost.URL
	after   int  // its number after the change, or -1; for the state before
	perhaps bool // whether its service is published on the host is not known
}

// owner identifies an endpoint across both states.
type owner struct {
	slot *slot
	url  string // rendered, as it is compared
}

// register makes d.registrations what a studio has, before and after, that registers a service on one host only, or on
// all of its hosts if host is empty. Others are on all of theirs. The stand-in is one of the hosts that the service
// declares, so its URLs that name one of these are on the same host.
func (d *differ) register(c *comparison, host string) {
	hosts := func(at *slot, s state) []string {
		if host != standIn && slices.Contains(c.slots, at) && slices.Contains(at.hosts[after], host) {
			return []string{host}
		}
		return at.hosts[s]
	}
	p := d.plan
	d.registrations = sync.OnceValues(func() (_, _ *registration) {
		was, is := newRegistration(p, before, hosts), newRegistration(p, after, hosts)
		for i, e := range was.endpoints {
			was.endpoints[i].after = -1
			if number, exists := is.numbers[e.owner]; exists {
				was.endpoints[i].after = number
			}
		}
		return was, is
	})
}

// newRegistration indexes a state of everything. Ties go to the endpoint that was registered first, as in package
// match.
func newRegistration(p *plan, s state, hosts func(*slot, state) []string) *registration {
	r := &registration{numbers: make(map[owner]int)}
	var all signpost.Manifest
	for _, at := range p.registered[s] {
		isAlike := func(name string) bool { return p.alike[name] != "" }
		endpoints, on := at.in(s).Manifest.Endpoints, slices.DeleteFunc(slices.Clone(hosts(at, s)), isAlike)
		for i, written := range at.urls[s] {
			for _, host := range on {
				u := written.Resolve(host)
				id := owner{at, canonical(u)}
				if _, twice := r.numbers[id]; twice {
					continue
				}
				r.numbers[id] = len(r.endpoints)
				perhaps := written.HasHostPlaceholder() && len(at.declared) > 0 && !at.certain[host]
				r.uncertain = r.uncertain || perhaps
				r.endpoints = append(r.endpoints, registered{
					Endpoint: &endpoints[i], owner: id, url: u, written: written, perhaps: perhaps,
				})
				all.Endpoints = append(all.Endpoints, signpost.Endpoint{URL: u.String()})
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

// isCertain reports whether an endpoint is on its host, and not only perhaps.
func (r *registration) isCertain(number int) bool { return !r.endpoints[number].perhaps }

// meets reports whether two endpoints of a site are known to meet there: a URL that names the host does not meet
// {{host}} of a service that is there only perhaps. What that decides, hostsUnknown reports.
func (e registered) meets(other registered) bool {
	isMixed := e.written.HasHostPlaceholder() != other.written.HasHostPlaceholder()
	return !isMixed || !e.perhaps && !other.perhaps
}

// maxHandovers is the largest number of endpoints that are reported to lose feeds to the same one. Nobody reads more.
// That there are others is a change of its own, so that accepting those reported does not accept them all.
const maxHandovers = 100

// contest returns who takes part, before and after, where an endpoint may lose feeds to another one. Nil means all.
type contest func(from int) (before, after func(number int) bool)

// handover records that an endpoint loses feeds to another one, although it still exists.
type handover struct {
	from registered // before
	feed match.Feed // an example
	harm []difference
}

// handovers returns the endpoints whose feeds break when the given endpoint takes them over, and whether there are more
// than these. Those that lose the most come first.
func (d *differ) handovers(at *slot, to endpoint) (found []handover, more bool) {
	before, after := d.registrations()
	number := after.numbers[owner{at, canonical(to.url)}]
	harm := func(from int) (is int, harm []difference) {
		is = before.endpoints[from].after
		if is < 0 || is == number || !before.endpoints[from].meets(after.endpoints[number]) {
			return is, nil
		}
		return is, differences(before.endpoints[from].Endpoint, after.endpoints[is].Endpoint, &to.Endpoint)
	}
	isHarmed := func(from int) (int, bool) {
		is, harm := harm(from)
		return is, len(harm) > 0
	}
	contests := []contest{nil}
	switch {
	case strings.Contains(to.URL, standIn):
		contests[0] = func(from int) (_, _ func(int) bool) {
			isThere := guests(at, before.endpoints[from].owner.slot)
			return func(number int) bool { return isThere(before.endpoints[number].owner.slot) },
				func(number int) bool { return isThere(after.endpoints[number].owner.slot) }
		}
	case (before.uncertain || after.uncertain) && after.isCertain(number):
		contests = append(contests, func(int) (_, _ func(int) bool) { return before.isCertain, after.isCertain })
	}
	var all, some []handover
	known := make(map[int]bool)
	for _, c := range contests {
		for from, feed := range before.index.Takeovers(after.index, number, isHarmed, c) {
			if known[from] {
				continue
			}
			if len(known) == maxHandovers {
				return append(all, some...), true
			}
			known[from] = true
			_, harm := harm(from)
			h := handover{before.endpoints[from], feed, harm}
			if feed.All {
				all = append(all, h)
			} else {
				some = append(some, h)
			}
		}
	}
	return append(all, some...), false
}

// feedSettings holds what a feed gets from the endpoint that answers for it.
type feedSettings struct {
	Endpoint   string                 `json:"endpoint"`
	Method     string                 `json:"method"`
	MIMEType   string                 `json:"mime_type"`
	ContextObj []signpost.ContextItem `json:"context_obj"`
}

func settingsOf(url signpost.URL, e *signpost.Endpoint) feedSettings {
	return feedSettings{url.String(), e.Method, e.MIMEType, append([]signpost.ContextItem{}, e.ContextObj...)}
}

// lostKeys names the context keys that feeds lost.
type lostKeys struct {
	Endpoint string   `json:"endpoint"`
	LostKeys []string `json:"lost_keys"`
}

// takenOverBy reports the feeds that each endpoint of an added version takes over. A service that cannot be on the
// current host does so on its own hosts.
func (d *differ) takenOverBy(at *slot) {
	hosts := at.hosts[after]
	if slices.Contains(hosts, d.host) {
		hosts = []string{d.host}
	}
	d.onEachHost(hosts, func() {
		for _, e := range d.render(at, after) {
			d.endpoint = e.shown
			d.takenOver(at, e)
		}
	})
	d.endpoint = signpost.URL{}
}

// takenOver reports the endpoints whose feeds the endpoint takes over and treats differently. Each is a change of its
// own, which does not depend on who else loses feeds.
func (d *differ) takenOver(at *slot, to endpoint) {
	handovers, more := d.handovers(at, to)
	for _, h := range handovers {
		was := h.from.written
		if d.plan.host != "" {
			was = h.from.url
		}
		about := subject{host: d.meetingHost(h, to)}
		from := d.describe(h, was, at, about.host)
		var texts, lost []string
		var harm, losses []string // for the fingerprint
		for _, one := range h.harm {
			step := fmt.Sprintf("harm %d %q %q %q", one.kind, one.key, one.old, one.new)
			if one.kind == keyLost {
				lost, losses = append(lost, one.key), append(losses, step)
			} else {
				texts, harm = append(texts, one.text), append(harm, step)
			}
		}
		about.path = []string{"from " + h.from.owner.slot.known + " " + h.from.written.Rest()}
		if len(texts) > 0 {
			d.add(ChangeFeedsTakenOver, about.sub(slices.Sorted(slices.Values(harm))...),
				settingsOf(was, h.from.Endpoint), settingsOf(to.shown, &to.Endpoint),
				"takes feeds over from %s: %s", from, strings.Join(texts, "; "))
		}
		if len(lost) > 0 {
			d.add(ChangeContextShadowed, about.sub(slices.Sorted(slices.Values(losses))...), lostKeys{was.String(), lost}, nil,
				"takes feeds over from %s; lost context keys: %s", from, spell.Quoted(lost))
		}
	}
	if more {
		d.add(ChangeFeedsTakenOver, subject{path: []string{"from others"}}, nil, nil,
			"takes feeds over from more than %d endpoints: only %d are listed", maxHandovers, maxHandovers)
	}
}

// describe names an endpoint, by its URL, that loses feeds to one at a slot. on is the host on which alone it does, or
// "".
func (d *differ) describe(h handover, was signpost.URL, at *slot, on string) string {
	text := strconv.Quote(was.String())
	if s := h.from.owner.slot; s != at {
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
	if !h.feed.All {
		origin := was.Origin()
		if on != "" {
			origin = h.from.url.Origin()
		}
		text += fmt.Sprintf(", such as %q", origin+h.feed.Rest)
	}
	if on != "" {
		text += ", on " + on
	}
	return text
}

// meetingHost returns the host on which feeds go to another endpoint, if only one of the two URLs has {{host}} in it.
func (d *differ) meetingHost(h handover, to endpoint) string {
	if d.plan.host != "" || h.from.written.HasHostPlaceholder() == to.shown.HasHostPlaceholder() {
		return ""
	}
	return hostname(to.url)
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
