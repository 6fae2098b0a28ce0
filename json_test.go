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

// If two URLs become the same, there is no manifest for that host: nothing is merged. ForHost, Render and ValidateHosts
// agree. A case begins with the host.
func TestRenderURLsThatMeet(t *testing.T) {
	testkit.Cases(t, "testdata/meet.golden", func(input string) string {
		words := strings.Fields(input)
		var m signpost.Manifest
		for i, url := range words[1:] {
			m.Endpoints = append(m.Endpoints, named(url, fmt.Sprint(i)))
		}
		_, err := compile(t, m).Render(words[0])
		_, forHost := m.ForHost(words[0])
		findings := m.ValidateHosts(words[0])
		if fmt.Sprint(err) != fmt.Sprint(forHost) || (err == nil) != (len(findings) == 0) {
			t.Errorf("%s: %v, %v, %v", input, err, forHost, findings)
		}
		var out strings.Builder
		for _, f := range findings {
			fmt.Fprintln(&out, f)
		}
		return out.String()
	})
}

// The placeholder is only special in URLs.
func TestRenderLeavesHostInOtherTextAlone(t *testing.T) {
	e := testkit.FullEndpoint("https://{{host}}/v1/feeds")
	e.Name, e.ContextObj[0].Key, e.Modifiers[0].ID, e.Modifiers[0].Params[0].UI.Label = "Of {{host}}", "{{host}}", "{{host}}", "{{host}}"
	doc := render(t, "api.example.com", signpost.NewManifest(e))
	if strings.Count(doc, "{{host}}") != 4 || !strings.Contains(doc, `"https://api.example.com/v1/feeds"`) {
		t.Error(doc)
	}
}

func named(url, name string) signpost.Endpoint {
	e := feed(url)
	e.Name = name
	return e
}
