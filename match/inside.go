package match

import (
	"fmt"
	"slices"
	"strings"

	"signpost"
)

// calledDifferently returns the endpoints of a URL that clients call differently, if the URL ends inside a segment of
// the given endpoint's feeds, whatever their values.
func (o *overlapChecker) calledDifferently(number int, n *node, owners []int) []int {
	var different []int
	if n.endsInside(o.endpoints[number].words) {
		for _, other := range owners {
			if o.calls[other] != o.calls[number] && (o.isJudged(other) || o.isJudged(number)) {
				different = append(different, other)
			}
		}
	}
	return different
}

// longer is an endpoint whose feeds begin like the URL of a shorter one, which ends in the middle of a path segment of
// them.
type longer struct {
	number  int
	example string // a feed, if only some do
	note    string // where they do
}

// addLonger records that the URL of some endpoints ends in the middle of a path segment of a longer one's feeds. The
// finding is about the first of them in each service that does not allow it.
func (o *overlapChecker) addLonger(owners []int, number int, s scene, words []string) {
	isKnown := func(l longer) bool { return l.number == number }
	told := make(map[string]bool) // services
	for _, short := range owners {
		service := o.source(short)
		switch {
		case told[service]:
		case o.isJudged(short) && len(o.inside[short]) == maxLonger || slices.ContainsFunc(o.inside[short], isKnown):
			told[service] = true
		case !o.allowsInside(short, number):
			told[service] = true
			o.count++
			on, together := o.where(s.site, number, short)
			o.inside[short] = append(o.inside[short], longer{number, o.example(s.site, number, short, words), on + together})
		}
	}
}

// allowsInside reports whether everything is allowed that feeds of a shorter URL lose to an endpoint that begins like
// it.
func (o *overlapChecker) allowsInside(short, number int) bool {
	at := short
	if !o.isJudged(short) {
		at = number
	}
	kept := keySet(o.endpoints[number].ContextObj)
	lost, allowed := false, true
	for _, item := range o.endpoints[short].ContextObj {
		if !kept[item.Key] {
			isAllowed := o.allows(at, RuleOverlapInsideSegment, item) // asked for each, so that all count as used
			lost, allowed = true, allowed && isAllowed
		}
	}
	if !lost { // they are called differently
		return o.allows(at, RuleOverlapInsideSegment, signpost.ContextItem{})
	}
	return allowed
}

// reportInside reports the URLs that end in the middle of a path segment of longer ones.
func (o *overlapChecker) reportInside() {
	const hint = "an endpoint answers for every URL that begins like its own: rename one of the two"
	for short := range o.endpoints {
		url := o.endpoints[short].URL
		var names []string
		for _, l := range o.inside[short] {
			example := l.note
			if l.example != "" {
				example = fmt.Sprintf(", such as %q%s", l.example, l.note)
			}
			other := o.endpoints[l.number].URL
			if !o.isJudged(short) {
				o.report(l.number, RuleOverlapInsideSegment, hint,
					"%q begins like %q%s%s", other, url, o.location(l.number, short), example)
				continue
			}
			name := fmt.Sprintf("%q%s%s", other, o.location(short, l.number), example)
			if l.example != "" {
				name = "feeds of " + name
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			o.report(short, RuleOverlapInsideSegment, hint, "%q is also the beginning of %s", url, listed(names))
		}
	}
}

// listed returns the first names as a list, and how many more there are.
func listed(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		text := fmt.Sprintf("%d more", more)
		if len(names) == maxLonger {
			text = "at least " + text
		}
		names = append(names[:maxNamed:maxNamed], text)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
