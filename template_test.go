package signpost_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

// If {{host}} is only part of a host, not every host forms a valid name.
func TestRenderHostThatDoesNotFit(t *testing.T) {
	long := strings.Repeat("a.", 123) + "example" // 253 characters
	for url, hosts := range map[string][]string{
		"https://media.{{host}}/a":      {"192.0.2.1", "[::1]", "192.0.2.1.", long},
		"https://{{host}}.example/a":    {"192.0.2.1", "[2001:db8::1]", long},
		"https://{{host}}./a":           {"192.0.2.1"},
		"https://x{{host}}/a":           {"192.0.2.1", strings.Repeat("a", 63)},
		"https://0x{{host}}/a":          {"f"},
		"https://{{host}}.{{host}}:8/a": {"192.0.2.1", "[::1]", long},
	} {
		m := signpost.NewManifest(feed("https://{{host}}/b"), feed(url))
		template := compile(t, m)
		misfit := new(signpost.HostError)
		for _, host := range hosts {
			doc, err := template.Render(host)
			if doc != nil || !errors.As(err, &misfit) || misfit.Host != host || misfit.URL.String() != url {
				t.Errorf("%s for %q: %s, %v", url, host, doc, err)
			} else if want := fmt.Sprintf("host %q does not fit into %q", host, url); err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
			if _, err := m.ForHost(host); !errors.As(err, &misfit) {
				t.Errorf("ForHost of %s for %q: %v", url, host, err)
			}
		}
		if _, err := template.Render("b.example"); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		_, renderErr := template.Render("a b")
		if _, err := m.ForHost("a b"); err == nil || renderErr == nil || err.Error() != renderErr.Error() || errors.As(err, &misfit) {
			t.Errorf("what is not a host at all is %v, %v", renderErr, err)
		}
	}
	if doc, err := new(signpost.Template).Render("a"); err == nil {
		t.Errorf("an empty template gives %s", doc)
	}
	// An address fits where {{host}} is the whole host.
	for _, host := range []string{"192.0.2.1", "[::1]", long} {
		rendered(t, compile(t, signpost.NewManifest(feed("https://{{host}}:8443/a"))), host)
	}
}

// Every change of the manifest is another revision, and nothing else is.
func TestRevision(t *testing.T) {
	revision := func(edit func(*signpost.Manifest), features ...signpost.Feature) string {
		m := signpost.NewManifest(feed("https://{{host}}/a"), testkit.FullEndpoint("https://{{host}}/b"))
		edit(&m)
		return compile(t, m, features...).Revision()
	}
	same := func(*signpost.Manifest) {}
	auth, geo := signpost.Authentication(), signpost.GeoRestriction()
	want := revision(same)
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(want) || revision(same) != want || revision(same, auth) != want { // which matches nothing
		t.Errorf("revision %q", want)
	}
	if a, b := revision(same, auth, geo), revision(same, geo, auth); a != b {
		t.Errorf("the order of the built-in features shows: %s and %s", a, b)
	}
	seen := map[string]bool{want: true, revision(same, geo): true}
	for i, edit := range []func(*signpost.Manifest){
		func(m *signpost.Manifest) { m.Endpoints[0].Name = "Other" },
		func(m *signpost.Manifest) { m.Endpoints[0].URL = "https://{{host}}/c" },
		func(m *signpost.Manifest) { m.Endpoints[0].URL = "https://host/a" },
		func(m *signpost.Manifest) { m.Endpoints[0], m.Endpoints[1] = m.Endpoints[1], m.Endpoints[0] },
		func(m *signpost.Manifest) { m.Endpoints = m.Endpoints[:1] },
	} {
		if seen[revision(edit)] {
			t.Errorf("edit %d has the revision of another state", i)
		}
		seen[revision(edit)] = true
	}
}

// The context items include those added by features.
func TestTemplateEndpoint(t *testing.T) {
	template := compile(t, signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/v1/media"), feed("https://{{host}}/v1/feeds")),
		signpost.Authentication(), signpost.GeoRestriction())
	for _, want := range template.Manifest().Endpoints {
		testkit.Equal(t, want.URL, testkit.Must(template.Endpoint(want.URL))(t), want)
	}
	_, err := template.Endpoint("https://{{host}}/v1/medai")
	if want := `manifest has no endpoint "https://{{host}}/v1/medai": did you mean "https://{{host}}/v1/media"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := template.Endpoint("/media"); err == nil || err.Error() != `manifest has no endpoint "/media"` {
		t.Errorf("got %v", err)
	}
}

// All errors are told at once. A feature may add a key under a name that an endpoint has given to another, so that one value
// overwrites the other: the manifest as written is valid, but not as served.
func TestCompileRejects(t *testing.T) {
	bad, clash := named("https://{{host}}/a", ""), feed("https://{{host}}/a")
	bad.Method = "put"
	clash.ContextObj = []signpost.ContextItem{{Key: "device", Type: "ctx", Mapper: "signedDeviceInfoToken"}}
	for _, test := range []struct {
		endpoint signpost.Endpoint
		feature  signpost.Feature
		want     string
	}{
		{bad, signpost.Feature{Name: "kids", ContextObj: []signpost.ContextItem{{Key: "age"}}},
			`https://{{host}}/a.name: error: endpoint has no name [required-field]
https://{{host}}/a.method: error: method "put" is not "get" or "post" [method]
feature kids.context_obj[0].type: error: context item has no type [required-field]`},
		{clash, signpost.GeoRestriction(), `https://{{host}}/a.context_obj[1].key: error: ` +
			`context keys "device" and "signedDeviceInfoToken" are both sent as "signedDeviceInfoToken" [context-duplicate]`},
	} {
		template, err := signpost.Compile(signpost.NewManifest(test.endpoint), test.feature)
		if _, ok := errors.AsType[*signpost.InvalidError](err); template != nil || !ok || err.Error() != test.want {
			t.Errorf("got %v, %v\nwant %s", template, err, test.want)
		}
	}
}
