package server_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"signpost"
	"signpost/server"
)

// TestDeprecation checks that every response with the manifest of a deprecated version has the headers, and that a
// change of the deprecation alone is published.
func TestDeprecation(t *testing.T) {
	v1, err := signpost.Compile(signpost.NewManifest(signpost.Endpoint{
		URL: "https://{{host}}/v1/feeds", Name: "Feeds", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON,
	}))
	if err != nil {
		t.Fatal(err)
	}
	service := server.Service{Versions: map[string]*signpost.Template{"v1": v1}}
	handler, err := server.New(server.Options{}, service)
	if err != nil {
		t.Fatal(err)
	}
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	until := time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name                string
		deprecated          map[string]signpost.Deprecation
		deprecation, sunset string
	}{
		{"not deprecated", nil, "", ""},
		{"since a day", map[string]signpost.Deprecation{"v1": {Since: since}}, "@1767225600", ""},
		{"until a day", map[string]signpost.Deprecation{"v1": {Since: since, Until: until}}, "@1767225600", "Wed, 01 Jul 2026 00:00:00 GMT"},
		{"another version", map[string]signpost.Deprecation{"v2": {Since: since}}, "", ""},
	} {
		service.Deprecated = test.deprecated
		if err := handler.Publish(service); err != nil {
			t.Fatal(err)
		}
		etag := ""
		for range 2 { // the second time from the cache, not modified
			req := httptest.NewRequest("GET", "http://feeds.example.com/v1/endpoints-manifest", nil)
			req.Header.Set("If-None-Match", etag)
			res := httptest.NewRecorder()
			handler.ServeHTTP(res, req)
			if got := res.Header().Get("Deprecation"); got != test.deprecation {
				t.Errorf("%s: %d with Deprecation %q", test.name, res.Code, got)
			}
			if got := res.Header().Get("Sunset"); got != test.sunset {
				t.Errorf("%s: %d with Sunset %q", test.name, res.Code, got)
			}
			etag = res.Header().Get("Etag")
		}
	}
}
