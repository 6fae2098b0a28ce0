package signpost_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"signpost"
	"signpost/internal/testkit"
)

// ctx returns items of type ctx with these keys.
func ctx(keys ...string) []signpost.ContextItem {
	var items []signpost.ContextItem
	for _, key := range keys {
		items = append(items, signpost.ContextItem{Key: key, Type: signpost.ContextCtx})
	}
	return items
}

// Section 2.4, rules 2 to 4.
func TestSpec2_4Features(t *testing.T) {
	const token, device = "plugin-login-flow.access_token", "signedDeviceInfoToken"
	tokenItem := signpost.ContextItem{Key: token, Type: "ctx", Required: true}
	mapped := signpost.ContextItem{Key: device, Type: "ctx", Required: true, Mapper: "d"}
	auth, geo := signpost.Authentication(), signpost.GeoRestriction()
	type features = []signpost.Feature
	type items = []signpost.ContextItem
	for _, test := range []struct {
		name, path string // /media if empty
		declared   items
		features   features
		want       items
	}{
		{"none", "", nil, nil, nil},
		{"authentication is for the URL that ends in /media", "", nil, features{auth}, items{tokenItem}},
		{"collection", "/feeds", nil, features{auth}, nil},
		{"trailing slash", "/media/", nil, features{auth}, nil},
		{"below", "/media/42", nil, features{auth}, nil},
		{"query", "/media?page=2", nil, features{auth}, nil},
		{"inside a segment", "/multimedia", nil, features{auth}, nil},
		{"geo-restriction is for all", "/feeds/series/{{series_id}}/episodes", nil, features{geo, auth}, ctx(device)},
		{"in the order authentication, geo-restriction, others as given", "", nil,
			features{{Name: "z", ContextObj: ctx("z")}, geo, {Name: "a", ContextObj: ctx("a")}, auth},
			append(items{tokenItem}, ctx(device, "z", "a")...)},
		{"after the declared items", "", ctx("b", "a"), features{geo}, ctx("b", "a", device)},
		{"a declared key stands", "", items{mapped}, features{geo}, items{mapped}},
		{"a declared key does not keep out the others", "", ctx("b"), features{{Name: "x", ContextObj: ctx("a", "b", "c")}}, ctx("b", "a", "c")},
		{"of two features with one key the first stands", "", nil,
			features{{Name: "x", ContextObj: items{tokenItem}}, {Name: "y", ContextObj: ctx(token)}}, items{tokenItem}},
		{"twice is once", "", nil, features{geo, geo}, ctx(device)},
		{"an override keeps its place", "", nil,
			features{geo, {Name: signpost.FeatureAuthentication, URLSuffix: "/media", ContextObj: ctx("other.token")}}, ctx("other.token", device)},
		{"further suffixes", "", nil,
			features{{Name: "kids", URLSuffix: "/kids", URLSuffixes: []string{"/media"}, ContextObj: ctx("age")}}, ctx("age")},
		{"a suffix longer than the URL", "", nil, features{{Name: "kids", URLSuffix: strings.Repeat("/", 99), ContextObj: ctx("age")}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1" + cmp.Or(test.path, "/media"))
			e.ContextObj = test.declared
			testkit.Equal(t, "items", compile(t, signpost.NewManifest(e), test.features...).Manifest().Endpoints[0].ContextObj, test.want)
		})
	}
}

// The last day is included, wherever on Earth.
func TestDeprecationOver(t *testing.T) {
	d := signpost.Deprecation{Until: time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)}
	east := time.FixedZone("east", 14*60*60)
	for today, over := range map[time.Time]bool{
		time.Date(2026, 6, 29, 12, 0, 0, 0, time.UTC): false, time.Date(2026, 6, 30, 23, 59, 0, 0, east): false, time.Date(2026, 7, 1, 0, 0, 0, 0, east): true,
	} {
		if d.Over(today) != over || (signpost.Deprecation{}).Over(today) {
			t.Errorf("%v: over is %v, want %v", today, !over, over)
		}
	}
}
