package definition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
)

// Readable returns a file with errors as it reads.
func TestReadable(t *testing.T) {
	const text = `
enable: [login]
features:
  login: {context_obj: [{key: user.token, type: ctx}]}
  region: {context_obj: [{key: user.region, type: ctx}]}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: GET, mime_type: application/json}
      https://{{host}}/v2/films: {name: Films of v2, method: get, mime_type: application/json}
      https://partner.example/v2/films: {name: Not of this service, method: get, mime_type: application/json}
  v2:
    endpoints:
      https://{{host}}/v2/films: {name: Films, method: get, mime_type: application/json}
`
	file := definition.Parse("feeds.yaml", []byte(text))
	if len(definition.Errors(file)) != 2 {
		t.Fatalf("errors: %v", definition.Errors(file))
	}
	for keys, features := range map[string][]string{" user.token": nil, "": {}, " user.region": {"region", "unknown"}, " user.token user.region": {"region", "login"}} {
		want := []string{"v1 https://{{host}}/v1/feeds GET" + keys, "v1 https://{{host}}/v2/films get" + keys, "v1 https://partner.example/v2/films get" + keys, "v2 https://{{host}}/v2/films get" + keys}
		var got []string
		for _, v := range file.Readable(features) {
			for _, e := range v.Manifest.Endpoints {
				line := v.Name + " " + e.URL + " " + e.Method
				for _, item := range e.ContextObj {
					line += " " + item.Key
				}
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", features, diff)
		}
	}
}

// A value of another type in a manifest of others is kept, to be shown and compared.
func TestForeignTypes(t *testing.T) {
	f := definition.ParseManifest("m.json", []byte(`{"endpoints": {"https://a.example/a": {
		"name": {"en": "A"}, "method": 3, "context_obj": {"key": "k", "type": "ctx"},
		"modifiers": ["x", {"params": {"key": "p", "schema": ["string"]}}, {"params": [{"schema": {"default": ["a"]}}]}]
	}}}`))
	e := f.Readable(nil)[0].Manifest.Endpoints[0]
	testkit.Equal(t, "name", e.Name, `{"en":"A"}`)
	testkit.Equal(t, "method", e.Method, "3")
	testkit.Equal(t, "context item", e.ContextObj[0], signpost.ContextItem{Key: "k", Type: "ctx"})
	testkit.Equal(t, "modifier", e.Modifiers[0].Extra, signpost.Extra(`"value":"x"`))
	testkit.Equal(t, "param", e.Modifiers[1].Params[0].Key, "p")
	testkit.Equal(t, "schema", e.Modifiers[1].Params[0].Schema.Extra, signpost.Extra(`"value":["string"]`))
	testkit.Equal(t, "default", e.Modifiers[2].Params[0].Schema.Default, any(`["a"]`))
}
