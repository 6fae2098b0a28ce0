package definition

import (
	"time"

	"signpost"
	"signpost/internal/tree"
)

type modifierDeprecation struct {
	id          string
	deprecation *signpost.Deprecation
}

// deprecatedNode is a deprecation with its position, for lint.
type deprecatedNode struct {
	*signpost.Deprecation
	until    *tree.Node // nil if there is none
	endpoint *tree.Node // nil outside of endpoints
}

// Deprecation returns the deprecation of a version, an endpoint or a modifier, or nil. The modifier is identified by
// its id. Leave endpoint or modifier empty to ask about the version or the endpoint itself.
func (f *File) Deprecation(version, endpoint, modifier string) *signpost.Deprecation {
	return f.deprecations[signpost.Part{Version: version, Endpoint: endpoint, Modifier: modifier}]
}

func (f *File) deprecate(version, endpoint string, own *signpost.Deprecation, modifiers []modifierDeprecation) {
	if own != nil {
		modifiers = append(modifiers, modifierDeprecation{"", own})
	}
	for _, m := range modifiers {
		if f.deprecations == nil {
			f.deprecations = make(map[signpost.Part]*signpost.Deprecation)
		}
		f.deprecations[signpost.Part{Version: version, Endpoint: endpoint, Modifier: m.id}] = m.deprecation
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
