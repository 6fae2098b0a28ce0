package match

import (
	"cmp"
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
)

// maxFindings is when Overlaps stops: nobody reads more, and 2,000 URLs that cross with 2,000 others have four million.
const maxFindings = 10_000

// maxInside is when it stops looking for URLs that end inside a segment: 7,000 URLs such as /{{a}}-1 have as many of those.
const maxInside = 1000

// Overlaps returns warnings about endpoints that take feeds from each other, one list per version, in the order of its
// endpoints. All versions count as registered in one studio, and so do the manifests in registered, which get no
// findings of their own. Versions with the same Source belong to one service.
//
// {{host}} can be any host that a URL names. Features add context keys, so apply them first with
// [signpost.Manifest.WithFeatures]. Invalid URLs are skipped.
func Overlaps(versions, registered []signpost.Version) [][]signpost.Finding {
	o := newOverlapChecker(versions, registered)
	for number, e := range o.endpoints {
		if number == e.node.ends[0] { // the one that answers
			o.registeredTwice(e.node)
		}
	}
	if slices.ContainsFunc(o.calls, func(call string) bool { return call != o.calls[0] }) { // otherwise it does not matter who answers
		for number, e := range o.endpoints {
			if number == e.node.ends[0] && o.count < maxFindings {
				o.check(number)
			}
		}
	}
	findings := make([][]signpost.Finding, len(versions))
	for number, e := range o.endpoints {
		if o.isJudged(number) {
			findings[e.in] = append(findings[e.in], o.found[number]...)
		}
	}
	return findings
}

// overlapChecker checks everything that is registered together.
type overlapChecker struct {
	*Index
	judged int      // the number of versions that get findings; they come first
	calls  []string // how clients call each endpoint

	reported map[lostKey]bool
	inside   map[*node]bool             // URLs for which overlap-inside-segment was reported
	found    map[int][]signpost.Finding // by number of the endpoint
	count    int                        // of findings
}

// loss holds the context keys of an endpoint that feeds lack.
type loss struct {
	owner int
	keys  []string
}

// lostKey is a context key that feeds of a URL lack. One finding about the URL that takes it is enough, and of is nil; if
// that URL is not judged, each URL that has the key gets a finding.
type lostKey struct {
	by, of *node
	key    string
}

func newOverlapChecker(versions, registered []signpost.Version) *overlapChecker {
	all := slices.Concat(versions, registered)
	for i, v := range all {
		all[i].Manifest = signpost.Manifest{}
		taken := make(map[string]bool, len(v.Manifest.Endpoints))
		for _, e := range v.Manifest.Endpoints {
			if _, err := signpost.ParseURL(e.URL); err == nil && !taken[e.URL] {
				taken[e.URL] = true
				e.Modifiers = nil // they do not matter here
				all[i].Manifest.Endpoints = append(all[i].Manifest.Endpoints, e)
			}
		}
	}
	o := &overlapChecker{
		Index: NewIndex(all...), judged: len(versions),
		reported: make(map[lostKey]bool), inside: make(map[*node]bool), found: make(map[int][]signpost.Finding),
	}
	for _, e := range o.endpoints {
		o.calls = append(o.calls, call(e.Endpoint))
	}
	return o
}

// call describes how clients call an endpoint.
func call(e signpost.Endpoint) string {
	parts := []string{e.Method, e.MIMEType}
	for _, c := range e.ContextObj {
		parts = append(parts, fmt.Sprintf("%q %q %v %q", c.Key, c.Type, c.Required, c.Mapper))
	}
	slices.Sort(parts[2:])
	return strings.Join(slices.Compact(parts), "\x00")
}

func (o *overlapChecker) isJudged(number int) bool { return o.endpoints[number].in < o.judged }

func (o *overlapChecker) source(number int) string { return o.versions[o.endpoints[number].in].Source }

