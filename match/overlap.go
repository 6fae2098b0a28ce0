package match

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signpost"
)

// Rules about everything registered together.
const (
	RuleOverlapDropsContext  = "overlap-drops-context"
	RuleOverlapInsideSegment = "overlap-inside-segment"
	RuleRegisteredTwice      = "registered-twice"
)

// Overlaps returns warnings about endpoints that take feeds from each other, one list per version, in the order of its
// endpoints. All versions count as registered in one studio, and so do the manifests in registered, which get no
// findings of their own. Versions with the same Source belong to one service.
//
// Place locates an endpoint for messages about another version, such as sport.yaml:12. Its arguments are the index of
// the version, where those of registered follow the others, and the index of the endpoint. If it is nil, findings name
// the source.
//
// {{host}} must be resolved the same way in all URLs, or in none. Features add context keys, so apply them first with
// [Manifest.WithFeatures]. Invalid URLs are skipped.
func Overlaps(versions, registered []signpost.Version, place func(version, endpoint int) string) [][]signpost.Finding {
	o := &together{
		versions: slices.Concat(versions, registered), judged: len(versions), place: place,
		keys: make(map[*textEnd][]keyOwner), dropped: make(map[*textEnd]map[drop]bool), inside: make(map[*textEnd]bool), variantsOf: make(map[*textEnd][]int),
		findings: make([][]signpost.Finding, len(versions)),
	}
	o.build()
	ends := o.ends()
	for _, end := range ends {
		o.registeredTwice(end)
	}
	if !o.alike() {
		o.collectKeys()
		for _, end := range o.outerFirst(ends) {
			o.judge(end)
			o.reportLosses(end)
		}
	}
	for i, findings := range o.findings {
		if len(findings) > 1 {
			order := make(map[string]int)
			for j, e := range slices.Backward(versions[i].Manifest.Endpoints) { // the first one of several counts
				order[e.URL] = j
			}
			slices.SortStableFunc(findings, func(a, b signpost.Finding) int { return order[a.Path.Endpoint()] - order[b.Path.Endpoint()] })
		}
	}
	return o.findings
}

// together checks everything that is registered together.
type together struct {
	versions []signpost.Version // the checked ones come first
	judged   int
	place    func(version, endpoint int) string

	index    *Index
	refs     []endpointRef // for each endpoint of the index
	keyed    *segmentNode  // endpoints with context keys; the others have none to lose
	workLeft int           // see workPerEndpoint
	gaveUp   bool

	keys    map[*textEnd][]keyOwner    // keys declared by any endpoint with that URL, without duplicates
	dropped map[*textEnd]map[drop]bool // keys already reported as lost at a URL
	losses  []loss                     // of the current URL
	inside  map[*textEnd]bool          // URLs for which overlap-inside-segment was reported

	variantsOf map[*textEnd][]int // see variants
	findings   [][]signpost.Finding
}

// keyOwner is a context key and the first endpoint with the URL that declares it.
type keyOwner struct {
	key    string
	number int
}

// endpointRef identifies an endpoint by the indexes of its version and itself.
type endpointRef struct{ version, endpoint int }

func (o *together) build() {
	o.index = &Index{}
	for i, v := range o.versions {
		taken := make(map[string]bool, len(v.Manifest.Endpoints))
		for j, e := range v.Manifest.Endpoints {
			if taken[e.URL] || !valid(e.URL) {
				continue
			}
			taken[e.URL] = true
			o.refs = append(o.refs, endpointRef{i, j})
			e.Modifiers = nil // irrelevant to overlap
			o.index.add(e, v)
		}
	}
	o.index.root.finish()
	o.workLeft = workPerEndpoint * len(o.refs)
}

// collectKeys fills in keys and keyed.
func (o *together) collectKeys() {
	o.keyed = &segmentNode{}
	known := make(map[*textEnd]map[string]bool)
	for i, e := range o.index.endpoints {
		if len(e.ContextObj) == 0 {
			continue
		}
		if o.keys[e.at] == nil {
			o.keyed.add(segments(e.URL), Owner{Slot: i})
		}
		if known[e.at] == nil {
			known[e.at] = make(map[string]bool)
		}
		for _, item := range e.ContextObj {
			if !known[e.at][item.Key] {
				known[e.at][item.Key] = true
				o.keys[e.at] = append(o.keys[e.at], keyOwner{item.Key, i})
			}
		}
	}
}

