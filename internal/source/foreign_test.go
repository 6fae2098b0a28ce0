package source

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"signpost"
)

// TestForeignManifests reads manifests with one deviation each: all of them are warnings, and the manifest is used.
func TestForeignManifests(t *testing.T) {
	const good = `"name": "Feeds", "method": "get", "mime_type": "application/json"`
	for _, test := range []struct{ endpoint, rule string }{
		{`{` + good + `}`, ""},
		{`{"name": "Feeds", "method": "GET", "mime_type": "application/json"}`, "method"},
		{`{"name": "Feeds", "mime_type": "application/json"}`, "required-field"},
		{`{"method": "get", "mime_type": "application/json"}`, "required-field"},
		{`{"name": 5, "method": "get", "mime_type": "application/json"}`, "wrong-type"},
		{`{"name": "Feeds", "method": "get"}`, "required-field"},
		{`{` + good + `, "modifiers": null}`, "wrong-type"},
		{`{` + good + `, "context_obj": {}}`, "wrong-type"},
		{`{` + good + `, "context_obj": [{"key": "a", "type": "ctx", "required": "true"}]}`, "wrong-type"},
		{`{` + good + `, "context_obj": [{"type": "ctx"}]}`, "required-field"},
		{`{` + good + `, "context_obj": [{"key": "a", "type": "header"}]}`, "foreign-type"},
		{`{` + good + `, "modifiers": [{"id": "a", "name": "A", "params": [{"key": "a", "ui": {"label": "A"}, "schema": {"type": "integer"}}]}]}`, "wrong-type"},
		{`{` + good + `, "cache": 60}`, "foreign-field"},
	} {
		text := fmt.Sprintf(`{"endpoints": {"https://feeds.example.com/v1/feeds": %s, "https://feeds.example.com/v1/media": {%s}}}`, test.endpoint, good)
		s := NewService(Document{Name: "saved.json", Text: []byte(text)})
		errors, foreign := Errors(s)
		var rules []string
		for _, f := range foreign {
			if rules = append(rules, f.Rule); f.Severity != signpost.SeverityWarning {
				t.Errorf("%s: %+v", test.endpoint, f)
			}
		}
		if len(errors) > 0 || strings.Join(rules, " ") != test.rule {
			t.Errorf("%s: %v, %q", test.endpoint, errors, rules)
		}
		if s.Load(nil); len(s.Versions) != 1 || len(s.Versions[0].Manifest.Endpoints) != 2 {
			t.Errorf("%s: %+v", test.endpoint, s.Versions)
			continue
		}
		if e := s.Versions[0].Manifest.Endpoints[0]; e.URL != "https://feeds.example.com/v1/feeds" || e.Method != signpost.MethodGet {
			t.Errorf("%s: %+v", test.endpoint, e)
		}
	}
	for text, rule := range map[string]string{
		`{"endpoints": {`:   "syntax",
		`{"endpoints": []}`: "wrong-type",
	} {
		errors, foreign := Errors(&Service{File: Document{Name: "saved.json", Text: []byte(text), Address: &url.URL{}}.Parse(), Served: true})
		if len(errors) != 1 || errors[0].Rule != rule || len(foreign) > 0 {
			t.Errorf("%s: %v, %v", text, errors, foreign)
		}
	}
}
