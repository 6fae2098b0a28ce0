package signpost_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// These tests follow the rules of the specification that need no HTTP. TestSpec1_2 is section 1, rule 2; TestSpec2_4_2 is
// section 2.4, rule 2. Rule 1.1 and the tables of fields in 2.2 to 2.5 are in json_test.go, their required fields and values in
// validate_test.go, and the independence rule of 2.5 is in independence_test.go. Rule 1.7 is tested in package match, 1.6,
// 4.1 and 9 in packages server and routes, 5.2 and 5.3 in package contextkeys.

// Section 1, rule 2.
func TestSpec1_2HostIsReplacedByTheHostname(t *testing.T) {
	tests := []struct{ url, host, want string }{
		{"https://{{host}}/v1/feeds", "api.example.com", "https://api.example.com/v1/feeds"},
		{"https://{{host}}/v1/feeds", "localhost", "https://localhost/v1/feeds"},
		{"https://{{host}}/v1/feeds", "192.0.2.7", "https://192.0.2.7/v1/feeds"},
		{"https://{{host}}/v1/feeds", "[2001:db8::1]", "https://[2001:db8::1]/v1/feeds"},
		{"https://{{host}}", "api.example.com", "https://api.example.com"},
		{"https://{{host}}:8443/v1/feeds", "api.example.com", "https://api.example.com:8443/v1/feeds"},
		{"https://cdn.{{host}}/v1/feeds", "example.com", "https://cdn.example.com/v1/feeds"},
		{"https://{{host}}.{{host}}/v1/feeds", "a", "https://a.a/v1/feeds"},
	}
	for _, test := range tests {
		m := signpost.NewManifest(feed(test.url))
		if got := urls(t, render(t, test.host, m)); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s for %s: got %q, want %q", test.url, test.host, got, test.want)
		}
	}
}

// Section 1, rule 2: the hostname carries no port.
func TestSpec1_2HostnameCarriesNoPort(t *testing.T) {
	for _, host := range []string{"api.example.com:443", "[2001:db8::1]:443", "api.example.com:"} {
		if doc, err := compile(t, signpost.NewManifest(feed("https://{{host}}/v1/feeds"))).Render(host); err == nil {
			t.Errorf("Render(%q) gave %s, want it refused", host, doc)
		}
	}
}

// Section 1, rule 3.
func TestSpec1_3URLWithoutHostIsUnchanged(t *testing.T) {
	want := []string{
		"https://partner.example.net/catalog",
		"https://Partner.Example.NET:8443/Catalog/?a=b&c=%20",
		"http://192.0.2.7/legacy/{{series_id}}",
	}
	m := signpost.NewManifest(feed(want[0]), feed(want[1]), feed(want[2]))
	for _, host := range []string{"api.example.com", "other.example.com"} {
		if got := urls(t, render(t, host, m)); !slices.Equal(got, want) {
			t.Errorf("for %s: got %q, want %q", host, got, want)
		}
	}
}

// Section 1, rule 4.
func TestSpec1_4OtherPlaceholdersStay(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://{{host}}/v1/series/{{series_id}}/episodes", "https://api.example.com/v1/series/{{series_id}}/episodes"},
		{"https://{{host}}/{{a}}/{{b}}-{{a}}", "https://api.example.com/{{a}}/{{b}}-{{a}}"},
		{"https://{{host}}/{{hostname}}/{{host_id}}", "https://api.example.com/{{hostname}}/{{host_id}}"},
		{"https://{{host}}/{{extensions.series-id}}", "https://api.example.com/{{extensions.series-id}}"},
		{"https://partner.example.net/{{id}}", "https://partner.example.net/{{id}}"},
	}
	for _, test := range tests {
		got := render(t, "api.example.com", signpost.NewManifest(feed(test.url)))
		wantDocument(t, got, `{"endpoints": {"`+test.want+`": {
			"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
		}}}`)
	}
}