// ends returns the URLs of all endpoints, without duplicates.
func (o *together) ends() []*textEnd {
	var ends []*textEnd
	for i, e := range o.index.endpoints {
		if i == e.at.ends[0] {
			ends = append(ends, e.at)
		}
	}
	return ends
}

// alike reports whether it makes no difference to any feed which endpoint answers for it. That is so in most services.
func (o *together) alike() bool {
	differs := func(e indexed) bool { return unlike(o.index.endpoints[0].Endpoint, e.Endpoint) }
	return len(o.refs) == 0 || !slices.ContainsFunc(o.index.endpoints, differs)
}

// outerFirst sorts URLs by length, shortest first, so that a key lost along the way is reported where it is lost first.
func (o *together) outerFirst(ends []*textEnd) []*textEnd {
	length := make(map[*textEnd]int)
	for _, end := range ends {
		length[end] = len(feedOf(segments(o.index.endpoints[end.ends[0]].URL), nil))
	}
	slices.SortStableFunc(ends, func(a, b *textEnd) int { return cmp.Or(length[a]-length[b], a.literals-b.literals) })
	return ends
}

// judge reports problems of the feeds of a URL.
func (o *together) judge(end *textEnd) {
	e := o.index.endpoints[end.ends[0]]
	kept := keySet(e.ContextObj)
	for _, k := range o.keys[end] { // of the same service: another version, or other placeholder names
		if o.index.endpoints[k.number].source == e.source && !kept[k.key] {
			o.lose(end, k, "")
		}
	}
	parts := segments(e.URL)
	o.consider(end, kept, feedOf(parts, nil), false)
	if !slices.ContainsFunc(parts, func(s segment) bool { return !s.literal() }) {
		return // all its feeds have the same prefixes
	}

	// Other endpoints have text where this one has a placeholder.
	work := func() bool { o.workLeft--; return o.workLeft > 0 }
	search := intersection{parts: parts, work: work, visit: func(id Owner, words [][]string) {
		other := o.index.endpoints[id.Slot].at
		lost := func(k keyOwner) bool { return !kept[k.key] && !o.isDropped(end, k) }
		if other == end || !slices.ContainsFunc(o.keys[other], lost) {
			return
		}
		for choice := range choicesOf(words) {
			if o.workLeft -= workPerFeed + len(parts); o.workLeft <= 0 || o.consider(end, kept, feedOf(parts, choice), true) {
				return
			}
		}
	}}
	if !search.walk(o.keyed, 0) && !o.gaveUp {
		o.gaveUp = true
		o.report(end.ends[0], RuleOverlapDropsContext, "make some of the URLs differ before their first placeholder",
			"%q may take feeds from other endpoints: too many URLs with placeholders overlap to compare them all", e.URL)
	}
}

// consider checks what a feed loses. It reports whether that settles what feeds of the URL lose: the URL answers for the
// feed, and no key was skipped. A key that is already lost at a URL in between is reported there, and skipped here.
func (o *together) consider(end *textEnd, kept map[string]bool, feed string, example bool) bool {
	canonical := canonical(feed)
	hits := o.index.hits(canonical)
	if len(hits) == 0 || hits[0].textEnd != end {
		return false
	}
	if !example {
		feed = ""
	}
	settled := true
	between := make(map[drop]bool) // keys lost at the URLs passed so far
	for _, h := range hits[1:] {
		if insideSegment(canonical, h.length) {
			o.insideSegment(h.textEnd, end.ends[0])
			continue
		}
		for _, k := range o.keys[h.textEnd] {
			switch {
			case kept[k.key]:
			case between[drop{key: k.key}] || between[drop{h.textEnd, k.key}]:
				settled = false
			default:
				o.lose(end, k, feed)
			}
		}
		maps.Copy(between, o.dropped[h.textEnd])
	}
	return settled
}

