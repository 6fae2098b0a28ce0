package signpost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// These tests follow the rules of the specification that need no HTTP. TestSpec1_2 is section 1, rule 2; TestSpec2_4 is
// section 2.4. Rule 1.1 and the tables of fields in 2.2 to 2.5 are in json_test.go, their required fields and values in
// validate_test.go, and the independence rule of 2.5 is in independence_test.go. Rule 1.7 is tested in package match, 1.6,
// 4.1 and 9 in packages server and routes, 5.2 and 5.3 in package contextkeys.

// Section 1, rule 2. The hostname carries no port.
func TestSpec1_2HostIsReplacedByTheHostname(t *testing.T) {
	for url, want := range map[string]string{
		"https://{{host}}":                   "https://api.example.com",
		"https://{{host}}:8443/v1/feeds":     "https://api.example.com:8443/v1/feeds",
		"https://cdn.{{host}}/v1/feeds":      "https://cdn.api.example.com/v1/feeds",
		"https://{{host}}.{{host}}/v1/feeds": "https://api.example.com.api.example.com/v1/feeds",
	} {
		if got := urls(t, render(t, "api.example.com", signpost.NewManifest(feed(url)))); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
	template := compile(t, signpost.NewManifest(feed("https://{{host}}/v1/feeds")))
	for _, host := range []string{"api.example.com", "localhost", "a", "my-host_1.internal", "xn--bcher-kva.example", "API.Example.COM",
		"192.0.2.7", "[::1]", "[2001:db8::1]", "[::ffff:192.0.2.7]"} {
		if got := urls(t, string(rendered(t, template, host))); got[0] != "https://"+host+"/v1/feeds" {
			t.Errorf("Render(%q) gave %q", host, got)
		}
	}
	for _, host := range []string{"", " ", "a b", "a\n", "a\x00", "a:80", "a:", "::1", "[::1]:80", "[", "]", "[]", "[::1", "::1]", "[[::1]]",
		"[::1%25eth0]", "[zz]", "a/b", "a?b", "a#b", "a@b", `a"b`, `a\b`, "a%2fb", "a,b", "a<b", "a&b", "{{host}}", "{{host", "}", "bücher.example", "a\xff",
		"[abc]", "[:]", "[.]", "[1.2.3.4]", "[1:2]", "[::1::2]", ".", "..", "a..b", ".a"} {
		want := fmt.Sprintf("%q is not a host name or an IP address", host)
		if doc, err := template.Render(host); err == nil || doc != nil || err.Error() != want {
			t.Errorf("Render(%q) gave %s, %v", host, doc, err)
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

// Section 1, rule 4. A host that looks like part of a placeholder does not form one with the text around it.
func TestSpec1_4OtherPlaceholdersStay(t *testing.T) {
	for url, want := range map[string]string{
		"https://{{host}}/v1/series/{{series_id}}/episodes": "https://host/v1/series/{{series_id}}/episodes",
		"https://{{host}}/{{a}}/{{b}}-{{a}}":                "https://host/{{a}}/{{b}}-{{a}}",
		"https://{{host}}.{{host}}/{{hostname}}/{{host_}}":  "https://host.host/{{hostname}}/{{host_}}",
		"https://{{host}}/{{extensions.series-id}}":         "https://host/{{extensions.series-id}}",
		"https://partner.example.net/{{id}}":                "https://partner.example.net/{{id}}",
	} {
		wantDocument(t, render(t, "host", signpost.NewManifest(feed(url))), `{"endpoints": {"`+want+`": {
			"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
		}}}`)
	}
}

// Section 2.1.
func TestSpec2_1ManifestHasEndpoints(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", signpost.Manifest{}), `{"endpoints": {}}`)
}

// referenceDeployment returns the collection, media and nested endpoint of section 4.2.
func referenceDeployment() signpost.Manifest {
	return signpost.NewManifest(
		feed("https://{{host}}/feeds"),
		feed("https://{{host}}/feeds/media"),
		feed("https://{{host}}/feeds/series/{{series_id}}/episodes"),
	)
}

// Section 2.4, rules 2 to 4.
func TestSpec2_4Features(t *testing.T) {
	device := signpost.ContextItem{Key: "signedDeviceInfoToken", Type: "ctx"}
	token := signpost.ContextItem{Key: "plugin-login-flow.access_token", Type: "ctx", Required: true}
	for _, test := range []struct {
		features      []signpost.Feature
		media, others []signpost.ContextItem
	}{
		{nil, nil, nil},
		{[]signpost.Feature{signpost.Authentication()}, []signpost.ContextItem{token}, nil},
		{[]signpost.Feature{signpost.GeoRestriction()}, []signpost.ContextItem{device}, []signpost.ContextItem{device}},
		{[]signpost.Feature{signpost.GeoRestriction(), signpost.Authentication()}, []signpost.ContextItem{token, device}, []signpost.ContextItem{device}},
	} {
		for _, e := range compile(t, referenceDeployment(), test.features...).Manifest().Endpoints {
			want := test.others
			if e.URL == "https://{{host}}/feeds/media" {
				want = test.media
			}
			if diff := cmp.Diff(want, e.ContextObj); diff != "" {
				t.Errorf("%s (-want +got):\n%s", e.URL, diff)
			}
		}
	}
	// The media endpoint is the URL ending in /media.
	for _, url := range []string{
		"https://{{host}}/v1/media/", "https://{{host}}/v1/media/42", "https://{{host}}/v1/media?page=2", "https://{{host}}/v1/multimedia",
	} {
		if e := compile(t, signpost.NewManifest(feed(url)), signpost.Authentication()).Manifest().Endpoints[0]; e.ContextObj != nil {
			t.Errorf("%s has %v", url, e.ContextObj)
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

// Section 4.1, rule 4, for many requests at a time. The race detector looks on.
func TestSpec4_1_4EveryCallGivesTheSame(t *testing.T) {
	manifest := signpost.NewManifest(fullEndpoint("https://{{host}}/a"), feed("https://b.example.com/a"))
	template := compile(t, manifest, signpost.GeoRestriction())
	var group sync.WaitGroup
	for _, host := range []string{"a.example.com", "b.example.com", "c.example.com"} {
		want := rendered(t, compile(t, manifest, signpost.GeoRestriction()), host)
		for range 4 {
			group.Go(func() {
				for range 50 { // enough to notice random map order
					if doc, err := template.Render(host); err != nil || !bytes.Equal(doc, want) {
						t.Errorf("for %s: got %s, %v, want %s", host, doc, err, want)
						return
					}
					template.Manifest().Endpoints[0].ContextObj[0].Key = "mine"
				}
			})
		}
	}
	group.Wait()
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