// Section 2.1.
func TestSpec2_1ManifestHasEndpoints(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", signpost.Manifest{}), `{"endpoints": {}}`)

	var m signpost.Manifest
	if err := json.Unmarshal([]byte(`{}`), &m); err == nil {
		t.Error("a manifest without endpoints was read")
	}
}

// referenceDeployment returns the collection, media and nested endpoint of section 4.2.
func referenceDeployment() signpost.Manifest {
	return signpost.NewManifest(
		feed("https://{{host}}/feeds"),
		feed("https://{{host}}/feeds/media"),
		feed("https://{{host}}/feeds/series/{{series_id}}/episodes"),
	)
}

// Section 2.4, rule 2.
func TestSpec2_4_2AuthenticationIsOnMediaOnly(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", referenceDeployment(), signpost.Authentication()), `{
		"endpoints": {
			"https://api.example.com/feeds": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
			},
			"https://api.example.com/feeds/media": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "plugin-login-flow.access_token", "type": "ctx", "required": true}]
			},
			"https://api.example.com/feeds/series/{{series_id}}/episodes": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
			}
		}
	}`)
}

// Section 2.4, rule 2: appended after the declared items, and only if the URL ends in /media.
func TestSpec2_4_2MediaIsTheEndOfTheURL(t *testing.T) {
	declared := signpost.ContextItem{Key: "locale", Type: "ctx"}
	token := signpost.ContextItem{Key: "plugin-login-flow.access_token", Type: "ctx", Required: true}
	tests := []struct {
		url  string
		want []signpost.ContextItem
	}{
		{"https://{{host}}/v1/media", []signpost.ContextItem{declared, token}},
		{"https://{{host}}/v1/media/", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/media/42", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/media?page=2", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/multimedia", []signpost.ContextItem{declared}},
		{"https://{{host}}/v1/feeds", []signpost.ContextItem{declared}},
	}
	for _, test := range tests {
		e := feed(test.url)
		e.ContextObj = []signpost.ContextItem{declared}
		got := compile(t, signpost.NewManifest(e), signpost.Authentication()).Manifest().Endpoints[0].ContextObj
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.url, diff)
		}
	}
}

// Section 2.4, rule 2: the media endpoint need not exist.
func TestSpec2_4_2AuthenticationWithoutMedia(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}/v1/feeds"))
	if got, want := render(t, "a", m, signpost.Authentication()), render(t, "a", m); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Section 2.4, rule 3.
func TestSpec2_4_3GeoRestrictionIsOnEveryEndpoint(t *testing.T) {
	for _, e := range compile(t, referenceDeployment(), signpost.GeoRestriction()).Manifest().Endpoints {
		if diff := cmp.Diff([]signpost.ContextItem{{Key: "signedDeviceInfoToken", Type: "ctx"}}, e.ContextObj); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.URL, diff)
		}
	}
}

// Section 2.4, rule 4.
func TestSpec2_4_4NoFeaturesNoItems(t *testing.T) {
	for _, e := range compile(t, referenceDeployment()).Manifest().Endpoints {
		if len(e.ContextObj) > 0 {
			t.Errorf("%s has context items: %v", e.URL, e.ContextObj)
		}
	}
}

// Section 2.5: the two tables of fields, and the four kinds.
func TestSpec2_5ModifierKinds(t *testing.T) {
	tests := []struct {
		kind  string
		build func(signpost.ModifierInput) signpost.Modifier
		in    signpost.ModifierInput
		want  string
	}{
		{"text", signpost.Text, signpost.ModifierInput{
			ID: "search", Name: "Search", Key: "q", Label: "Find", DefaultValue: "news", Placeholder: "a title",
		}, `{"id": "search", "name": "Search", "params": [{
			"key": "q", "ui": {"label": "Find", "placeholder": "a title"}, "schema": {"type": "string", "default": "news"}
		}]}`},
		{"number", signpost.Number, signpost.ModifierInput{
			ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20, Placeholder: "1 to 100",
		}, `{"id": "limit", "name": "Page size", "params": [{
			"key": "limit", "ui": {"label": "Limit", "placeholder": "1 to 100"}, "schema": {"type": "number", "default": 20}
		}]}`},
		{"boolean", signpost.Boolean, signpost.ModifierInput{
			ID: "live", Name: "Live only", Key: "live", Label: "Live", DefaultValue: true,
		}, `{"id": "live", "name": "Live only", "params": [{
			"key": "live", "ui": {"label": "Live"}, "schema": {"type": "boolean", "default": true}
		}]}`},
		{"select", signpost.Select, signpost.ModifierInput{
			ID: "sort", Name: "Sort order", Key: "sort", Label: "Sort by", DefaultValue: "title", Placeholder: "choose",
			Options: []signpost.Option{{Value: "newest", Label: "Newest first"}, {Value: "title", Label: "Title"}},
		}, `{"id": "sort", "name": "Sort order", "params": [{
			"key": "sort",
			"ui": {"label": "Sort by", "placeholder": "choose", "options": [
				{"value": "newest", "label": "Newest first"}, {"value": "title", "label": "Title"}
			]},
			"schema": {"type": "string", "default": "title", "enum": ["newest", "title"]}
		}]}`},
		{"without what is optional", signpost.Number, signpost.ModifierInput{
			ID: "page", Name: "Page", Key: "page", Label: "Page",
		}, `{"id": "page", "name": "Page", "params": [{"key": "page", "ui": {"label": "Page"}, "schema": {"type": "number"}}]}`},
	}
	for _, test := range tests {
		t.Run(test.kind, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			e.Modifiers = []signpost.Modifier{test.build(test.in)}
			wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), `{"endpoints": {"https://api.example.com/v1/feeds": {
				"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": [], "modifiers": [`+test.want+`]
			}}}`)
		})
	}
}

// Section 4.1, rule 4.
func TestSpec4_1_4EveryCallGivesTheSame(t *testing.T) {
	first := compile(t, referenceDeployment(), signpost.Authentication())
	want := rendered(t, first, "api.example.com")
	for range 20 { // enough to notice random map order
		rendered(t, first, "other.example.com") // another request in between
		for _, template := range []*signpost.Template{first, compile(t, referenceDeployment(), signpost.Authentication())} {
			if got := rendered(t, template, "api.example.com"); !bytes.Equal(got, want) {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
}

// feed returns a valid endpoint with only the required fields.
func feed(url string) signpost.Endpoint {
	return signpost.Endpoint{URL: url, Name: "Feed", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
}

// parse reads a manifest from JSON.
func parse(t testing.TB, doc string) signpost.Manifest {
	t.Helper()
	var m signpost.Manifest
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func compile(t testing.TB, m signpost.Manifest, features ...signpost.Feature) *signpost.Template {
	t.Helper()
	template, err := signpost.Compile(m, features...)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func render(t testing.TB, host string, m signpost.Manifest, features ...signpost.Feature) string {
	t.Helper()
	doc := rendered(t, compile(t, m, features...), host)
	wantNoDuplicateKeys(t, doc)
	return string(doc)
}

// wantDocument compares a rendered manifest byte by byte with JSON that is indented for readability.
func wantDocument(t testing.TB, got, want string) {
	t.Helper()
	var oneLine bytes.Buffer
	if err := json.Compact(&oneLine, []byte(want)); err != nil {
		t.Fatalf("the wanted document is not JSON: %v\n%s", err, want)
	}
	oneLine.WriteByte('\n')
	if got != oneLine.String() {
		t.Errorf("document:\n got %s\nwant %s", got, &oneLine)
	}
}

// urls returns the keys of a rendered manifest's endpoints, in order.
func urls(t testing.TB, doc string) []string {
	t.Helper()
	var out []string
	for _, e := range parse(t, doc).Endpoints {
		out = append(out, e.URL)
	}
	return out
}