// lose records that feeds of a URL, for example the given one, lack a key that feeds of another URL get.
func (o *together) lose(end *textEnd, k keyOwner, feed string) {
	if !o.isJudged(end.ends[0]) && !o.isJudged(k.number) || o.isDropped(end, k) {
		return
	}
	if o.dropped[end] == nil {
		o.dropped[end] = make(map[drop]bool)
	}
	o.dropped[end][o.drop(end, k)] = true
	if n := len(o.losses); n > 0 && o.losses[n-1].other == k.number && o.losses[n-1].feed == feed {
		o.losses[n-1].keys = append(o.losses[n-1].keys, k.key)
		return
	}
	o.losses = append(o.losses, loss{k.number, feed, []string{k.key}})
}

// drop is a lost key and the URL that has it. One finding about the URL that loses the key is enough, and of is nil; if
// that URL is not checked, each URL that has the key gets a finding.
type drop struct {
	of  *textEnd
	key string
}

func (o *together) drop(end *textEnd, k keyOwner) drop {
	if o.isJudged(end.ends[0]) {
		return drop{key: k.key}
	}
	return drop{o.index.endpoints[k.number].at, k.key}
}

// isDropped reports whether a lost key needs no further report.
func (o *together) isDropped(end *textEnd, k keyOwner) bool { return o.dropped[end][o.drop(end, k)] }

// loss holds the keys of an endpoint that feeds of the current URL lack.
type loss struct {
	other int
	feed  string // an example; empty if all feeds are affected
	keys  []string
}

// reportLosses reports what the feeds of a URL lose.
func (o *together) reportLosses(end *textEnd) {
	number := end.ends[0]
	e := o.index.endpoints[number]
	for _, l := range o.losses {
		around := o.index.endpoints[l.other]
		such := ""
		if l.feed != "" {
			such = fmt.Sprintf(", such as %q,", strings.ReplaceAll(l.feed, anyValue, "…"))
		}
		if o.isJudged(number) {
			o.report(number, RuleOverlapDropsContext, "declare the keys here too, if the feeds need them",
				"feeds of %q%s do not get %s, as those of %q%s do", e.URL, such, quotedList(l.keys), around.URL, o.where(number, l.other))
		} else {
			o.report(l.other, RuleOverlapDropsContext, "declare the keys there too, if the feeds need them",
				"feeds of %q%s do not get %s where %q%s answers for them", around.URL, such, quotedList(l.keys), e.URL, o.where(l.other, number))
		}
	}
	o.losses = nil
}

// insideSegment reports a URL that ends in the middle of a path segment of a longer one, if clients call the two
// differently.
func (o *together) insideSegment(end *textEnd, longer int) {
	for _, number := range o.variants(end) {
		if !o.inside[end] && unlike(o.index.endpoints[number].Endpoint, o.index.endpoints[longer].Endpoint) {
			o.reportInside(end, number, longer)
		}
	}
}

// variants returns the first endpoint of a URL and the first one that clients call differently, if another service or
// version declares the URL as well. An endpoint that is like the first one is unlike the second.
func (o *together) variants(end *textEnd) []int {
	if found, ok := o.variantsOf[end]; ok {
		return found
	}
	found := end.ends[:1:1]
	first := o.index.endpoints[end.ends[0]].Endpoint
	i := slices.IndexFunc(end.ends, func(n int) bool { return unlike(first, o.index.endpoints[n].Endpoint) })
	if i >= 0 {
		found = append(found, end.ends[i])
	}
	o.variantsOf[end] = found
	return found
}

func (o *together) reportInside(end *textEnd, number, longer int) {
	if !o.isJudged(number) && !o.isJudged(longer) {
		return
	}
	o.inside[end] = true
	e, other := o.index.endpoints[number], o.index.endpoints[longer]
	const hint = "an endpoint answers for every URL that begins like its own: rename one of the two"
	if o.isJudged(number) {
		o.report(number, RuleOverlapInsideSegment, hint, "%q is also the beginning of %q%s", e.URL, other.URL, o.where(number, longer))
	} else {
		o.report(longer, RuleOverlapInsideSegment, hint, "%q begins like %q%s", other.URL, e.URL, o.where(longer, number))
	}
}

