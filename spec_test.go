package signpost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"signpost"
	"signpost/internal/testkit"
	"signpost/internal/tree"
)

// These tests follow the rules of the specification that need no HTTP. TestSpec1_2 is section 1, rule 2; TestSpec2_1 is
// section 2.1. Rule 1.1 and the tables of fields in 2.2 to 2.5 are in json_test.go, their required fields and values in
// validate_test.go, features (2.4) in feature_test.go, and the independence rule of 2.5 is in independence_test.go. Rule 1.7
// is tested in package match, 1.6, 4.1 and 9 in packages server and routes, 5.2 and 5.3 in package contextkeys.

// Section 1, rules 2 to 4. The hostname carries no port. URLs without {{host}} are unchanged, and so are other placeholders: even a
// host that looks like part of one forms none with the text around it.
func TestSpec1_2HostIsReplacedByTheHostname(t *testing.T) {
	for url, want := range map[string]string{
		"https://{{host}}":                                    "https://host",
		"https://{{host}}:8443/v1/feeds":                      "https://host:8443/v1/feeds",
		"https://cdn.{{host}}/v1/feeds":                       "https://cdn.host/v1/feeds",
		"https://{{host}}/v1/series/{{series_id}}/episodes":   "https://host/v1/series/{{series_id}}/episodes",
		"https://{{host}}/{{a}}/{{b}}-{{a}}":                  "https://host/{{a}}/{{b}}-{{a}}",
		"https://{{host}}.{{host}}/{{hostname}}/{{host_}}":    "https://host.host/{{hostname}}/{{host_}}",
		"https://{{host}}/{{extensions.series-id}}":           "https://host/{{extensions.series-id}}",
		"https://Partner.Example.NET:8443/Catalog/?a=b&c=%20": "https://Partner.Example.NET:8443/Catalog/?a=b&c=%20",
		"http://192.0.2.7/legacy/{{series_id}}":               "http://192.0.2.7/legacy/{{series_id}}",
	} {
		wantDocument(t, render(t, "host", signpost.NewManifest(feed(url))), `{"endpoints": {"`+want+`": {
			"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
		}}}`)
	}
	template := compile(t, signpost.NewManifest(feed("https://{{host}}/v1/feeds")))
	for _, host := range []string{"localhost", "a", "my-host_1.internal", "xn--bcher-kva.example", "API.Example.COM",
		"192.0.2.7", "[::1]", "[2001:db8::1]", "[::ffff:192.0.2.7]"} {
		doc := rendered(t, template, host)
		if got := urls(t, string(doc)); got[0] != "https://"+host+"/v1/feeds" || len(doc) != template.Size(host) {
			t.Errorf("Render(%q) gave %q, of size %d, not %d", host, got, len(doc), template.Size(host))
		}
	}
	for _, host := range []string{"", " ", "a b", "a\n", "a\x00", "a:80", "::1", "[::1]:80", "[", "[]", "[::1", "[[::1]]", "[::1%25eth0]",
		"a/b", "a?b", "a#b", "a@b", `a"b`, `a\b`, "a%2fb", "a,b", "a<b", "a&b", "{{host}}", "{{host", "}", "bücher.example", "a\xff",
		"[abc]", "[1.2.3.4]", ".", "a..b", ".a"} {
		want := fmt.Sprintf("%q is not a host name or an IP address", host)
		if doc, err := template.Render(host); err == nil || doc != nil || err.Error() != want {
			t.Errorf("Render(%q) gave %s, %v", host, doc, err)
		}
	}
}

// Section 2.1.
func TestSpec2_1ManifestHasEndpoints(t *testing.T) {
	wantDocument(t, render(t, "api.example.com", signpost.Manifest{}), `{"endpoints": {}}`)
}

