package match

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
)

// Rules about everything registered together.
const (
	RuleOverlapDropsContext  = "overlap-drops-context"
	RuleOverlapInsideSegment = "overlap-inside-segment"
	RuleRegisteredTwice      = "registered-twice"
	RuleHostsUnknown         = "hosts-unknown"
	RuleTooLarge             = "too-large" // more findings than there is a use for
)

// Limits of the findings: nobody reads more, and 2,000 URLs that cross with 2,000 others have four million.
const (
	maxFindings = 10_000
	maxLonger   = 100 // URLs in which one of them ends inside a segment, in a message
	maxNamed    = 20  // of those, by their names
)

// Allowed reports whether a finding about an endpoint, given by its version and its position there, is intended. The
// finding is about the loss of a context item; the zero item stands for what is not about a loss.
type Allowed func(version, position int, rule string, lost signpost.ContextItem) bool

// Overlap is a finding about an endpoint, with its position in its version.
type Overlap struct {
	signpost.Finding
	Position int
}

// Overlaps returns warnings about endpoints that take feeds from each other, one list per version, in the order of its
// endpoints. All versions count as registered in one studio, and so do the manifests in registered, which get no
// findings of their own. Versions with the same Source belong to one service.
//
// {{host}} stands for the hosts of the version. A service that declares none is taken to be on one host with every
// other service. Features add context keys, so apply them first with [signpost.Manifest.WithFeatures]. Invalid URLs are
// skipped.
func Overlaps(versions, registered []signpost.Version) [][]signpost.Finding {
	findings := make([][]signpost.Finding, len(versions))
	for i, overlaps := range OverlapsExcept(valid(versions), valid(registered), nothingAllowed) {
		for _, o := range overlaps {
			findings[i] = append(findings[i], o.Finding)
		}
	}
	return findings
}

func nothingAllowed(int, int, string, signpost.ContextItem) bool { return false }

// valid returns versions without the endpoints whose URL is invalid, or in the version already.
func valid(versions []signpost.Version) []signpost.Version {
	versions = slices.Clone(versions)
	for i := range versions {
		v := &versions[i]
		all, lines := v.Manifest.Endpoints, v.Lines
		v.Manifest.Endpoints, v.Lines = nil, nil
		taken := make(map[string]bool)
		for position, e := range all {
			if _, err := signpost.ParseURL(e.URL); err != nil || taken[e.URL] {
				continue
			}
			taken[e.URL] = true
			v.Manifest.Endpoints = append(v.Manifest.Endpoints, e)
			if position < len(lines) {
				v.Lines = append(v.Lines, lines[position])
			}
		}
	}
	return versions
}

// OverlapsExcept is [Overlaps] without what is allowed, for valid URLs, none of which is in a version twice: files are
// checked before they are compared.
func OverlapsExcept(versions, registered []signpost.Version, allowed Allowed) [][]Overlap {
	o := newOverlapChecker(versions, registered, allowed)
	for number, e := range o.endpoints {
		for _, at := range o.meetingSpots(e) {
			o.registeredTwice(number, at)
		}
	}
	differs := func(call int) bool { return call != o.calls[0] }
	if slices.ContainsFunc(o.calls, differs) { // otherwise it does not matter who answers
		for number, e := range o.endpoints {
			for _, at := range o.meetingSpots(e) {
				if o.mayAnswer(number, at) && o.count < maxFindings {
					o.check(number, at)
				}
			}
		}
		o.reportInside()
	}
	o.reportUnknown()
	if o.count >= maxFindings { // so the first endpoint is judged
		o.report(0, RuleTooLarge, "correct those that are listed, then look again",
			"there may be more findings about overlap than the first %d", maxFindings)
	}
	findings := make([][]Overlap, len(versions))
	for number, e := range o.endpoints {
		for _, f := range o.found[number] {
			findings[e.in] = append(findings[e.in], Overlap{f, e.position})
		}
	}
	return findings
}

// overlapChecker checks everything that is registered together.
type overlapChecker struct {
	*Index
	judged      int   // the number of versions that get findings; they come first
	calls       []int // equal for endpoints that clients call alike
	allDeclared bool  // every version declares its hosts
	allowed     Allowed

	reported map[lostKey]bool
	twice    map[int]bool               // endpoints for which registered-twice was reported
	inside   map[int][]longer           // by the endpoint that ends inside a segment of others
	found    map[int][]signpost.Finding // by number of the endpoint
	count    int                        // of findings so far, and of parts of them
}