// check reports the endpoints that an endpoint takes feeds from, if those feeds lose context keys or end inside a segment.
func (o *overlapChecker) check(number int) {
	e := o.endpoints[number]
	kept := keySet(e.ContextObj)
	o.lose(number, e.node, o.lost(number, e.node, kept), "", "")

	general := e.node.words()
	wants := func(n *node) bool {
		return n != e.node && (len(o.lost(number, n, kept)) > 0 || o.calledDifferently(number, n, general) >= 0)
	}
	inside := func(n *node) bool { return len(o.inside) < maxInside && !o.inside[n] && wants(n) }
	for n, feeds := range o.meetings(e, wants, inside) {
		lost, different := o.lost(number, n, kept), o.calledDifferently(number, n, general)
		var reportInside func() // for some values only, if nothing else tells that they lose keys
		for f := range feeds {
			if len(lost) == 0 && different < 0 || f.host != "" && o.collide(number, n) {
				break
			}
			if o.answers(f) != number {
				continue
			}
			example := ""
			if slices.ContainsFunc(general, func(word string) bool { return strings.Contains(word, anyValue) }) {
				example = fmt.Sprintf(", such as %q", f)
			}
			switch {
			case !n.endsInside(f.words):
				o.lose(number, n, lost, example, f.host)
				lost = nil
			case different >= 0 && f.words[n.depth-1] == general[n.depth-1]: // not only for some values
				o.reportInside(n, different, number, example, f.host)
				different = -1
			case reportInside == nil && len(lost) > 0:
				owner := lost[0].owner
				reportInside = func() { o.reportInside(n, owner, number, example, f.host) }
			}
		}
		if reportInside != nil && len(lost) > 0 && !o.inside[n] {
			reportInside()
		}
	}
}

// collide reports whether an endpoint and one at n are in the same manifest and become the same URL for some host: see
// resolved-url-collision.
func (o *overlapChecker) collide(number int, n *node) bool {
	e := o.endpoints[number]
	return slices.Equal(e.node.words(), n.words()) &&
		slices.ContainsFunc(n.ends, func(other int) bool { return o.endpoints[other].in == e.in })
}

// lost returns the keys of a URL that feeds lack where the given endpoint answers, without those already reported. If the
// endpoint has the same URL, only those of its own service count: other ones are registered twice.
func (o *overlapChecker) lost(number int, n *node, kept map[string]bool) []loss {
	var all []loss
	for _, owner := range n.ends {
		if n == o.endpoints[number].node && o.source(owner) != o.source(number) || !o.isJudged(number) && !o.isJudged(owner) {
			continue
		}
		keys := slices.DeleteFunc(missingKeys(o.endpoints[owner].ContextObj, kept), func(key string) bool {
			known := func(l loss) bool { return slices.Contains(l.keys, key) }
			return o.reported[o.lostKey(number, n, key)] || slices.ContainsFunc(all, known)
		})
		if len(keys) > 0 {
			all = append(all, loss{owner, keys})
		}
	}
	return all
}

func (o *overlapChecker) lostKey(number int, n *node, key string) lostKey {
	if o.isJudged(number) {
		n = nil
	}
	return lostKey{o.endpoints[number].node, n, key}
}

// lose reports the keys of a URL that feeds lack where the given endpoint answers. on is the host on which that is so, or "".
func (o *overlapChecker) lose(number int, n *node, lost []loss, example, on string) {
	if example != "" {
		example += ","
	}
	for _, l := range lost {
		for _, key := range l.keys {
			o.reported[o.lostKey(number, n, key)] = true
		}
		what := "context key "
		if len(l.keys) > 1 {
			what = "context keys "
		}
		what += spell.Quoted(l.keys) + onHost(on)
		around, inner := o.endpoints[l.owner].URL, o.endpoints[number].URL
		if o.isJudged(number) {
			o.report(number, RuleOverlapDropsContext, "declare the keys here too, if the feeds need them",
				"feeds of %q%s lose %s: %q shadows %q%s", inner, example, what, inner, around, o.where(number, l.owner))
		} else {
			o.report(l.owner, RuleOverlapDropsContext, "declare the keys there too, if the feeds need them",
				"feeds of %q%s lose %s: %q%s shadows it", around, example, what, inner, o.where(l.owner, number))
		}
	}
}

