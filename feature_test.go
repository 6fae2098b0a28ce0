package signpost_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// ctx returns items of type ctx with these keys.
func ctx(keys ...string) []signpost.ContextItem {
	var items []signpost.ContextItem
	for _, key := range keys {
		items = append(items, signpost.ContextItem{Key: key, Type: signpost.ContextCtx})
	}
	return items
}

func TestFeaturesApply(t *testing.T) {
	const token, device = "plugin-login-flow.access_token", "signedDeviceInfoToken"
	tokenItem := signpost.ContextItem{Key: token, Type: "ctx", Required: true}
	tests := []struct {
		name     string
		declared []signpost.ContextItem
		features []signpost.Feature
		want     []signpost.ContextItem // on https://{{host}}/v1/media
	}{
		{"in the order authentication, geo-restriction, others as given", nil,
			[]signpost.Feature{{Name: "z", ContextObj: ctx("z")}, signpost.GeoRestriction(), {Name: "a", ContextObj: ctx("a")}, signpost.Authentication()},
			[]signpost.ContextItem{tokenItem, ctx(device)[0], ctx("z")[0], ctx("a")[0]}},
		{"after the declared items", ctx("b", "a"),
			[]signpost.Feature{signpost.GeoRestriction()},
			ctx("b", "a", device)},
		{"a declared key stands", []signpost.ContextItem{{Key: device, Type: "ctx", Required: true, Mapper: "d"}},
			[]signpost.Feature{signpost.GeoRestriction()},
			[]signpost.ContextItem{{Key: device, Type: "ctx", Required: true, Mapper: "d"}}},
		{"a declared key does not keep out the others", ctx("b"),
			[]signpost.Feature{{Name: "x", ContextObj: ctx("a", "b", "c")}},
			ctx("b", "a", "c")},
		{"of two features with one key the first stands", nil,
			[]signpost.Feature{{Name: "x", ContextObj: []signpost.ContextItem{tokenItem}}, {Name: "y", ContextObj: ctx(token)}},
			[]signpost.ContextItem{tokenItem}},
		{"twice is once", nil,
			[]signpost.Feature{signpost.GeoRestriction(), signpost.GeoRestriction()},
			ctx(device)},
		{"an override keeps its place", nil,
			[]signpost.Feature{signpost.GeoRestriction(), {Name: signpost.FeatureAuthentication, URLSuffix: "/media", ContextObj: ctx("other.token")}},
			ctx("other.token", device)},
		{"a suffix that does not match", nil,
			[]signpost.Feature{{Name: "kids", URLSuffix: "/kids", ContextObj: ctx("age")}},
			nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1/media")
			e.ContextObj = test.declared
			got := compile(t, signpost.NewManifest(e), test.features...).Manifest().Endpoints[0].ContextObj
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("context_obj (-want +got):\n%s", diff)
			}
		})
	}
}

// A key added by a feature may clash with one that an endpoint declares, so that one value overwrites the other.
// Validate reports this for the manifest as written; Compile must report it for the manifest as served.
func TestFeaturesDoNotMakeAManifestInvalid(t *testing.T) {
	e := feed("https://{{host}}/v1/feeds")
	e.ContextObj = []signpost.ContextItem{{Key: "device", Type: "ctx", Mapper: "signedDeviceInfoToken"}}
	template, err := signpost.Compile(signpost.NewManifest(e), signpost.GeoRestriction())
	if err == nil {
		t.Fatalf("compiled to a manifest with findings: %v", template.Manifest().Validate())
	}
	var invalid *signpost.InvalidError
	if !errors.As(err, &invalid) || invalid.Findings[0].Rule != signpost.RuleContextDuplicate {
		t.Errorf("got %v, want a finding of the rule %s", err, signpost.RuleContextDuplicate)
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
