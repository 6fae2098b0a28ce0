package signpost_test

import (
	"encoding/json"
	"errors"
	"fmt"
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

// If two URLs become the same, the later endpoint wins and takes the place of the first. The endpoints of a case, which
// begins with the host, are named 0, 1, 2, ...
func TestRenderURLsThatMeet(t *testing.T) {
	testkit.Cases(t, "testdata/meet.golden", func(input string) string {
		words := strings.Fields(input)
		var m signpost.Manifest
		for i, url := range words[1:] {
			m.Endpoints = append(m.Endpoints, named(url, fmt.Sprint(i)))
		}
		var out strings.Builder
		for _, e := range parse(t, render(t, words[0], m)).Endpoints {
			fmt.Fprintln(&out, e.URL, e.Name)
		}
		return out.String()
	})
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
