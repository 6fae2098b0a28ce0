package signpost_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"signpost"
)

// A manifest that Validate has nothing against can be served: the response is JSON without a key twice,
// only {{host}} is gone from the URLs, and who reads the response and serves it again sends the same bytes.
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
		doc := render(t, host, m) // which looks for duplicate keys

		var want []string // {{host}} replaced, nothing else, each once
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

// A host is refused, or is the host of the URLs: it leaves neither its place in the URL nor the JSON string.
func FuzzRenderHost(f *testing.F) {
	for _, host := range []string{
		"api.example.com", "b.example.com", "localhost", "192.0.2.7", "[::1]", "[::ffff:192.0.2.7]", "xn--bcher-kva.example", "a_b-c",
		"", ".", "-", "a:80", "a/b", "a@b", `a"b`, `a\b`, "a?b", "a#b", "a%2fb", "[", "[]", "[a]", "[::1]:80", "{{host}}", "a\x00b", "bücher.example", "\xff",
	} {
		f.Add(host)
	}
	template := compile(f, signpost.NewManifest(
		feed("https://{{host}}/v1/feeds"), feed("https://{{host}}/v1/series/{{series_id}}"), feed("https://b.example.com/v1/feeds"),
	))
	f.Fuzz(func(t *testing.T, host string) {
		doc, err := template.Render(host)
		if err != nil {
			if doc != nil {
				t.Errorf("Render(%q) gave an error and also %s", host, doc)
			}
			return
		}
		wantNoDuplicateKeys(t, doc)
		got := urls(t, string(doc))
		if got[0] != "https://"+host+"/v1/feeds" || got[1] != "https://"+host+"/v1/series/{{series_id}}" {
			t.Errorf("Render(%q) gave the URLs %q", host, got)
		}
		u, err := url.Parse(got[0])
		if err != nil || u.Host != host || u.Port() != "" || u.User != nil || u.Path != "/v1/feeds" {
			t.Errorf("Render(%q) gave %q, which is read as %#v, %v", host, got[0], u, err)
		}
		if findings := parse(t, string(doc)).Validate(); len(findings) > 0 {
			t.Errorf("Render(%q) gave a manifest with findings: %v", host, findings)
		}
	})
}
