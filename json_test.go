package signpost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"signpost"
)

// The manifest sets every field, so each one shows up in its place.
func TestJSONFieldsStandInTheOrderOfTheTables(t *testing.T) {
	m := signpost.NewManifest(signpost.Endpoint{
		Modifiers: []signpost.Modifier{{
			Params: []signpost.Param{{
				Schema: signpost.Schema{Enum: []string{"a"}, Default: "a", Type: "string"},
				UI:     signpost.UI{Options: []signpost.Option{{Label: "A", Value: "a"}}, Placeholder: "choose", Label: "Letter"},
				Key:    "letter",
			}},
			Name: "Letter",
			ID:   "letter",
		}},
		ContextObj: []signpost.ContextItem{{Mapper: "user", Required: true, Type: "ctx", Key: "profile"}},
		MIMEType:   "application/json",
		Method:     "get",
		Name:       "Feed",
		URL:        "https://{{host}}/v1/feeds",
	})
	const want = `{"endpoints":{"https://api.example.com/v1/feeds":{"name":"Feed","method":"get","mime_type":"application/json",` +
		`"context_obj":[{"key":"profile","type":"ctx","required":true,"mapper":"user"}],` +
		`"modifiers":[{"id":"letter","name":"Letter","params":[{"key":"letter",` +
		`"ui":{"label":"Letter","placeholder":"choose","options":[{"value":"a","label":"A"}]},` +
		`"schema":{"type":"string","default":"a","enum":["a"]}}]}]}}}` + "\n"
	if got := render(t, "api.example.com", m); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestJSONListsKeepTheirOrder(t *testing.T) {
	text := func(id string) signpost.Modifier {
		return signpost.Text(signpost.ModifierInput{ID: id, Name: id, Key: id, Label: id})
	}
	z := feed("https://{{host}}/z")
	z.ContextObj = []signpost.ContextItem{{Key: "z", Type: "ctx"}, {Key: "a", Type: "ctx"}, {Key: "m", Type: "ctx"}}
	z.Modifiers = []signpost.Modifier{text("z"), text("a"), signpost.Select(signpost.ModifierInput{
		ID: "m", Name: "m", Key: "m", Label: "m",
		Options: []signpost.Option{{Value: "z", Label: "Z"}, {Value: "a", Label: "A"}, {Value: "m", Label: "M"}},
	})}
	const want = `{
		"endpoints": {
			"https://api.example.com/z": {
				"name": "Feed", "method": "get", "mime_type": "application/json",
				"context_obj": [
					{"key": "z", "type": "ctx", "required": false},
					{"key": "a", "type": "ctx", "required": false},
					{"key": "m", "type": "ctx", "required": false}
				],
				"modifiers": [
					{"id": "z", "name": "z", "params": [{"key": "z", "ui": {"label": "z"}, "schema": {"type": "string"}}]},
					{"id": "a", "name": "a", "params": [{"key": "a", "ui": {"label": "a"}, "schema": {"type": "string"}}]},
					{"id": "m", "name": "m", "params": [{
						"key": "m",
						"ui": {"label": "m", "options": [
							{"value": "z", "label": "Z"}, {"value": "a", "label": "A"}, {"value": "m", "label": "M"}
						]},
						"schema": {"type": "string", "enum": ["z", "a", "m"]}
					}]}
				]
			},
			"https://api.example.com/a": {"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []},
			"https://api.example.com/m": {"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []}
		}
	}`
	m := signpost.NewManifest(z, feed("https://{{host}}/a"), feed("https://{{host}}/m"))
	doc := render(t, "api.example.com", m)
	wantDocument(t, doc, want)
	wantDocument(t, render(t, "api.example.com", parse(t, doc)), want) // and when it was read from JSON
}

// Fields may be omitted, null or empty in the input; this is how they are written.
func TestJSONOptionalFields(t *testing.T) {
	tests := []struct{ name, fields, want string }{
		{"no context_obj", ``, `"context_obj": []`},
		{"null context_obj", `, "context_obj": null`, `"context_obj": []`},
		{"empty modifiers", `, "modifiers": []`, `"context_obj": []`},
		{"no required", `, "context_obj": [{"key": "a", "type": "ctx"}]`,
			`"context_obj": [{"key": "a", "type": "ctx", "required": false}]`},
		{"null required", `, "context_obj": [{"key": "a", "type": "ctx", "required": null}]`,
			`"context_obj": [{"key": "a", "type": "ctx", "required": false}]`},
		{"null mapper", `, "context_obj": [{"key": "a", "type": "ctx", "mapper": null}]`,
			`"context_obj": [{"key": "a", "type": "ctx", "required": false}]`},
		{"mapper", `, "context_obj": [{"key": "a", "type": "ctx", "mapper": "b"}]`,
			`"context_obj": [{"key": "a", "type": "ctx", "required": false, "mapper": "b"}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			const start = `{"endpoints": {"https://api.example.com/v1/feeds": {"name": "Feed", "method": "get", "mime_type": "application/json"`
			m := parse(t, start+test.fields+`}}}`)
			wantDocument(t, render(t, "api.example.com", m), start+`, `+test.want+`}}}`)
		})
	}
}

// withSchema returns the document of an endpoint with one modifier that has the given schema.
func withSchema(schema string) string {
	return `{"endpoints": {"https://api.example.com/v1/feeds": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": [],
		"modifiers": [{"id": "m", "name": "M", "params": [{"key": "m", "ui": {"label": "M"}, "schema": ` + schema + `}]}]
	}}}`
}

func TestJSONDefaults(t *testing.T) {
	tests := []struct {
		name  string
		build func(signpost.ModifierInput) signpost.Modifier
		value any
		want  string
	}{
		{"none", signpost.Number, nil, `{"type": "number"}`},
		{"0", signpost.Number, 0, `{"type": "number", "default": 0}`},
		{"false", signpost.Boolean, false, `{"type": "boolean", "default": false}`},
		{"empty text", signpost.Text, "", `{"type": "string", "default": ""}`},
		{"int64", signpost.Number, int64(-9007199254740993), `{"type": "number", "default": -9007199254740993}`},
		{"uint64", signpost.Number, uint64(18446744073709551615), `{"type": "number", "default": 18446744073709551615}`},
		{"float64", signpost.Number, 0.5, `{"type": "number", "default": 0.5}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := feed("https://{{host}}/v1/feeds")
			e.Modifiers = []signpost.Modifier{test.build(signpost.ModifierInput{
				ID: "m", Name: "M", Key: "m", Label: "M", DefaultValue: test.value,
			})}
			wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), withSchema(test.want))
		})
	}
}

