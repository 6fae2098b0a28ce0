package match

import (
	"fmt"
	"slices"

	"signpost"
)

// registeredTwice reports an endpoint whose URL another service declares as well. If both are judged, the finding is
// about the later one.
func (o *overlapChecker) registeredTwice(number int, at spot) {
	if o.twice[number] {
		return
	}
	other, same := -1, -1 // the first of another service, and of an earlier version of this one
	for _, owner := range at.ends {
		if !o.meets(at.site, number, owner) {
			continue
		}
		isSame := o.source(owner) == o.source(number)
		if isSame && same < 0 && owner < number {
			same = owner
		}
		if !isSame && other < 0 && (owner < number || !o.isJudged(owner)) {
			other = owner
		}
	}
	switch {
	case other >= 0:
		o.twice[number] = true
		on, together := o.where(at.site, number, other)
		o.report(number, RuleRegisteredTwice, "the studio uses one of the two: remove the other, or give it a URL of its own",
			"%q is also declared by another service%s%s%s%s",
			o.endpoints[number].URL, o.twin(number, other), on, o.location(number, other), together)
	case same >= 0:
		o.otherSettings(number, same, at.site)
	}
}

// otherSettings reports an endpoint whose URL an earlier version of its service declares with other settings, or whose
// version has another URL for the same feeds. If it only has more context keys, check reports that.
func (o *overlapChecker) otherSettings(number, first int, s *site) {
	e, earlier := o.endpoints[number], o.endpoints[first]
	on, _ := o.where(s, number, first)
	if earlier.in == e.in {
		o.twice[number] = true
		o.report(number, RuleRegisteredTwice, "remove one of the two",
			"%q and %q answer for the same feeds%s: only the first one counts", earlier.URL, e.URL, on)
		return
	}
	lacks := func(item signpost.ContextItem) bool { return !slices.Contains(e.ContextObj, item) }
	if e.Method != earlier.Method || e.MIMEType != earlier.MIMEType || slices.ContainsFunc(earlier.ContextObj, lacks) {
		o.twice[number] = true
		o.report(number, RuleRegisteredTwice,
			"the studio uses one of the two: make them alike, or give each version URLs of its own",
			"%q is declared with other settings by another version%s%s%s",
			e.URL, o.twin(number, first), on, o.location(number, first))
	}
}

// twin says how another endpoint writes the URL of an endpoint, if that is with other names of placeholders or with its
// host.
func (o *overlapChecker) twin(number, other int) string {
	if o.endpoints[other].URL == o.endpoints[number].URL {
		return ""
	}
	return fmt.Sprintf(", as %q", o.endpoints[other].URL)
}