// lostKey is a context key that feeds of an endpoint lack. One finding about the endpoint that takes it is enough, and
// of is -1; if that endpoint is not judged, each endpoint that has the key gets a finding.
type lostKey struct {
	by, of int
	key    string
}

func newOverlapChecker(versions, registered []signpost.Version, allowed Allowed) *overlapChecker {
	o := &overlapChecker{
		Index: NewIndex(slices.Concat(versions, registered)...), judged: len(versions), allowed: allowed,
		reported: make(map[lostKey]bool), twice: make(map[int]bool), inside: make(map[int][]longer),
		found: make(map[int][]signpost.Finding),
	}
	isUndeclared := func(v signpost.Version) bool { return len(v.Hosts) == 0 }
	o.allDeclared = !slices.ContainsFunc(o.versions, isUndeclared)
	type call struct{ method, mimeType, items string }
	calls, items := make(numbers[call]), make(numbers[signpost.ContextItem])
	for _, e := range o.endpoints {
		var sent []int
		for _, item := range e.ContextObj {
			item.Extra = ""
			sent = append(sent, items.of(item))
		}
		slices.Sort(sent)
		o.calls = append(o.calls, calls.of(call{e.Method, e.MIMEType, fmt.Sprint(slices.Compact(sent))}))
	}
	return o
}

// numbers gives equal values the same number.
type numbers[T comparable] map[T]int

func (n numbers[T]) of(value T) int {
	if _, known := n[value]; !known {
		n[value] = len(n)
	}
	return n[value]
}

func (o *overlapChecker) isJudged(number int) bool { return o.endpoints[number].in < o.judged }

func (o *overlapChecker) version(number int) *signpost.Version {
	return &o.versions[o.endpoints[number].in]
}

func (o *overlapChecker) source(number int) string { return o.version(number).Source }

// meetingSpots returns where an endpoint can meet others. If all services declare their hosts, nothing meets as
// written with {{host}}.
func (o *overlapChecker) meetingSpots(e indexed) []spot {
	if e.spots[0].isOpen() && o.allDeclared {
		return e.spots[1:]
	}
	return e.spots
}

// mayAnswer reports whether an endpoint can be the first one with its URL on a site. Where hosts are not declared, that
// is one of the services that declare none, or one before them; on a host with guests, it is one that is no guest, or
// one before it. Asking only these makes 1,000 services with the same URLs ten times faster (BenchmarkOverlaps).
func (o *overlapChecker) mayAnswer(number int, at spot) bool {
	isAlways := func(other int) bool { return !o.isGuest(at.site, other) }
	if at.isOpen() {
		isAlways = func(other int) bool { return !o.isDeclared(other) }
	}
	first := slices.IndexFunc(at.ends, isAlways)
	return first < 0 || number <= at.ends[first]
}

// scene is a host on which endpoints can take feeds from each other, with those that are on it.
type scene struct {
	*site
	owners    []int          // the endpoints of a URL, which the feeds may be taken from
	takesPart func(int) bool // nil means all of the site
}

// meets reports whether two endpoints of a site are known to meet there. If it has no host, services that both declare
// theirs meet on those instead. If it has one, a URL that names it does not meet {{host}} of a guest.
func (o *overlapChecker) meets(s *site, a, b int) bool {
	if s.isOpen() {
		return !o.isDeclared(a) || !o.isDeclared(b)
	}
	isMixed := o.endpoints[a].url.HasHostPlaceholder() != o.endpoints[b].url.HasHostPlaceholder()
	return !isMixed || !o.isGuest(s, a) && !o.isGuest(s, b)
}

// isGuest reports whether an endpoint is on the host of a site by a suffix alone: whether its service is published
// there is unknown.
func (o *overlapChecker) isGuest(s *site, number int) bool {
	u := o.endpoints[number].url
	return s.guests && u.HasHostPlaceholder() && !slices.Contains(o.version(number).Hosts, u.HostFor(s.url))
}

