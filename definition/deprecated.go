package definition

import (
	"fmt"
	"time"

	"signpost"
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
	at       *tree.Node
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

// deprecation returns a reader of a deprecated field.
func (d *decoder) deprecation(set func(*Deprecation)) reader {
	return reader{"deprecated", func(n *tree.Node) {
		dep := &Deprecation{}
		if n.Kind == tree.Bool && !d.broken[n] {
			d.broken[n] = true
			d.add(signpost.RuleWrongType, "such as deprecated: {since: 2026-01-31}", n, "deprecated must be an object, not true or false")
		}
		if !d.object(n, "deprecated", d.date("since", &dep.Since), d.date("until", &dep.Until), d.text("use", &dep.Use), d.text("reason", &dep.Reason)) {
			return
		}
		key, _ := d.field(n, "since")
		_, until := d.field(n, "until")
		switch {
		case key == nil:
			d.add(signpost.RuleRequiredField, "add the day of the announcement, such as since: 2026-01-31", n, "deprecated has no since")
		case !dep.Until.IsZero() && dep.Until.Before(dep.Since):
			d.add(signpost.RuleWrongType, "", until, "until is before since")
		default:
			set(dep)
			d.deprecated = append(d.deprecated, deprecatedNode{dep, n, d.current})
		}
	}}
}

// date returns a reader of a date, with or without quotes.
func (d *decoder) date(name string, to *time.Time) reader {
	return reader{name, func(n *tree.Node) {
		if !n.Date && !d.is(n, name, tree.String) || d.broken[n] {
			return
		}
		t, err := time.Parse(time.DateOnly, n.Text)
		if err != nil {
			d.broken[n] = true
			d.add(signpost.RuleWrongType, "such as 2026-01-31", n, "%s must be a date, not %q", name, n.Text)
			return
		}
		*to = t
	}}
}

// lintDeprecations reports deprecated items that should have been removed.
func (d *decoder) lintDeprecations() {
	for _, dep := range d.deprecated {
		if dep.Over(d.opts.today()) {
			_, at := d.field(dep.at, "until")
			d.warn(signpost.Finding{
				Rule: RuleDeprecationExpired, Severity: signpost.SeverityWarning, Hint: "remove what is deprecated, or move the date",
				Message: fmt.Sprintf("deprecated until %s, which has passed", dep.Until.Format(time.DateOnly)),
			}, tree.Field{Key: at, Value: at}, nil, dep.endpoint)
		}
	}
}
