package signpost_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/host"
	"signpost/internal/testkit"
	"signpost/internal/warnings"
)

// FuzzManifest checks that a manifest that passes Validate is served for every host that a request can have. The response is
// a manifest to a reader that knows only the specification, has no duplicate keys, and nothing but {{host}} is replaced in
// its URLs; reading it and serving it again gives the same bytes. A host may fail to fit only where {{host}} is part of a
// host name.
func FuzzManifest(f *testing.F) {
	seed := func(manifest string) { f.Add([]byte(manifest), "api.example.com") }
	seed(`{"endpoints":{}}`)
	seed(`{"endpoints":{"https://{{host}}/v1/feeds":{"name":"Feed of {{host}}","method":"get","mime_type":"application/json"}}}`)
	seed(`{"endpoints":{
		"https://{{host}}/a?b&c":{"name":"<1>","method":"get","mime_type":"a/b","context_obj":null,"modifiers":[]},
		"https://api.example.com/a?b&c":{"name":"2","method":"post","mime_type":"text/b","context_obj":[{"key":"k","type":"bodyParam","mapper":null}]},
		"https://{{host}}.{{host}}/{{series_id}}":{"name":"3","method":"get","mime_type":"text/b","context_obj":[{"key":"k","type":"ctx","required":true,"mapper":"m"}]}}}`)
	seed(`{"endpoints":{"https://{{host}}/\"\\\u00e9\ud83d\ude00":{"name":"\u2028\u0000","method":"get","mime_type":"text/b"}}}`)
	seed("{\"endpoints\":{\"https://{{host}}/\xff\":{\"name\":\"\xff\",\"method\":\"get\",\"mime_type\":\"text/b\"}}}")
	for _, schema := range []string{
		`{"type":"number","default":20.0}`, `{"type":"number","default":-1E+3}`, `{"type":"number","default":123456789012345678901234567890}`,
		`{"type":"boolean","default":false}`, `{"type":"string","default":""}`, `{"type":"string","default":null,"enum":[]}`,
		`{"type":"string","default":"a","enum":["b","a"]}`, `{"type":"number","default":1,"enum":["1"]}`,
	} {
		seed(withSchema(schema))
	}
	for _, url := range []string{
		"https://{{host}}/kids", "https://media.{{host}}:8443/a", "https://{{host}}.{{host}}/{{id}}", "https://{{region}}.{{host}}/a",
		"https://x{{host}}/a?b={{c}}&d=%20", "https://{{host}}-x.example/a", "https://bücher.example/a", "HTTPS://Partner.Example/a;b=c,d/(e)'f'", "https://[::1]:8/a", "https://{{host}}./a",
		"https://300.1.1.1/a", "https://{{host}}/a#b", "https://{{host}}/../a", "https://{{host}}/{{a}}{{b}}",
	} {
		doc, err := json.Marshal(signpost.NewManifest(testkit.FullEndpoint(url), goodEndpoint(f)))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range []string{"feeds.example.com", "192.0.2.1", "[2001:db8::1]", "f", strings.Repeat("a.", 100) + "example"} {
			f.Add(doc, name)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		var m signpost.Manifest
		if err := json.Unmarshal(data, &m); err != nil || len(m.Validate()) > 0 {
			return
		}
		warnings.Manifest(m, m, nil, nil) // must handle every valid manifest
		name, err := host.Parse(name)
		if err != nil {
			name = "api.example.com"
		}
		template := compile(t, m)
		misfit := new(signpost.HostError)
		if _, err := template.Render(name); errors.As(err, &misfit) {
			if !misfit.URL.HasHostPlaceholder() || misfit.URL.Hostname() == signpost.HostPlaceholder {
				t.Fatalf("%q does not fit %q", name, misfit.URL)
			}
			return
		}
		doc := render(t, name, m) // also checks for duplicate keys
		var want []string         // only {{host}} is replaced, and URLs are unique
		for _, e := range m.Endpoints {
			if resolved := strings.ReplaceAll(e.URL, signpost.HostPlaceholder, name); !slices.Contains(want, resolved) {
				want = append(want, resolved)
			}
		}
		if got := urls(t, doc); !slices.Equal(got, want) {
			t.Errorf("got the URLs %q, want %q", got, want)
		}
		read := parse(t, doc) // whose values beyond the specification have no plus
		if again := testkit.Must(read.MarshalJSON())(t); string(again)+"\n" != doc {
			t.Errorf("written again:\n got %s\nwant %s", again, doc)
		}
		readManifest(t, []byte(doc))
	})
}

// readManifest reads a manifest by the specification alone, without package signpost.
func readManifest(t *testing.T, doc []byte) {
	t.Helper()
	var manifest struct{ Endpoints map[string]any }
	if err := json.Unmarshal(doc, &manifest); err != nil || manifest.Endpoints == nil {
		t.Fatalf("%s: %v", doc, err)
	}
	for key, descriptor := range manifest.Endpoints {
		if strings.Contains(key, "{{host}}") {
			t.Errorf("%q has {{host}} in it", key)
		}
		plain := regexp.MustCompile(`\{\{[^{}]+\}\}`).ReplaceAllString(key, "x")
		u, err := url.Parse(plain)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Fragment != "" {
			t.Fatalf("%q is read as %#v, %v", key, u, err)
		}
		if _, err := host.Parse(u.Host); err != nil && strings.Trim(u.Host, "\x00-\x7f") == "" {
			t.Errorf("%q: no request can be for its host: %v", key, err)
		}
		for _, e := range objects(t, []any{descriptor}, "name", "method", "mime_type", "context_obj") {
			objects(t, e["context_obj"], "key", "type", "required")
			for _, m := range objects(t, e["modifiers"], "id", "name", "params") {
				for _, p := range objects(t, m["params"], "key", "ui", "schema") {
					objects(t, []any{p["ui"]}, "label")
					objects(t, []any{p["schema"]}, "type")
				}
			}
		}
	}
}

// objects returns the objects of a list, which must have these fields, with a value.
func objects(t *testing.T, list any, fields ...string) []map[string]any {
	t.Helper()
	var all []map[string]any
	items, _ := list.([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		for _, name := range fields {
			if value, ok := object[name]; !ok || value == "" || value == nil {
				t.Errorf("%v has no %s", item, name)
			}
		}
		all = append(all, object)
	}
	return all
}