// scenes returns where an endpoint meets those of a URL of the same site. If the site has a host, there is one scene,
// in which all take part, and one without the guests. Otherwise all services that declare no hosts are on one host,
// with one of the others at a time.
func (o *overlapChecker) scenes(number int, s *site, ends []int) []scene {
	var met []int
	for _, owner := range ends {
		isAlike := o.calls[owner] == o.calls[number] && owner != number // it does not matter which of them answers
		if !isAlike && o.meets(s, number, owner) {
			met = append(met, owner)
		}
	}
	if !s.isOpen() {
		scenes := []scene{{s, met, nil}}
		if s.guests && !o.isGuest(s, number) {
			isGuest := func(owner int) bool { return o.isGuest(s, owner) }
			takesPart := func(other int) bool { return !isGuest(other) }
			scenes = append(scenes, scene{s, slices.DeleteFunc(slices.Clone(met), isGuest), takesPart})
		}
		return scenes
	}
	var scenes []scene
	guests := make(map[string]int) // scenes by the service that declares its hosts
	for _, owner := range met {
		guest := ""
		switch {
		case o.isDeclared(number):
			guest = o.source(number)
		case o.isDeclared(owner):
			guest = o.source(owner)
		}
		i, known := guests[guest]
		if !known {
			i = len(scenes)
			guests[guest] = i
			takesPart := func(other int) bool { return !o.isDeclared(other) || o.source(other) == guest }
			scenes = append(scenes, scene{s, nil, takesPart})
		}
		scenes[i].owners = append(scenes[i].owners, owner)
	}
	return scenes
}

// first returns the endpoint of a URL that answers in the scene.
func (s scene) first(ends []int) int {
	if s.takesPart == nil {
		return ends[0]
	}
	return ends[slices.IndexFunc(ends, s.takesPart)]
}

// check reports the endpoints that an endpoint takes feeds from on one site, if those feeds lose context keys or end
// inside a segment.
func (o *overlapChecker) check(number int, at spot) {
	e := o.endpoints[number]
	kept := keySet(e.ContextObj)
	for _, s := range o.scenes(number, at.site, at.ends) {
		if s.first(at.ends) == number {
			isOther := func(owner int) bool { return o.source(owner) != o.source(number) } // registered twice
			o.lose(number, slices.DeleteFunc(s.owners, isOther), kept, s, nil)
		}
	}
	wants := func(n *node) (whole, inside bool) {
		if n == at.node || o.count >= maxFindings {
			return false, false
		}
		for _, owner := range n.ends {
			if len(o.lostItems(number, owner, kept)) > 0 {
				whole = whole || !at.yieldsTo(n, number, owner)
				inside = true
			}
		}
		return whole, inside || len(o.calledDifferently(number, n, n.ends)) > 0
	}
	for n, feeds := range at.meetings(e, wants) {
		for _, s := range o.scenes(number, at.site, n.ends) {
			o.take(number, at, n, s, feeds, kept)
		}
	}
}

// take reports what an endpoint takes from those at a node in a scene.
func (o *overlapChecker) take(number int, at spot, n *node, s scene, feeds *feeds, kept map[string]bool) {
	e := o.endpoints[number]
	answers := func(words []string) bool { return at.answers(words, number, s.takesPart) }
	isWhole := func(words []string) bool { return !n.endsInside(words) }
	different := o.calledDifferently(number, n, s.owners)
	if len(different) > 0 { // not only for some values
		isGeneral := func(words []string) bool { return n.endsInside(words) && words[n.depth-1] == e.words[n.depth-1] }
		if words, found := feeds.find(isGeneral, answers); found {
			o.addLonger(different, number, s, words)
		}
	}
	keepsAll := func(owner int) bool { return len(o.lostItems(number, owner, kept)) == 0 }
	losers := slices.DeleteFunc(s.owners, keepsAll)
	if len(losers) == 0 {
		return
	}
	if words, found := feeds.find(isWhole, answers); found {
		o.lose(number, losers, kept, s, words)
	} else if words, found := feeds.find(n.endsInside, answers); found {
		o.addLonger(losers, number, s, words) // nothing else tells that some lose keys
	}
}

// lostItems returns the context items of an endpoint that feeds lack where the given one answers, without those already
// reported.
func (o *overlapChecker) lostItems(number, owner int, kept map[string]bool) []signpost.ContextItem {
	if o.calls[owner] == o.calls[number] || !o.isJudged(number) && !o.isJudged(owner) {
		return nil
	}
	var items []signpost.ContextItem
	for _, item := range o.endpoints[owner].ContextObj {
		if !kept[item.Key] && !o.reported[o.lostKey(number, owner, item.Key)] {
			items = append(items, item)
		}
	}
	return items
}

func (o *overlapChecker) lostKey(number, owner int, key string) lostKey {
	if o.isJudged(number) {
		owner = -1
	}
	return lostKey{number, owner, key}
}