func onHost(name string) string {
	if name == "" {
		return ""
	}
	return " on " + name
}

// calledDifferently returns an endpoint of a URL that ends inside a segment of the given endpoint's feeds, whatever their
// values, and that clients call differently. It returns -1 if there is none or the URL has been reported.
func (o *overlapChecker) calledDifferently(number int, n *node, general []string) int {
	if o.inside[n] || !n.endsInside(general) {
		return -1
	}
	for _, other := range n.ends {
		if o.calls[other] != o.calls[number] && (o.isJudged(other) || o.isJudged(number)) {
			return other
		}
	}
	return -1
}

// reportInside reports a URL that ends in the middle of a path segment of a longer one.
func (o *overlapChecker) reportInside(n *node, short, longer int, example, on string) {
	o.inside[n] = true
	const hint = "an endpoint answers for every URL that begins like its own: rename one of the two"
	url, other := o.endpoints[short].URL, o.endpoints[longer].URL
	on = example + onHost(on)
	switch {
	case !o.isJudged(short):
		o.report(longer, RuleOverlapInsideSegment, hint, "%q begins like %q%s%s", other, url, o.where(longer, short), on)
	case example != "":
		o.report(short, RuleOverlapInsideSegment, hint, "%q is also the beginning of feeds of %q%s%s", url, other, o.where(short, longer), on)
	default:
		o.report(short, RuleOverlapInsideSegment, hint, "%q is also the beginning of %q%s%s", url, other, o.where(short, longer), on)
	}
}

// registeredTwice reports endpoints whose URL another service declares as well. If both are judged, the finding is
// about the later one.
func (o *overlapChecker) registeredTwice(n *node) {
	for _, number := range n.ends {
		i := slices.IndexFunc(n.ends, func(other int) bool {
			return o.source(other) != o.source(number) && (other < number || !o.isJudged(other))
		})
		if i < 0 {
			o.otherSettings(n, number)
			continue
		}
		url, also := o.endpoints[number].URL, ""
		if twin := o.endpoints[n.ends[i]].URL; twin != url {
			also = fmt.Sprintf(", as %q", twin) // with different placeholder names
		}
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: remove the other, or give it a URL of its own",
			"%q is also declared by another service%s%s", url, also, o.where(number, n.ends[i]))
	}
}

// otherSettings reports an endpoint whose URL an earlier version of its service declares with other settings. If it only
// has more context keys, check reports that.
func (o *overlapChecker) otherSettings(n *node, number int) {
	first := n.ends[slices.IndexFunc(n.ends, func(other int) bool { return o.source(other) == o.source(number) })]
	e, earlier := o.endpoints[number], o.endpoints[first]
	differs := e.Method != earlier.Method || e.MIMEType != earlier.MIMEType ||
		slices.ContainsFunc(earlier.ContextObj, func(item signpost.ContextItem) bool { return !slices.Contains(e.ContextObj, item) })
	if differs && earlier.in != e.in {
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: make them alike, or give each version URLs of its own",
			"%q is declared with other settings by another version%s", e.URL, o.where(number, first))
	}
}

// where returns the location of another endpoint for a message, or "" if it is in the same manifest.
func (o *overlapChecker) where(number, other int) string {
	e := o.endpoints[other]
	if o.endpoints[number].in == e.in {
		return ""
	}
	v := o.versions[e.in]
	text := v.Source
	if o.source(number) == v.Source {
		text = v.Name
	}
	if text = cmp.Or(v.Places[e.URL], text); text == "" {
		return ""
	}
	return " (" + text + ")"
}

// report adds a finding about an endpoint if it is one of those being judged.
func (o *overlapChecker) report(number int, rule, hint, format string, args ...any) {
	if o.isJudged(number) {
		o.count++
		o.found[number] = append(o.found[number], signpost.Finding{
			Rule: rule, Severity: signpost.SeverityWarning, Message: fmt.Sprintf(format, args...), Hint: hint,
			Path: signpost.Path{signpost.Field(o.endpoints[number].URL)},
		})
	}
}
