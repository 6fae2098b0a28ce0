package definition

import (
	"time"

	"signpost/internal/tree"
)

// Deprecation announces that a version, an endpoint or a modifier will be removed. It is not part of the manifest.
type Deprecation struct {
	Since  time.Time // day of the announcement
	Until  time.Time // last day on which it works; zero if undecided
	Use    string    // replacement: a URL or a name; may be empty
	Reason string    // may be empty
}

// Over reports whether the last day has passed.
func (d *Deprecation) Over(today time.Time) bool {
	return !d.Until.IsZero() && day(today).After(d.Until)
}

// day returns the start of a day, in the form in which dates of a file are parsed.
func day(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }

// deprecationKey identifies what is deprecated: a version, an endpoint of it, or a modifier of the endpoint by its id.
type deprecationKey struct{ version, endpoint, modifier string }

type modifierDeprecation struct {
	id          string
	deprecation *Deprecation
}

// deprecatedNode is a deprecation with its position, for lint.
type deprecatedNode struct {
	*Deprecation
	until    *tree.Node // nil if there is none
	endpoint *tree.Node // nil outside of endpoints
}

// Deprecation returns the deprecation of a version, an endpoint or a modifier, or nil. The modifier is identified by
// its id. Leave endpoint or modifier empty to ask about the version or the endpoint itself.
func (f *File) Deprecation(version, endpoint, modifier string) *Deprecation {
	if endpoint != "" || modifier != "" {
		return f.deprecations[deprecationKey{version, endpoint, modifier}]
	}
	for _, v := range f.versions {
		if v.name == version {
			return v.deprecated
		}
	}
	return nil
}

func (f *File) deprecate(version, endpoint string, own *Deprecation, modifiers []modifierDeprecation) {
	if own != nil {
		modifiers = append(modifiers, modifierDeprecation{"", own})
	}
	for _, m := range modifiers {
		if f.deprecations == nil {
			f.deprecations = make(map[deprecationKey]*Deprecation)
		}
		f.deprecations[deprecationKey{version, endpoint, m.id}] = m.deprecation
	}
}

// checkDeprecations reports deprecated items that should have been removed.
func (d *decoder) checkDeprecations() {
	for _, dep := range d.deprecated {
		if dep.Over(d.opts.today()) {
			d.warn(RuleDeprecationExpired, "remove what is deprecated, or move the date", dep.until, dep.endpoint,
				"deprecated until %s, which has passed", dep.Until.Format(time.DateOnly))
		}
	}
}
