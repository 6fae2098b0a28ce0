package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
)

// TestExtendedHeadersAreNotShared checks that extending a header value, which all responses share, does not affect the
// next response.
func TestExtendedHeadersAreNotShared(t *testing.T) {
	f := newField("Vary", "Accept-Encoding")
	theirs := make([]string, 1, 4)
	theirs[0] = "Origin"
	first, second := http.Header{"Vary": theirs}, http.Header{}
	f.set(first)
	f.set(second)
	second.Add("Vary", "Cookie")
	f.set(second) // the value is already present
	want := []http.Header{{"Vary": {"Origin", "Accept-Encoding"}}, {"Vary": {"Accept-Encoding", "Cookie"}}}
	if diff := cmp.Diff(want, []http.Header{first, second}); diff != "" || len(f.values) != 1 || theirs[:2][1] != "" {
		t.Errorf("headers (-want +got):\n%s, and the field has %q", diff, f.values)
	}
}

// TestUnchangedManifestsStayInTheCache checks that cached manifests survive a change of others, and are not used once their
// headers have changed.
func TestUnchangedManifestsStayInTheCache(t *testing.T) {
	h, events := observed(t)
	address := listen(t, h)
	deprecated := map[string]signpost.Deprecation{"v1": {Since: time.Unix(1, 0)}}
	for i, step := range []struct {
		a, b         string // manifests, compiled again in each step, as in a reload
		deprecated   map[string]signpost.Deprecation
		wantA, wantB string
	}{
		{"a", "b", nil, CacheMiss, CacheMiss},
		{"a", "changed", nil, CacheHit, CacheMiss},
		{"a", "b", deprecated, CacheMiss, CacheHit},
		{"b", "a", nil, CacheHit, CacheHit},
	} {
		a := at("/a", compile(t, step.a))
		a.Deprecated = step.deprecated
		testkit.OK(t, h.Publish(a, at("/b", compile(t, step.b))))
		for path, want := range map[string][2]string{"/a": {step.a, step.wantA}, "/b": {step.b, step.wantB}} {
			got := send(t, address, "GET", path+manifestPath, "Host: feeds.example.com")
			wantManifest(t, got, compile(t, want[0]), "feeds.example.com")
			if e := <-events; e.Cache != want[1] || (got.Header.Get("Deprecation") != "") != (path == "/a" && step.deprecated != nil) {
				t.Errorf("step %d: %s is a %s, want a %s, with headers %v", i, path, e.Cache, want[1], got.Header)
			}
		}
	}
	checkManifests(t, h)
}