// lose reports the keys that feeds of the owners lack where the given endpoint answers, with one of these feeds, unless
// all of them do.
func (o *overlapChecker) lose(number int, owners []int, kept map[string]bool, s scene, words []string) {
	for _, owner := range owners {
		at, other := owner, number
		if o.isJudged(number) {
			at, other = number, owner
		}
		var keys []string
		for _, item := range o.lostItems(number, owner, kept) {
			id := o.lostKey(number, owner, item.Key)
			isAllowed := o.allows(at, RuleOverlapDropsContext, item) // which may be so for another owner of the key
			if !o.reported[id] && !isAllowed {
				o.reported[id] = true
				keys = append(keys, item.Key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		on, together := o.where(s.site, number, owner)
		lose := "lose context key " + spell.Quoted(keys) + on
		if len(keys) > 1 {
			lose = "lose context keys " + spell.Quoted(keys) + on
		}
		example := ""
		if feed := o.example(s.site, number, owner, words); feed != "" {
			example = fmt.Sprintf(", such as %q,", feed)
		}
		around, inner, location := o.endpoints[owner].URL, o.endpoints[number].URL, o.location(at, other)
		if at == number {
			o.report(at, RuleOverlapDropsContext, "declare the keys here too, if the feeds need them",
				"feeds of %q%s %s: %q shadows %q%s%s", inner, example, lose, inner, around, location, together)
		} else {
			o.report(at, RuleOverlapDropsContext, "declare the keys there too, if the feeds need them",
				"feeds of %q%s %s: %q%s shadows it%s", around, example, lose, inner, location, together)
		}
	}
}

func (o *overlapChecker) allows(number int, rule string, lost signpost.ContextItem) bool {
	e := o.endpoints[number]
	return e.in < o.judged && o.allowed(e.in, e.position, rule, lost)
}

// where says where two endpoints meet on a site: on the host that the other one names or, if not both services declare
// hosts, on one that both must have. If both contain {{host}} in different ways, it is that of the site.
func (o *overlapChecker) where(s *site, a, b int) (on, together string) {
	one, other := o.endpoints[a].url, o.endpoints[b].url
	switch {
	case s.isOpen() && o.source(a) != o.source(b):
		return "", ", if both are on one host"
	case s.isOpen() || one.Origin() == other.Origin():
		return "", ""
	case one.HasHostPlaceholder() && other.HasHostPlaceholder():
		return " on " + strings.ToLower(s.url.Hostname()), ""
	case one.HasHostPlaceholder():
		return " on " + one.HostFor(s.url), ""
	}
	return " on " + other.HostFor(s.url), ""
}

// example returns a feed that one endpoint takes from another on a site, or "" if every feed of the first is one.
func (o *overlapChecker) example(s *site, number, owner int, words []string) string {
	e := o.endpoints[number]
	hasValue := func(s segment) bool { return !s.literal() }
	if words == nil || !slices.ContainsFunc(e.parts, hasValue) {
		return ""
	}
	origin := s.origin
	if written := e.url.Origin(); written == o.endpoints[owner].url.Origin() {
		origin = written
	}
	return origin + shown(words)
}

// location returns that of another endpoint for a message, or "" if it is in the same manifest.
func (o *overlapChecker) location(number, other int) string {
	e := o.endpoints[other]
	if o.endpoints[number].in == e.in {
		return ""
	}
	v := o.versions[e.in]
	text := v.Source
	if o.source(number) == v.Source {
		text = v.Name
	}
	if v.Lines != nil {
		text = fmt.Sprintf("%s:%d", v.Source, v.Lines[e.position])
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// report adds a finding about an endpoint if it is one of those being judged. What is about lost keys has been asked
// for already.
func (o *overlapChecker) report(number int, rule, hint, format string, args ...any) {
	aboutKeys := rule == RuleOverlapDropsContext || rule == RuleOverlapInsideSegment
	if !o.isJudged(number) || !aboutKeys && o.allows(number, rule, signpost.ContextItem{}) {
		return
	}
	o.count++
	o.found[number] = append(o.found[number], signpost.Finding{
		Rule: rule, Severity: signpost.SeverityWarning,
		Message: spell.Shorten(fmt.Sprintf(format, args...)), Hint: spell.Shorten(hint),
		Path: signpost.Path{signpost.Field(o.endpoints[number].URL)},
	})
}
