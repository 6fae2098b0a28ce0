package signpost

import (
	"slices"
	"strings"
)

// Feature is something that a deployment may have, and the context keys that clients send because of it.
type Feature struct {
	Name       string
	URLSuffix  string // only for endpoints whose URL ends in this; empty means every endpoint
	ContextObj []ContextItem
}

// The names of the built-in features.
const (
	FeatureAuthentication = "authentication"
	FeatureGeoRestriction = "geo-restriction"
)

// Authentication asks for the user's access token on the media endpoint.
func Authentication() Feature {
	return Feature{
		Name:       FeatureAuthentication,
		URLSuffix:  "/media",
		ContextObj: []ContextItem{{Key: "plugin-login-flow.access_token", Type: ContextCtx, Required: true}},
	}
}

// GeoRestriction asks for the signed device information on every endpoint.
func GeoRestriction() Feature {
	return Feature{
		Name:       FeatureGeoRestriction,
		ContextObj: []ContextItem{{Key: "signedDeviceInfoToken", Type: ContextCtx}},
	}
}

// WithFeatures returns a copy of the manifest in which the features are applied: their context items are
// appended to the endpoints that they are about. Authentication comes first, then geo-restriction, then the
// others as given. An item whose key an endpoint declares already is left out: the declared one stands.
func (m Manifest) WithFeatures(features ...Feature) Manifest {
	m = NewManifest(m.Endpoints...)
	for _, f := range order(features) {
		for i := range m.Endpoints {
			f.apply(&m.Endpoints[i])
		}
	}
	return m
}

// order returns the features in the order in which they are applied.
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

// apply appends the feature's items to the endpoint, if it is one that the feature is about.
func (f Feature) apply(e *Endpoint) {
	if !strings.HasSuffix(e.URL, f.URLSuffix) {
		return
	}
	for _, item := range f.ContextObj {
		declared := slices.ContainsFunc(e.ContextObj, func(c ContextItem) bool { return c.Key == item.Key })
		if !declared {
			e.ContextObj = append(e.ContextObj, item)
		}
	}
}
