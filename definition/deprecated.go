package definition

import (
	"time"

	"signpost"
	"signpost/internal/tree"
)

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

func (f *File) deprecate(part signpost.Part, deprecation *signpost.Deprecation) {
	if f.deprecations == nil {
		f.deprecations = make(map[signpost.Part]*signpost.Deprecation)
	}
	if deprecation != nil {
		f.deprecations[part] = deprecation
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
