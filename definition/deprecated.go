package definition

import "signpost"

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