func TestJSONNumbersKeepTheirForm(t *testing.T) {
	for _, number := range []string{"20", "20.0", "-0", "1e3", "1E+3", "0.10", "123456789012345678901234567890", "9007199254740993"} {
		t.Run(number, func(t *testing.T) {
			want := withSchema(`{"type": "number", "default": ` + number + `}`)
			wantDocument(t, render(t, "api.example.com", parse(t, want)), want)

			built := parse(t, want)
			built.Endpoints[0].Modifiers[0] = signpost.Number(signpost.ModifierInput{
				ID: "m", Name: "M", Key: "m", Label: "M", DefaultValue: json.Number(number),
			})
			wantDocument(t, render(t, "api.example.com", built), want)
		})
	}
}

// The second host makes two URLs collide, so Render takes its other code path.
func TestJSONRenderDoesNotEscapeHTML(t *testing.T) {
	m := signpost.NewManifest(named("https://api.example.com/a?b&c", "R&B <live>"), named("https://{{host}}/a?b&c", "R&B <live>"))
	const descriptor = `{"name": "R&B <live>", "method": "get", "mime_type": "application/json", "context_obj": []}`
	wantDocument(t, render(t, "x", m), `{"endpoints": {"https://api.example.com/a?b&c": `+descriptor+`, "https://x/a?b&c": `+descriptor+`}}`)
	wantDocument(t, render(t, "api.example.com", m), `{"endpoints": {"https://api.example.com/a?b&c": `+descriptor+`}}`)
}

