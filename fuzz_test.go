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
	"signpost/internal/warnings"
)

// A manifest that passes Validate can be served: the response is JSON without duplicate keys, nothing but {{host}} is
// replaced in the URLs, and reading the response and serving it again gives the same bytes.
func FuzzManifestJSON(f *testing.F) {
	f.Add([]byte(`{"endpoints":{}}`))
	f.Add([]byte(`{"endpoints":{"https://{{host}}/v1/feeds":{"name":"Feed of {{host}}","method":"get","mime_type":"application/json"}}}`))
	f.Add([]byte(`{"endpoints":{
		"https://{{host}}/a?b&c":{"name":"<1>","method":"get","mime_type":"a/b","context_obj":null,"modifiers":[]},
		"https://api.example.com/a?b&c":{"name":"2","method":"post","mime_type":"a/b","context_obj":[{"key":"k","type":"bodyParam","mapper":null}]},
		"https://{{host}}.{{host}}/{{series_id}}":{"name":"3","method":"get","mime_type":"a/b","context_obj":[{"key":"k","type":"ctx","required":true,"mapper":"m"}]}}}`))
	f.Add([]byte(`{"endpoints":{"https://{{host}}/\"\\\u00e9\ud83d\ude00":{"name":"\u2028\u0000","method":"get","mime_type":"a/b"}}}`))
	f.Add([]byte("{\"endpoints\":{\"https://{{host}}/\xff\":{\"name\":\"\xff\",\"method\":\"get\",\"mime_type\":\"a/b\"}}}"))
	for _, schema := range []string{
		`{"type":"number","default":20.0}`, `{"type":"number","default":-1E+3}`, `{"type":"number","default":123456789012345678901234567890}`,
		`{"type":"boolean","default":false}`, `{"type":"string","default":""}`, `{"type":"string","default":null,"enum":[]}`,
		`{"type":"string","default":"a","enum":["b","a"]}`, `{"type":"number","default":1,"enum":["1"]}`,
	} {
		f.Add([]byte(withSchema(schema)))
	}
	full, err := json.Marshal(signpost.NewManifest(fullEndpoint("https://{{host}}/kids"), goodEndpoint()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)

	f.Fuzz(func(t *testing.T, data []byte) {
		const host = "api.example.com"
		var m signpost.Manifest
		if err := json.Unmarshal(data, &m); err != nil || len(m.Validate()) > 0 {
			return
		}
		if template, err := signpost.Compile(m); err == nil {
			if _, err := template.Render(host); errors.As(err, new(*signpost.HostError)) {
				return // {{host}} is part of a name that becomes too long
			}
		}
		doc := render(t, host, m) // also checks for duplicate keys

		var want []string // only {{host}} is replaced, and URLs are unique
		for _, e := range m.Endpoints {
			if resolved := strings.ReplaceAll(e.URL, signpost.HostPlaceholder, host); !slices.Contains(want, resolved) {
				want = append(want, resolved)
			}
		}
		got := urls(t, doc)
		if !slices.Equal(got, want) {
			t.Errorf("got the URLs %q, want %q", got, want)
		}
		for _, u := range got {
			if strings.Contains(u, signpost.HostPlaceholder) {
				t.Errorf("{{host}} is still in %q", u)
			}
		}
		if again := render(t, "other.example.com", parse(t, doc)); again != doc {
			t.Errorf("served again:\n got %s\nwant %s", again, doc)
		}
	})
}

// FuzzValidManifestIsServed checks that a manifest that passes Validate is served for every host that a request can
// have, and that the result is a manifest to a reader that knows only the specification. A host may fail to fit only
// where {{host}} is part of a host name.
func FuzzValidManifestIsServed(f *testing.F) {
	for _, url := range []string{
		"https://{{host}}/v1/feeds", "https://media.{{host}}:8443/a", "https://{{host}}.{{host}}/{{id}}", "https://{{region}}.{{host}}/a",
		"https://x{{host}}/a?b={{c}}&d=%20", "https://{{host}}-x.example/a", "https://bücher.example/a", "HTTPS://Partner.Example/a;b=c,d/(e)'f'", "https://[::1]:8/a", "https://{{host}}./a",
		"https://300.1.1.1/a", "https://{{host}}/a#b", "https://{{host}}/../a", "https://{{host}}/{{a}}{{b}}",
	} {
		for _, name := range []string{"feeds.example.com", "192.0.2.1", "[2001:db8::1]", "f", strings.Repeat("a.", 100) + "example"} {
			f.Add(url, name, "Feeds", "get", "application/json", "token", "ctx", "alias")
		}
	}
	f.Fuzz(func(t *testing.T, url, name, label, method, mimeType, key, kind, mapper string) {
		m := signpost.NewManifest(signpost.Endpoint{
			URL: url, Name: label, Method: method, MIMEType: mimeType, ContextObj: []signpost.ContextItem{{Key: key, Type: kind, Mapper: mapper}},
			Modifiers: []signpost.Modifier{signpost.Text(signpost.ModifierInput{ID: key, Name: label, Key: key, Label: label, DefaultValue: mapper})},
		}, feed("https://{{host}}/other"))
		if len(m.Validate()) > 0 {
			return
		}
		warnings.Manifest(m, m, "") // must handle every valid manifest
		template, err := signpost.Compile(m, signpost.GeoRestriction())
		if err != nil {
			if !strings.Contains(err.Error(), signpost.RuleContextDuplicate) { // the feature's key is already used as an alias
				t.Fatalf("%q is valid, and does not compile: %v", url, err)
			}
			return
		}
		parsed, err := host.Parse(name)
		if err != nil {
			parsed = "feeds.example.com"
		}
		doc, err := template.Render(parsed)
		if misfit := (*signpost.HostError)(nil); errors.As(err, &misfit) {
			if u := signpost.CutURL(url); !u.HasHostPlaceholder() || u.Hostname() == signpost.HostPlaceholder {
				t.Fatalf("%q does not fit %q", parsed, url)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q for %q: %v", url, parsed, err)
		}
		readManifest(t, doc)
	})
}

// readManifest reads a manifest by the specification alone, without package signpost.
func readManifest(t *testing.T, doc []byte) {
	t.Helper()
	var manifest struct {
		Endpoints map[string]struct {
			Name, Method string
			MIMEType     string `json:"mime_type"`
			ContextObj   []struct {
				Key, Type string
				Required  *bool
			} `json:"context_obj"`
			Modifiers []struct {
				ID, Name string
				Params   []struct {
					Key    string
					UI     struct{ Label string }
					Schema struct{ Type string }
				}
			}
		}
	}
	if err := json.Unmarshal(doc, &manifest); err != nil || len(manifest.Endpoints) != 2 {
		t.Fatalf("%s: %v", doc, err)
	}
	for key, e := range manifest.Endpoints {
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
		if e.Name == "" || e.Method != "get" && e.Method != "post" || strings.Count(strings.SplitN(e.MIMEType, ";", 2)[0], "/") != 1 {
			t.Errorf("%s: %+v", key, e)
		}
		for _, item := range e.ContextObj {
			if item.Key == "" || item.Type != "ctx" && item.Type != "bodyParam" || item.Required == nil {
				t.Errorf("%s: %+v", key, item)
			}
		}
		for _, modifier := range e.Modifiers {
			if modifier.ID == "" || modifier.Name == "" || len(modifier.Params) != 1 || modifier.Params[0].Key == "" || modifier.Params[0].UI.Label == "" || modifier.Params[0].Schema.Type != "string" {
				t.Errorf("%s: %+v", key, modifier)
			}
		}
	}
}
