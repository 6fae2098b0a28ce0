package signpost_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

func TestUnmarshal(t *testing.T) {
	got := parse(t, `{
		"title": "a field that nobody knows is passed over",
		"endpoints": {
			"https:\/\/{{host}}\/z": {
				"name": "Z", "method": "get", "mime_type": "application/json",
				"context_obj": [{"key": "a", "type": "ctx", "required": true, "mapper": "b"}, {"key": "c", "type": "bodyParam", "mapper": null}],
				"modifiers": [{"id": "m", "name": "M", "params": [{
					"key": "m",
					"ui": {"label": "M", "placeholder": "p", "options": [{"value": "x", "label": "X"}]},
					"schema": {"type": "string", "default": "x", "enum": ["x"]}
				}]}]
			},
			"https://{{host}}/a": {"modifiers": [
				{"params": [{"schema": {"type": "number", "default": 20.0}}]},
				{"params": [{"schema": {"type": "boolean", "default": false}}]},
				{"params": [{"schema": {"type": "string", "default": null}}]}
			]},
			"https://{{host}}/n": null
		}
	}`)
	want := signpost.Manifest{Endpoints: []signpost.Endpoint{
		{
			URL: "https://{{host}}/z", Name: "Z", Method: "get", MIMEType: "application/json",
			ContextObj: []signpost.ContextItem{{Key: "a", Type: "ctx", Required: true, Mapper: "b"}, {Key: "c", Type: "bodyParam"}},
			Modifiers: []signpost.Modifier{{ID: "m", Name: "M", Params: []signpost.Param{{
				Key:    "m",
				UI:     signpost.UI{Label: "M", Placeholder: "p", Options: []signpost.Option{{Value: "x", Label: "X"}}},
				Schema: signpost.Schema{Type: "string", Default: "x", Enum: []string{"x"}},
			}}}},
		},
		{
			URL: "https://{{host}}/a",
			Modifiers: []signpost.Modifier{
				{Params: []signpost.Param{{Schema: signpost.Schema{Type: "number", Default: json.Number("20.0")}}}},
				{Params: []signpost.Param{{Schema: signpost.Schema{Type: "boolean", Default: false}}}},
				{Params: []signpost.Param{{Schema: signpost.Schema{Type: "string"}}}},
			},
		},
		{URL: "https://{{host}}/n"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestUnmarshalErrors(t *testing.T) {
	const noEndpoints = `manifest has no "endpoints" object`
	tests := []struct{ doc, want string }{ // an empty want leaves the wording to encoding/json
		{`{}`, noEndpoints},
		{`null`, noEndpoints},
		{`{"endpoints": null}`, noEndpoints},
		{`{"endpoints": []}`, noEndpoints},
		{`{"endpoints": "none"}`, noEndpoints},
		{`{"endpoints": {"https://a": {}, "https://a": {}}}`, `endpoint "https://a" is in the manifest twice`},
		{`{"endpoints": {"https://a": {}, "https:\/\/\u0061": {}}}`, `endpoint "https://a" is in the manifest twice`},
		{`{"endpoints": {"https://a": {"name": 1}}}`,
			`endpoint "https://a": json: cannot unmarshal number into Go struct field Endpoint.name of type string`},
		{`{"endpoints": {"https://a": []}}`, `endpoint "https://a": json: cannot unmarshal array into Go value of type signpost.Endpoint`},
		{`[]`, ""},
		{``, ""},
		{`{"endpoints": {}`, ""},
		{`{"endpoints": {}} {}`, ""},
		{`{"endpoints": {"https://a": {}, }}`, ""},
	}
	for _, test := range tests {
		kept := signpost.NewManifest(feed("https://{{host}}/kept"))
		got := kept
		err := json.Unmarshal([]byte(test.doc), &got)
		if err == nil || test.want != "" && err.Error() != test.want {
			t.Errorf("%s:\n got error %v\nwant       %s", test.doc, err, test.want)
		}
		if diff := cmp.Diff(kept, got); diff != "" {
			t.Errorf("%s changed the manifest all the same (-want +got):\n%s", test.doc, diff)
		}
	}
}

// Unmarshal replaces the previous contents entirely.
func TestUnmarshalReplaces(t *testing.T) {
	m := signpost.NewManifest(fullEndpoint("https://{{host}}/a"), fullEndpoint("https://{{host}}/b"))
	if err := json.Unmarshal([]byte(`{"endpoints": {"https://{{host}}/b": {"name": "B"}}}`), &m); err != nil {
		t.Fatal(err)
	}
	want := signpost.Manifest{Endpoints: []signpost.Endpoint{{URL: "https://{{host}}/b", Name: "B"}}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}