// unlike reports whether clients call two endpoints differently or expect different responses.
func unlike(a, b signpost.Endpoint) bool {
	if len(a.ContextObj) <= 1 && slices.Equal(a.ContextObj, b.ContextObj) { // nearly always
		return a.Method != b.Method || a.MIMEType != b.MIMEType
	}
	items := make(map[signpost.ContextItem]bool, len(a.ContextObj))
	for _, item := range a.ContextObj {
		items[item] = true
	}
	for _, item := range b.ContextObj {
		if !items[item] {
			return true
		}
	}
	return a.Method != b.Method || a.MIMEType != b.MIMEType || len(keySet(b.ContextObj)) != len(items)
}

// registeredTwice reports endpoints whose URL another service declares as well. If both are checked, the finding is
// about the later one.
func (o *together) registeredTwice(end *textEnd) {
	source := func(number int) string { return o.index.endpoints[number].source }
	firsts := func(numbers []int) []int { // the first one, and the first one of another service
		for i, n := range numbers {
			if source(n) != source(numbers[0]) {
				return []int{numbers[0], numbers[i]}
			}
		}
		return numbers[:min(1, len(numbers))]
	}
	judged := slices.IndexFunc(end.ends, func(n int) bool { return !o.isJudged(n) })
	if judged < 0 {
		judged = len(end.ends)
	}
	earlier, registered := firsts(end.ends), firsts(end.ends[judged:])
	for _, number := range end.ends[:judged] {
		foreign := func(n int) bool { return source(n) != source(number) }
		other := slices.IndexFunc(earlier, func(n int) bool { return n < number && foreign(n) })
		var first int
		if other >= 0 {
			first = earlier[other]
		} else if other = slices.IndexFunc(registered, foreign); other >= 0 {
			first = registered[other]
		} else {
			o.otherSettings(end, number)
			continue
		}
		url, also := o.index.endpoints[number].URL, ""
		if twin := o.index.endpoints[first].URL; twin != url {
			also = fmt.Sprintf(", as %q", twin) // with different placeholder names
		}
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: remove the other, or give it a URL of its own",
			"%q is also declared by another service%s%s", url, also, o.where(number, first))
	}
}

// otherSettings reports an endpoint whose URL an earlier version of its service declares with other settings. If it only
// has more context keys, judge reports that.
func (o *together) otherSettings(end *textEnd, number int) {
	e := o.index.endpoints[number]
	first := end.ends[slices.IndexFunc(end.ends, func(n int) bool { return o.index.endpoints[n].source == e.source })]
	if o.refs[first].version == o.refs[number].version {
		return
	}
	earlier := o.index.endpoints[first].Endpoint
	kept, shared := keySet(earlier.ContextObj), e.Endpoint
	shared.ContextObj = slices.DeleteFunc(slices.Clone(e.ContextObj), func(item signpost.ContextItem) bool { return !kept[item.Key] })
	if unlike(earlier, shared) {
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: make them alike, or give each version URLs of its own",
			"%q is declared with other settings by another version%s", e.URL, o.where(number, first))
	}
}

func (o *together) isJudged(number int) bool { return o.refs[number].version < o.judged }

// where returns the location of another endpoint for a message, or "" if it is in the same manifest.
func (o *together) where(number, other int) string {
	from, at := o.refs[number], o.refs[other]
	if from.version == at.version {
		return ""
	}
	v := o.versions[at.version]
	text := v.Source
	if o.place != nil {
		text = o.place(at.version, at.endpoint)
	} else if v.Source == o.versions[from.version].Source {
		text = v.Name
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// report adds a finding about an endpoint if it is one of those being checked.
func (o *together) report(number int, rule, hint, format string, args ...any) {
	if o.isJudged(number) {
		i := o.refs[number].version
		o.findings[i] = append(o.findings[i], signpost.Finding{
			Rule: rule, Severity: signpost.SeverityWarning, Message: fmt.Sprintf(format, args...), Hint: hint,
			Path: signpost.Path{signpost.Field(o.index.endpoints[number].URL)},
		})
	}
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
