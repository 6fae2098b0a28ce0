package signpost

import "slices"

// Feature is an optional capability of a deployment. Enabling it adds context keys to the matching endpoints.
type Feature struct {
	Name        string
	URLSuffix   string   // restricts the feature to URLs with this suffix; empty means every endpoint
	URLSuffixes []string // further suffixes, if URLSuffix is not empty
	ContextObj  []ContextItem
}

// Names of the built-in features.
const (
	FeatureAuthentication = "authentication"
	FeatureGeoRestriction = "geo-restriction"
)

// BuiltIn returns the built-in features, in the order in which they are applied.
func BuiltIn() []Feature {
	return []Feature{
		{
			Name:       FeatureAuthentication,
			URLSuffix:  "/media",
			ContextObj: []ContextItem{{Key: "plugin-login-flow.access_token", Type: ContextCtx, Required: true}},
		},
		{
			Name:       FeatureGeoRestriction,
			ContextObj: []ContextItem{{Key: "signedDeviceInfoToken", Type: ContextCtx}},
		},
	}
}

// Authentication requires the user's access token on the media endpoint.
func Authentication() Feature { return BuiltIn()[0] }

// GeoRestriction adds the signed device information token to every endpoint.
func GeoRestriction() Feature { return BuiltIn()[1] }

// WithFeatures returns a copy of the manifest with the features applied: their context items are appended to the
// matching endpoints. Built-in features come first, in their order, then the others as given. A key that an endpoint
// already declares is not appended again.
func (m Manifest) WithFeatures(features ...Feature) Manifest {
	return NewManifest(m.applied(features).Endpoints...)
}

// applied is WithFeatures for a manifest that is only read: it shares with m what the features do not change.
func (m Manifest) applied(features []Feature) Manifest {
	features = order(features)
	bySuffix := make(map[string][]int) // so that the work does not grow with endpoints times features
	lengths := make(map[int]bool)
	for i, f := range features {
		for _, suffix := range append([]string{f.URLSuffix}, f.URLSuffixes...) {
			bySuffix[suffix] = append(bySuffix[suffix], i)
			lengths[len(suffix)] = true
		}
	}
	out := Manifest{slices.Clone(m.Endpoints)}
	for i := range out.Endpoints {
		e := &out.Endpoints[i]
		var matching []int
		for length := range lengths {
			if length <= len(e.URL) {
				matching = append(matching, bySuffix[e.URL[len(e.URL)-length:]]...)
			}
		}
		slices.Sort(matching)
		e.addKeys(features, matching)
	}
	return out
}

// addKeys appends the items of the features with the given indexes.
func (e *Endpoint) addKeys(features []Feature, indexes []int) {
	if len(indexes) == 0 {
		return
	}
	e.ContextObj = slices.Clip(e.ContextObj) // somebody else may have the list as well
	declared := make(map[string]bool)
	for _, c := range e.ContextObj {
		declared[c.Key] = true
	}
	for _, i := range indexes {
		for _, item := range features[i].ContextObj {
			if !declared[item.Key] {
				declared[item.Key] = true
				e.ContextObj = append(e.ContextObj, item)
			}
		}
	}
}

// order sorts features into application order.
func order(features []Feature) []Feature {
	builtIn := BuiltIn()
	rank := func(f Feature) int {
		if i := slices.IndexFunc(builtIn, func(b Feature) bool { return b.Name == f.Name }); i >= 0 {
			return i
		}
		return len(builtIn)
	}
	features = slices.Clone(features)
	slices.SortStableFunc(features, func(a, b Feature) int { return rank(a) - rank(b) })
	return features
}