// Section 2.5: the two tables of fields, and the four kinds.
func TestSpec2_5ModifierKinds(t *testing.T) {
	e := feed("https://{{host}}/v1/feeds")
	e.Modifiers = []signpost.Modifier{
		signpost.Text(signpost.ModifierInput{ID: "search", Name: "Search", Key: "q", Label: "Find", DefaultValue: "a", Placeholder: "title"}),
		signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Size", Key: "limit", Label: "Limit", DefaultValue: 20, Placeholder: "to 99"}),
		signpost.Boolean(signpost.ModifierInput{ID: "live", Name: "Live", Key: "live", Label: "Live", DefaultValue: true}),
		signpost.Select(signpost.ModifierInput{ID: "sort", Name: "Sort order", Key: "sort", Label: "Sort by", DefaultValue: "title",
			Placeholder: "choose", Options: []signpost.Option{{Value: "newest", Label: "Newest first"}, {Value: "title", Label: "Title"}}}),
		signpost.Number(signpost.ModifierInput{ID: "page", Name: "Page", Key: "page", Label: "Page"}), // without what is optional
	}
	wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), `{"endpoints": {"https://api.example.com/v1/feeds": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": [], "modifiers": [
			{"id": "search", "name": "Search", "params": [{
				"key": "q", "ui": {"label": "Find", "placeholder": "title"}, "schema": {"type": "string", "default": "a"}}]},
			{"id": "limit", "name": "Size", "params": [{
				"key": "limit", "ui": {"label": "Limit", "placeholder": "to 99"}, "schema": {"type": "number", "default": 20}}]},
			{"id": "live", "name": "Live", "params": [{"key": "live", "ui": {"label": "Live"}, "schema": {"type": "boolean", "default": true}}]},
			{"id": "sort", "name": "Sort order", "params": [{
				"key": "sort", "ui": {"label": "Sort by", "placeholder": "choose", "options": [
					{"value": "newest", "label": "Newest first"}, {"value": "title", "label": "Title"}]},
				"schema": {"type": "string", "default": "title", "enum": ["newest", "title"]}}]},
			{"id": "page", "name": "Page", "params": [{"key": "page", "ui": {"label": "Page"}, "schema": {"type": "number"}}]}]
	}}}`)
	e.Modifiers = append(e.Modifiers, signpost.Modifier{Params: []signpost.Param{{Schema: signpost.Schema{Type: "string", Enum: []string{"a"}}}}})
	for i, want := range []string{"text", "number", "boolean", "select", "number", "select"} {
		testkit.Equal(t, "kind of modifier "+e.Modifiers[i].Name, e.Modifiers[i].Params[0].Kind(), want)
	}
}

// Sections 2.3 and 5.3: only a post request has a body. Apps know how to send header and bearerHeader, too.
func TestSpec2_3ContextTypes(t *testing.T) {
	for kind, want := range map[string][2]bool{"ctx": {true, true}, "bodyParam": {false, true}, "header": {true, true}, "bearerHeader": {true, true}, "cookie": {}} {
		item := signpost.ContextItem{Key: "k", Type: kind}
		if got := [2]bool{item.SentWith("get"), item.SentWith("post")}; got != want || (item.Place() == "") != (kind == "cookie") {
			t.Errorf("%s is sent by get and post: %v, in the %s", kind, got, item.Place())
		}
	}
}

// Section 4.1, rule 4, for many requests at a time. The race detector looks on.
func TestSpec4_1_4EveryCallGivesTheSame(t *testing.T) {
	manifest := signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/a"), feed("https://partner.example.net/a"))
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
	testkit.OK(t, json.Unmarshal([]byte(doc), &m))
	return m
}

func compile(t testing.TB, m signpost.Manifest, features ...signpost.Feature) *signpost.Template {
	t.Helper()
	return testkit.Must(signpost.Compile(m, features...))(t)
}

func render(t testing.TB, host string, m signpost.Manifest, features ...signpost.Feature) string {
	t.Helper()
	doc := rendered(t, compile(t, m, features...), host)
	if problems := tree.Parse(doc, true).Problems; len(problems) > 0 { // such as a duplicate key
		t.Errorf("%s: %v", doc, problems)
	}
	return string(doc)
}

// wantDocument compares a rendered manifest byte by byte with JSON that is indented for readability.
func wantDocument(t testing.TB, got, want string) {
	t.Helper()
	var oneLine bytes.Buffer
	testkit.OK(t, json.Compact(&oneLine, []byte(want)))
	testkit.Equal(t, "document", got, oneLine.String()+"\n")
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
