package signpost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

// TestJSON reads documents and writes them again. One that is no manifest leaves the contents as they were.
func TestJSON(t *testing.T) {
	testkit.Cases(t, "testdata/json.golden", func(doc string) string {
		m := signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/b"), testkit.FullEndpoint("https://{{host}}/a"))
		kept := signpost.NewManifest(m.Endpoints...)
		err := json.Unmarshal([]byte(doc), &m)
		if err != nil {
			testkit.Equal(t, "the manifest after "+doc, m, kept)
			if _, ok := errors.AsType[*json.SyntaxError](err); ok {
				return "error: not JSON" // in words of encoding/json
			}
			return "error: " + err.Error()
		}
		return string(testkit.Must(m.MarshalJSON())(t))
	})
}

// withSchema returns the document of an endpoint with one modifier that has the given schema.
func withSchema(schema string) string {
	return `{"endpoints": {"https://api.example.com/v1/feeds": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": [],
		"modifiers": [{"id": "m", "name": "M", "params": [{"key": "m", "ui": {"label": "M"}, "schema": ` + schema + `}]}]
	}}}`
}

// Every default is written as it was given, even 0, false and empty text.
func TestJSONDefaults(t *testing.T) {
	for _, test := range []struct {
		build func(signpost.ModifierInput) signpost.Modifier
		value any
		want  string
	}{
		{signpost.Number, nil, `{"type": "number"}`},
		{signpost.Number, 0, `{"type": "number", "default": 0}`},
		{signpost.Boolean, false, `{"type": "boolean", "default": false}`},
		{signpost.Text, "", `{"type": "string", "default": ""}`},
		{signpost.Number, uint64(18446744073709551615), `{"type": "number", "default": 18446744073709551615}`},
		{signpost.Number, json.Number("20.0"), `{"type": "number", "default": 20.0}`},
	} {
		e := feed("https://{{host}}/v1/feeds")
		e.Modifiers = []signpost.Modifier{test.build(signpost.ModifierInput{ID: "m", Name: "M", Key: "m", Label: "M", DefaultValue: test.value})}
		want := withSchema(test.want)
		wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), want)
		wantDocument(t, render(t, "api.example.com", parse(t, want)), want)
	}
}

// No document has a key twice, even though JSON encodes all invalid UTF-8 as U+FFFD.
func TestJSONMarshalRefuses(t *testing.T) {
	for want, url := range map[string]string{`endpoint "https://{{host}}/a" is in the manifest twice`: "https://{{host}}/a", `is not UTF-8 text`: "https://{{host}}/\xff"} {
		if doc, err := json.Marshal(signpost.NewManifest(feed(url), feed(url))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %v", doc, err)
		}
	}
}

// If two URLs become the same, the later endpoint wins and takes the place of the first.
func TestRenderURLsThatMeet(t *testing.T) {
	for _, test := range []struct {
		host       string
		urls, want []string // the endpoints are named 0, 1, 2, ...
	}{
		{"api.example.com", []string{"https://{{host}}/a", "https://{{host}}/b", "https://api.example.com/a", "https://{{host}}/c"},
			[]string{"https://api.example.com/a 2", "https://api.example.com/b 1", "https://api.example.com/c 3"}},
		{"other.example", []string{"https://{{host}}/a", "https://api.example.com/a"}, []string{"https://other.example/a 0", "https://api.example.com/a 1"}},
		{"x", []string{"https://{{host}}.{{host}}/a", "https://x/a", "https://x.x/a"}, []string{"https://x.x/a 2", "https://x/a 1"}},
		{"x", []string{"https://{{host}}.x/a", "https://x.{{host}}/a", "https://x.x/a"}, []string{"https://x.x/a 2"}},
		{"x", []string{"https://{{host}}/a", "http://x/a", "https://x/a/", "https://x/a?q"}, []string{"https://x/a 0", "http://x/a 1", "https://x/a/ 2", "https://x/a?q 3"}},
		{"x", []string{"https://{{host}}/{{a}}", "https://x/{{b}}"}, []string{"https://x/{{a}} 0", "https://x/{{b}} 1"}},
	} {
		var m signpost.Manifest
		for i, url := range test.urls {
			m.Endpoints = append(m.Endpoints, named(url, fmt.Sprint(i)))
		}
		var got []string
		for _, e := range parse(t, render(t, test.host, m)).Endpoints {
			got = append(got, e.URL+" "+e.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q for %s: %q", test.urls, test.host, got)
		}
	}
}

// The placeholder is only special in URLs.
func TestRenderLeavesHostInOtherTextAlone(t *testing.T) {
	e := testkit.FullEndpoint("https://{{host}}/v1/feeds")
	e.Name, e.ContextObj[0].Key, e.Modifiers[0].ID, e.Modifiers[0].Params[0].UI.Label = "Of {{host}}", "{{host}}", "{{host}}", "{{host}}"
	for _, m := range []signpost.Manifest{
		signpost.NewManifest(e),
		signpost.NewManifest(e, feed("https://{{host}}/b"), feed("https://api.example.com/b")), // URLs meet: the other code path of Render
	} {
		if doc := render(t, "api.example.com", m); strings.Count(doc, "{{host}}") != 4 || !strings.Contains(doc, `"https://api.example.com/v1/feeds"`) {
			t.Error(doc)
		}
	}
}

func named(url, name string) signpost.Endpoint {
	e := feed(url)
	e.Name = name
	return e
}
