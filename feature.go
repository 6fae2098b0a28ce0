package signpost

import (
	"slices"
	"strings"
)

// Feature is an optional capability of a deployment. Enabling it adds context keys to the matching endpoints.
type Feature struct {
	Name        string
	URLSuffix   string   // restricts the feature to URLs with this suffix; empty means every endpoint
	URLSuffixes []string // further suffixes, if URLSuffix is not empty
	ContextObj  []ContextItem
}

// AppliesTo reports whether the feature applies to the endpoint with a URL.
func (f Feature) AppliesTo(url string) bool {
	return strings.HasSuffix(url, f.URLSuffix) || slices.ContainsFunc(f.URLSuffixes, func(suffix string) bool { return strings.HasSuffix(url, suffix) })
}

// Names of the built-in features.
const (
	FeatureAuthentication = "authentication"
	FeatureGeoRestriction = "geo-restriction"
)

// Authentication requires the user's access token on the media endpoint.
func Authentication() Feature {
	return Feature{
		Name:       FeatureAuthentication,
		URLSuffix:  "/media",
		ContextObj: []ContextItem{{Key: "plugin-login-flow.access_token", Type: ContextCtx, Required: true}},
	}
}

// GeoRestriction adds the signed device information token to every endpoint.
func GeoRestriction() Feature {
	return Feature{
		Name:       FeatureGeoRestriction,
		ContextObj: []ContextItem{{Key: "signedDeviceInfoToken", Type: ContextCtx}},
	}
}

// WithFeatures returns a copy of the manifest with the features applied: their context items are appended to the
// matching endpoints. Authentication comes first, then geo-restriction, then the others as given. A key that an
// endpoint already declares is not appended again.
func (m Manifest) WithFeatures(features ...Feature) Manifest {
	return NewManifest(m.applied(features).Endpoints...)
}

// applied is WithFeatures for a manifest that is only read: it shares with m what the features do not change.
func (m Manifest) applied(features []Feature) Manifest {
	out := Manifest{slices.Clone(m.Endpoints)}
	for i := range out.Endpoints {
		e := &out.Endpoints[i]
		e.ContextObj = slices.Clip(e.ContextObj) // what is appended must not get into m
	}
	for _, f := range order(features) {
		f.ContextObj = distinct(f.ContextObj)
		for i := range out.Endpoints {
			f.apply(&out.Endpoints[i])
		}
	}
	return out
}

// distinct returns the items without those whose key an earlier one has.
func distinct(items []ContextItem) []ContextItem {
	seen := make(map[string]bool, len(items))
	return slices.DeleteFunc(slices.Clone(items), func(item ContextItem) bool {
		repeated := seen[item.Key]
		seen[item.Key] = true
		return repeated
	})
}

// order sorts features into application order.
func order(features []Feature) []Feature {
	rank := func(f Feature) int {
		switch f.Name {
		case FeatureAuthentication:
			return 0
		case FeatureGeoRestriction:
			return 1
		}
		return 2
	}
	features = slices.Clone(features)
	slices.SortStableFunc(features, func(a, b Feature) int { return rank(a) - rank(b) })
	return features
}

// apply appends the feature's items, which must be distinct, to the endpoint if it matches. An endpoint without any
// shares them with the feature.
func (f Feature) apply(e *Endpoint) {
	if !f.AppliesTo(e.URL) || len(f.ContextObj) == 0 {
		return
	}
	if len(e.ContextObj) == 0 {
		e.ContextObj = slices.Clip(f.ContextObj)
		return
	}
	for _, item := range f.ContextObj {
		declared := slices.ContainsFunc(e.ContextObj, func(c ContextItem) bool { return c.Key == item.Key })
		if !declared {
			e.ContextObj = append(e.ContextObj, item)
		}
	}
}
