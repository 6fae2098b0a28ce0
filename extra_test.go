package signpost_test

import (
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

func TestExtra(t *testing.T) {
	x := signpost.Extra(`"b":1E+3,"a":[1]`)
	var got []string
	for name, value := range x.All() {
		got = append(got, name+"="+string(value))
	}
	testkit.Equal(t, "all of them", got, []string{"b=1E+3", "a=[1]"})
	for name := range x.All() {
		testkit.Equal(t, "the first", name, "b")
		break
	}
}

// What is beyond the specification is served untouched, after the fields of the specification.
func TestExtraIsServed(t *testing.T) {
	e := testkit.FullEndpoint("https://{{host}}/v1/feeds")
	e.Method, e.ContextObj[0].Type = "+GET", "+header"
	e.Extra = `"see":"https://{{host}}/<&>","n":1E+3`
	m := signpost.NewManifest(e)
	m.Extra = `"title":"{{host}}"`
	want := `{"endpoints":{"https://a.example/v1/feeds":{"name":"Feed","method":"GET","mime_type":"application/json",` +
		`"context_obj":[{"key":"profile","type":"header","required":true,"mapper":"user","x":1}],"modifiers":[{"id":"sort","name":"Sort order",` +
		`"params":[{"key":"sort","ui":{"label":"Sort by","placeholder":"choose","options":[{"value":"newest","label":"Newest","icon":"n"}],"help":"&"},` +
		`"schema":{"type":"string","default":"newest","enum":["newest"],"minimum":1.0},"hidden":false}],"group":null}],` +
		`"see":"https://{{host}}/<&>","n":1E+3}},"title":"{{host}}"}` + "\n"
	feature := signpost.Feature{Name: "kids", URLSuffix: "/kids", ContextObj: []signpost.ContextItem{{Key: "k", Type: "+header"}}}
	template := compile(t, m, feature)
	testkit.Equal(t, "Render", string(rendered(t, template, "a.example")), want)
	resolved := testkit.Must(m.ForHost("a.example"))(t)
	testkit.Equal(t, "ForHost", string(testkit.Must(resolved.MarshalJSON())(t))+"\n", want)
	for name, e := range map[string]signpost.Endpoint{"Template.Manifest": template.Manifest().Endpoints[0], "ForHost": resolved.Endpoints[0]} {
		testkit.Equal(t, name, []string{e.Method, e.ContextObj[0].Type}, []string{"GET", "header"})
	}
	testkit.Equal(t, "Template.Manifest", template.Manifest().Extra, m.Extra)
	testkit.Equal(t, "a manifest that was read", parse(t, want), resolved)
}

// No document has a key twice, or text that is not JSON.
func TestExtraThatCannotBeWritten(t *testing.T) {
	for x, want := range map[signpost.Extra]string{
		`"label":1,"name":1,"endpoints":1,"value":1,"key":1,"type":1,"id":1`: "is one of the specification",
		`"x":1,"x":2`: `"x" is there twice`, `"x":`: "are not JSON", `}`: "are not JSON", "\"x\":\"\xff\"": "are not JSON",
	} {
		for place, set := range map[string]func(*signpost.Manifest){
			"":            func(m *signpost.Manifest) { m.Extra = x },
			"duplicate":   func(m *signpost.Manifest) { m.Endpoints[0].Extra = x },
			"context_obj": func(m *signpost.Manifest) { m.Endpoints[0].ContextObj[0].Extra = x },
			"modifiers":   func(m *signpost.Manifest) { m.Endpoints[0].Modifiers[0].Extra = x },
			"params[0]":   func(m *signpost.Manifest) { m.Endpoints[0].Modifiers[0].Params[0].Extra = x },
			"ui":          func(m *signpost.Manifest) { m.Endpoints[0].Modifiers[0].Params[0].UI.Extra = x },
			"options[0]":  func(m *signpost.Manifest) { m.Endpoints[0].Modifiers[0].Params[0].UI.Options[0].Extra = x },
			"schema":      func(m *signpost.Manifest) { m.Endpoints[0].Modifiers[0].Params[0].Schema.Extra = x },
		} {
			m := signpost.NewManifest(testkit.FullEndpoint("https://{{host}}/a"))
			set(&m)
			findings := described(t, m.Validate())
			_, err := m.MarshalJSON()
			if !strings.Contains(findings, place) || !strings.Contains(findings, want) || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q in %q: %s, %v", x, place, findings, err)
			}
		}
	}
}
