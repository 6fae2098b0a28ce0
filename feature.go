package signpost

import (
	"slices"

	"signpost/internal/suffix"
)

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
	m = m.Clone()
	features = order(features)
	var suffixes [][]string
	for _, f := range features {
		suffixes = append(suffixes, append([]string{f.URLSuffix}, f.URLSuffixes...))
	}
	matching := suffix.NewSet(suffixes...)
	for i := range m.Endpoints {
		e := &m.Endpoints[i]
		for _, number := range matching.Of(e.URL) {
			e.apply(features[number])
		}
	}
	return m
}

// apply appends the items of a feature.
func (e *Endpoint) apply(f Feature) {
	for _, item := range f.ContextObj {
		if !slices.ContainsFunc(e.ContextObj, func(c ContextItem) bool { return c.Key == item.Key }) {
			e.ContextObj = append(e.ContextObj, item)
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
