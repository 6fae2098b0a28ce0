package signpost_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
)

// Unknown fields are skipped, null is absent, and numbers keep their notation. The previous contents are replaced.
func TestUnmarshal(t *testing.T) {
	got := signpost.NewManifest(fullEndpoint("https://{{host}}/b"), fullEndpoint("https://{{host}}/a"))
	if err := json.Unmarshal([]byte(`{"title": "unknown", "endpoints": {
		"https:\/\/{{host}}\/z": {"name": "Z", "context_obj": [{"key": "a", "required": true, "mapper": "b"}, {"key": "c", "mapper": null}]},
		"https://{{host}}/a": {"modifiers": [{"params": [{"schema": {"type": "number", "default": 20.0}}, {"schema": {"type": "string", "default": null}}]}]},
		"https://{{host}}/n": null}}`), &got); err != nil {
		t.Fatal(err)
	}
	want := signpost.Manifest{Endpoints: []signpost.Endpoint{
		{URL: "https://{{host}}/z", Name: "Z", ContextObj: []signpost.ContextItem{{Key: "a", Required: true, Mapper: "b"}, {Key: "c"}}},
		{URL: "https://{{host}}/a", Modifiers: []signpost.Modifier{{Params: []signpost.Param{
			{Schema: signpost.Schema{Type: "number", Default: json.Number("20.0")}}, {Schema: signpost.Schema{Type: "string"}},
		}}}},
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
