package match

import (
	"fmt"
	"slices"
	"strconv"
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
// {{host}} can be any host that a URL names. Features add context keys, so apply them first with
// [signpost.Manifest.WithFeatures]. Invalid URLs are skipped.
func Overlaps(versions, registered []signpost.Version) [][]signpost.Finding {
	o := &overlapChecker{
		versions: slices.Concat(versions, registered), judged: len(versions),
		index: &Index{sites: make(map[string]*site)}, keys: make(map[*node][]keyOwner),
		reported: make(map[loss]bool), inside: make(map[*node]bool),
		findings: make([][]signpost.Finding, len(versions)),
	}
	o.build()
	for number, e := range o.index.endpoints {
		if number == e.node.ends[0] { // the one that answers
			o.registeredTwice(e.node)
		}
	}
	if o.classify() > 1 { // otherwise it makes no difference which endpoint answers, as in most services
		for number, e := range o.index.endpoints {
			if number == e.node.ends[0] {
				o.check(number)
			}
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

// overlapChecker checks everything that is registered together.
type overlapChecker struct {
	versions []signpost.Version // the judged ones come first
	judged   int

	index *Index
	of    []int // the version of each endpoint of the index
	kinds []int // for each endpoint of the index; those of a kind are called alike
	keys  map[*node][]keyOwner

	reported map[loss]bool
	inside   map[*node]bool // URLs for which overlap-inside-segment was reported
	findings [][]signpost.Finding
}

// keyOwner is a context key and the first endpoint with a URL that declares it.
type keyOwner struct {
	key    string
	number int
}

// loss is a context key that feeds of a URL lack. One finding about the URL that takes it is enough, and of is nil; if
// that URL is not judged, each URL that has the key gets a finding.
type loss struct {
	by, of *node
	key    string
}

func (o *overlapChecker) build() {
	for i, v := range o.versions {
		taken := make(map[string]bool, len(v.Manifest.Endpoints))
		for _, e := range v.Manifest.Endpoints {
			if _, err := signpost.ParseURL(e.URL); err != nil || taken[e.URL] {
				continue
			}
			taken[e.URL] = true
			o.of = append(o.of, i)
			e.Modifiers = nil // irrelevant to overlap
			o.index.add(e, v)
		}
	}
	for i, e := range o.index.endpoints {
		for _, item := range e.ContextObj {
			if !slices.ContainsFunc(o.keys[e.node], func(k keyOwner) bool { return k.key == item.Key }) {
				o.keys[e.node] = append(o.keys[e.node], keyOwner{item.Key, i})
			}
		}
	}
}

// classify sorts endpoints into kinds, numbered from 1, and returns their number.
func (o *overlapChecker) classify() int {
	known := make(map[string]int)
	for _, e := range o.index.endpoints {
		text := e.Method + "\x00" + e.MIMEType
		if len(e.ContextObj) > 0 {
			items := make([]string, len(e.ContextObj))
			for i, c := range e.ContextObj {
				items[i] = fmt.Sprintf("%q %q %v %q", c.Key, c.Type, c.Required, c.Mapper)
			}
			slices.Sort(items)
			text += "\x00" + strings.Join(slices.Compact(items), "\x00")
		}
		if known[text] == 0 {
			known[text] = len(known) + 1
		}
		o.kinds = append(o.kinds, known[text])
	}
	return len(known)
}

// check reports the endpoints that an endpoint takes feeds from, if those feeds lose context keys.
func (o *overlapChecker) check(number int) {
	e := o.index.endpoints[number]
	kept := keySet(e.ContextObj)
	var own []keyOwner // of the same URL, in another version or with other placeholder names
	for _, k := range o.keys[e.node] {
		if o.index.endpoints[k.number].source == e.source && !kept[k.key] {
			own = append(own, k)
		}
	}
	o.lose(number, e.node, own, "", "")

	_, rest := cut(e.URL)
	parts := segments(rest)
	wants := func(other int) bool {
		n := o.index.endpoints[other].node
		return n != e.node && other == n.ends[0] && (o.calledDifferently(number, n) >= 0 || len(o.lost(number, n, kept)) > 0)
	}
	for other, feeds := range o.index.Meetings(e.URL, wants) {
		n := o.index.endpoints[other].node
		lost, different := o.lost(number, n, kept), o.calledDifferently(number, n)
		for feed := range feeds {
			if len(lost) == 0 && different < 0 || feed.Host != "" && o.collide(number, n) {
				break
			}
			if winner, _ := o.index.Find(feed); o.index.endpoints[winner].node != e.node {
				continue
			}
			example := ""
			if slices.ContainsFunc(parts, func(s segment) bool { return !s.literal() }) {
				example = feed.String()
			}
			switch depth := n.depth - 1; {
			case !endsInside(n, feed):
				o.lose(number, n, lost, example, feed.Host)
				lost = nil
			case different >= 0 && feed.word(depth) == parts[depth].general(): // not only for some values
				o.reportInside(n, different, number, example, feed.Host)
				different = -1
			}
		}
	}
}

// collide reports whether an endpoint and one at n are in the same manifest and become the same URL for some host: see
// resolved-url-collision.
func (o *overlapChecker) collide(number int, n *node) bool {
	e := o.index.endpoints[number].node
	return e.depth == n.depth && e.path() == n.path() &&
		slices.ContainsFunc(n.ends, func(other int) bool { return o.of[other] == o.of[number] })
}

// endsInside reports whether the URL at n ends inside a path segment of a feed.
func endsInside(n *node, feed Feed) bool {
	if n.depth == 0 {
		return false
	}
	word := feed.word(n.depth - 1)
	return insideSegment(word, n.segment.prefix(word))
}

// lost returns the keys of a URL that feeds lack where the given endpoint answers, without those already reported.
func (o *overlapChecker) lost(number int, other *node, kept map[string]bool) []keyOwner {
	var lost []keyOwner
	for _, k := range o.keys[other] {
		if !kept[k.key] && !o.reported[o.loss(number, other, k.key)] && (o.isJudged(number) || o.isJudged(k.number)) {
			lost = append(lost, k)
		}
	}
	return lost
}

func (o *overlapChecker) loss(number int, other *node, key string) loss {
	l := loss{by: o.index.endpoints[number].node, key: key}
	if !o.isJudged(number) {
		l.of = other
	}
	return l
}

// lose reports the keys of a URL that feeds lack where the given endpoint answers, in one finding for each endpoint that
// declares them. on is the host on which that is so, or "".
func (o *overlapChecker) lose(number int, other *node, lost []keyOwner, example, on string) {
	e := o.index.endpoints[number]
	if example != "" {
		example = fmt.Sprintf(", such as %q,", example)
	}
	if on != "" {
		on = " on " + on
	}
	for len(lost) > 0 {
		owner := lost[0].number
		var keys []string
		lost = slices.DeleteFunc(lost, func(k keyOwner) bool {
			if k.number == owner {
				keys = append(keys, strconv.Quote(k.key))
				o.reported[o.loss(number, other, k.key)] = true
			}
			return k.number == owner
		})
		what := "context key "
		if len(keys) > 1 {
			what = "context keys "
		}
		what += strings.Join(keys, ", ") + on
		around := o.index.endpoints[owner]
		if o.isJudged(number) {
			o.report(number, RuleOverlapDropsContext, "declare the keys here too, if the feeds need them",
				"feeds of %q%s lose %s: %q shadows %q%s", e.URL, example, what, e.URL, around.URL, o.where(number, owner))
		} else {
			o.report(owner, RuleOverlapDropsContext, "declare the keys there too, if the feeds need them",
				"feeds of %q%s lose %s: %q%s shadows it", around.URL, example, what, e.URL, o.where(owner, number))
		}
	}
}

// calledDifferently returns an endpoint of a URL that clients call differently than the given one, or -1 if there is none
// or the URL has been reported.
func (o *overlapChecker) calledDifferently(number int, n *node) int {
	if o.inside[n] || n.depth == 0 || n.segment.last() == "" { // the URL ends where a segment ends
		return -1
	}
	i := slices.IndexFunc(n.ends, func(other int) bool {
		return o.kinds[other] != o.kinds[number] && (o.isJudged(other) || o.isJudged(number))
	})
	if i < 0 {
		return -1
	}
	return n.ends[i]
}

// reportInside reports a URL that ends in the middle of a path segment of a longer one.
func (o *overlapChecker) reportInside(n *node, short, longer int, example, on string) {
	o.inside[n] = true
	e, other := o.index.endpoints[short], o.index.endpoints[longer]
	if example != "" {
		example = fmt.Sprintf(", such as %q", example)
	}
	if on != "" {
		on = " on " + on
	}
	const hint = "an endpoint answers for every URL that begins like its own: rename one of the two"
	if o.isJudged(short) {
		of := ""
		if example != "" {
			of = "feeds of "
		}
		o.report(short, RuleOverlapInsideSegment, hint, "%q is also the beginning of %s%q%s%s%s", e.URL, of, other.URL, o.where(short, longer), example, on)
	} else {
		o.report(longer, RuleOverlapInsideSegment, hint, "%q begins like %q%s%s%s", other.URL, e.URL, o.where(longer, short), example, on)
	}
}

// registeredTwice reports endpoints whose URL another service declares as well. If both are judged, the finding is
// about the later one.
func (o *overlapChecker) registeredTwice(n *node) {
	source := func(number int) string { return o.index.endpoints[number].source }
	judged := slices.IndexFunc(n.ends, func(number int) bool { return !o.isJudged(number) })
	if judged < 0 {
		judged = len(n.ends)
	}
	for i, number := range n.ends[:judged] {
		foreign := func(other int) bool { return source(other) != source(number) }
		first := slices.IndexFunc(n.ends[:i], foreign)
		if first < 0 {
			if first = slices.IndexFunc(n.ends[judged:], foreign); first >= 0 {
				first += judged
			}
		}
		if first < 0 {
			o.otherSettings(n, number)
			continue
		}
		url, also := o.index.endpoints[number].URL, ""
		if twin := o.index.endpoints[n.ends[first]].URL; twin != url {
			also = fmt.Sprintf(", as %q", twin) // with different placeholder names
		}
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: remove the other, or give it a URL of its own",
			"%q is also declared by another service%s%s", url, also, o.where(number, n.ends[first]))
	}
}

// otherSettings reports an endpoint whose URL an earlier version of its service declares with other settings. If it only
// has more context keys, check reports that.
func (o *overlapChecker) otherSettings(n *node, number int) {
	e := o.index.endpoints[number]
	first := n.ends[slices.IndexFunc(n.ends, func(other int) bool { return o.index.endpoints[other].source == e.source })]
	if o.of[first] == o.of[number] {
		return
	}
	earlier := o.index.endpoints[first]
	kept := keySet(earlier.ContextObj)
	differs := e.Method != earlier.Method || e.MIMEType != earlier.MIMEType
	shared := 0
	for _, item := range e.ContextObj {
		if kept[item.Key] {
			shared++
			differs = differs || !slices.Contains(earlier.ContextObj, item)
		}
	}
	if differs || shared < len(kept) {
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: make them alike, or give each version URLs of its own",
			"%q is declared with other settings by another version%s", e.URL, o.where(number, first))
	}
}

func (o *overlapChecker) isJudged(number int) bool { return o.of[number] < o.judged }

// where returns the location of another endpoint for a message, or "" if it is in the same manifest.
func (o *overlapChecker) where(number, other int) string {
	if o.of[number] == o.of[other] {
		return ""
	}
	from, at := o.versions[o.of[number]], o.versions[o.of[other]]
	text := at.Source
	if place := at.Places[o.index.endpoints[other].URL]; place != "" {
		text = place
	} else if at.Source == from.Source {
		text = at.Name
	}
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// report adds a finding about an endpoint if it is one of those being judged.
func (o *overlapChecker) report(number int, rule, hint, format string, args ...any) {
	if o.isJudged(number) {
		i := o.of[number]
		o.findings[i] = append(o.findings[i], signpost.Finding{
			Rule: rule, Severity: signpost.SeverityWarning, Message: fmt.Sprintf(format, args...), Hint: hint,
			Path: signpost.Path{signpost.Field(o.index.endpoints[number].URL)},
		})
	}
}