// Characters that JSON must escape do not end the string early.
func TestJSONEscapesWhatItMust(t *testing.T) {
	want := "tab\tquote\"line\nnul\x00back\\slash"
	m := signpost.NewManifest(named("https://{{host}}/v1/feeds", want))
	if got := parse(t, render(t, "api.example.com", m)).Endpoints[0].Name; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONMarshalIsRenderWithTheHostOpen(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}/v1/feeds"), feed("https://partner.example.net/x"))
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	wantDocument(t, string(got)+"\n", `{"endpoints": {
		"https://{{host}}/v1/feeds": {"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []},
		"https://partner.example.net/x": {"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []}
	}}`)
}

func TestJSONMarshalRefusesADuplicateURL(t *testing.T) {
	doc, err := json.Marshal(signpost.NewManifest(feed("https://{{host}}/a"), feed("https://{{host}}/a")))
	if err == nil {
		t.Fatalf("got %s, want an error", doc)
	}
	if want := `endpoint "https://{{host}}/a" is in the manifest twice`; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

// JSON encodes all invalid UTF-8 as U+FFFD, so different URLs could become the same key.
func TestJSONKeysThatAreNotUTF8(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}/\xff"), feed("https://{{host}}/\xfe"), feed("https://{{host}}/\ufffd"))
	template, err := signpost.Compile(m)
	if err == nil { // rejecting them is fine
		doc, err := template.Render("api.example.com")
		if err != nil {
			t.Fatal(err)
		}
		wantNoDuplicateKeys(t, doc)
	}
	if doc, err := json.Marshal(m); err == nil {
		wantNoDuplicateKeys(t, doc)
	}
}

func TestRenderURLsThatMeet(t *testing.T) {
	type endpoint struct{ url, name string }
	tests := []struct {
		name      string
		endpoints []endpoint
		host      string
		want      []endpoint
	}{
		{"the later wins, in the place of the first",
			[]endpoint{{"https://{{host}}/a", "1"}, {"https://{{host}}/b", "2"}, {"https://api.example.com/a", "3"}, {"https://{{host}}/c", "4"}},
			"api.example.com",
			[]endpoint{{"https://api.example.com/a", "3"}, {"https://api.example.com/b", "2"}, {"https://api.example.com/c", "4"}}},
		{"another host keeps both",
			[]endpoint{{"https://{{host}}/a", "1"}, {"https://api.example.com/a", "2"}},
			"other.example.com",
			[]endpoint{{"https://other.example.com/a", "1"}, {"https://api.example.com/a", "2"}}},
		{"two occurrences",
			[]endpoint{{"https://{{host}}.{{host}}/a", "1"}, {"https://x/a", "2"}, {"https://x.x/a", "3"}},
			"x",
			[]endpoint{{"https://x.x/a", "3"}, {"https://x/a", "2"}}},
		{"three become one",
			[]endpoint{{"https://{{host}}.x/a", "1"}, {"https://x.{{host}}/a", "2"}, {"https://x.x/a", "3"}},
			"x",
			[]endpoint{{"https://x.x/a", "3"}}},
		{"another scheme, path or query is another URL",
			[]endpoint{{"https://{{host}}/a", "1"}, {"http://x/a", "2"}, {"https://x/a/", "3"}, {"https://x/a?q", "4"}},
			"x",
			[]endpoint{{"https://x/a", "1"}, {"http://x/a", "2"}, {"https://x/a/", "3"}, {"https://x/a?q", "4"}}},
		{"another placeholder is another URL",
			[]endpoint{{"https://{{host}}/{{a}}", "1"}, {"https://x/{{b}}", "2"}},
			"x",
			[]endpoint{{"https://x/{{a}}", "1"}, {"https://x/{{b}}", "2"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var m signpost.Manifest
			for _, e := range test.endpoints {
				m.Endpoints = append(m.Endpoints, named(e.url, e.name))
			}
			var want strings.Builder
			for i, e := range test.want {
				if i > 0 {
					want.WriteString(",")
				}
				fmt.Fprintf(&want, `%q: {"name": %q, "method": "get", "mime_type": "application/json", "context_obj": []}`, e.url, e.name)
			}
			wantDocument(t, render(t, test.host, m), `{"endpoints": {`+want.String()+`}}`)
		})
	}
}

// The placeholder is only special in URLs.
func TestRenderLeavesHostInOtherTextAlone(t *testing.T) {
	e := feed("https://{{host}}/v1/feeds")
	e.Name = "Feeds of {{host}}"
	e.ContextObj = []signpost.ContextItem{{Key: "{{host}}", Type: "ctx", Mapper: "{{host}}2"}}
	e.Modifiers = []signpost.Modifier{signpost.Select(signpost.ModifierInput{
		ID: "{{host}}", Name: "{{host}}", Key: "{{host}}", Label: "{{host}}", DefaultValue: "{{host}}", Placeholder: "{{host}}",
		Options: []signpost.Option{{Value: "{{host}}", Label: "{{host}}"}},
	})}
	want := func(more string) string {
		return `{
			"endpoints": {
				"https://api.example.com/v1/feeds": {
					"name": "Feeds of {{host}}", "method": "get", "mime_type": "application/json",
					"context_obj": [{"key": "{{host}}", "type": "ctx", "required": false, "mapper": "{{host}}2"}],
					"modifiers": [{"id": "{{host}}", "name": "{{host}}", "params": [{
						"key": "{{host}}",
						"ui": {"label": "{{host}}", "placeholder": "{{host}}", "options": [{"value": "{{host}}", "label": "{{host}}"}]},
						"schema": {"type": "string", "default": "{{host}}", "enum": ["{{host}}"]}
					}]}]
				}` + more + `
			}
		}`
	}
	wantDocument(t, render(t, "api.example.com", signpost.NewManifest(e)), want(""))

	// The same for a host that makes two other URLs collide, which is the other code path of Render.
	m := signpost.NewManifest(e, feed("https://{{host}}/b"), feed("https://api.example.com/b"))
	wantDocument(t, render(t, "api.example.com", m), want(`, "https://api.example.com/b": {
		"name": "Feed", "method": "get", "mime_type": "application/json", "context_obj": []
	}`))
}

// A host that looks like part of a placeholder does not form one with the text around it.
func TestRenderIsOnePass(t *testing.T) {
	m := signpost.NewManifest(feed("https://{{host}}.{{host}}/{{host_}}/{{a}}"), feed("https://host/host"))
	if got, want := urls(t, render(t, "host", m)), "https://host.host/{{host_}}/{{a}}"; got[0] != want {
		t.Errorf("got %q, want %q", got[0], want)
	}
	for _, host := range []string{"{{host}}", "a.{{host}}", "{{host", "host}}", "{", "}"} {
		if doc, err := compile(t, m).Render(host); err == nil {
			t.Errorf("Render(%q) gave %s, want it refused", host, doc)
		}
	}
}

func named(url, name string) signpost.Endpoint {
	e := feed(url)
	e.Name = name
	return e
}

// wantNoDuplicateKeys fails if any object in the document has a duplicate key.
func wantNoDuplicateKeys(t testing.TB, doc []byte) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc))
	var value func()
	next := func() json.Token {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("not JSON: %v\n%s", err, doc)
		}
		return token
	}
	value = func() {
		switch next() {
		case json.Delim('{'):
			seen := make(map[json.Token]bool)
			for dec.More() {
				key := next()
				if seen[key] {
					t.Errorf("key %q is duplicated: %s", key, doc)
				}
				seen[key] = true
				value()
			}
			next() // the closing brace
		case json.Delim('['):
			for dec.More() {
				value()
			}
			next()
		}
	}
	value()
}
