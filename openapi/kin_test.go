package openapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/testkit"
	"signpost/openapi"
)

// TestAgainstKin compares how Import and kin-openapi resolve references, across files and in cycles. kin-openapi's
// loader accepts tidy documents only.
func TestAgainstKin(t *testing.T) {
	const path = "testdata/files/api.yaml"
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	doc := testkit.Must(loader.LoadFromFile(path))(t)
	want := make(map[string]string)
	for path, item := range doc.Paths.Map() {
		for _, p := range slices.Concat(item.Parameters, item.Get.Parameters) { // later ones replace earlier ones
			if p.Value.In == "query" {
				s := p.Value.Schema.Value
				want[path+" "+p.Value.Name] = fmt.Sprint(kindOf(s), " ", s.Default)
			}
		}
	}

	got := make(map[string]string)
	for _, e := range endpoints(t, importFile(t, path, openapi.Options{})) {
		path := strings.TrimPrefix(e.URL, "https://{{host}}/v3")
		path = strings.NewReplacer("{{", "{", "}}", "}").Replace(path)
		for _, m := range e.Modifiers {
			p := m.Params[0]
			kind := p.Schema.Type
			if len(p.Schema.Enum) > 0 {
				kind = fmt.Sprint(p.Schema.Enum)
			}
			got[path+" "+m.ID] = fmt.Sprint(kind, " ", p.Schema.Default)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
		t.Errorf("kin-openapi sees other parameters (-kin +import):\n%s", diff)
	}
}

func kindOf(s *openapi3.Schema) string {
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprint(slices.DeleteFunc(s.Enum, func(v any) bool { return v == nil }))
	case s.Type.Includes("integer") || s.Type.Includes("number"):
		return signpost.TypeNumber
	case s.Type.Includes("boolean"):
		return signpost.TypeBoolean
	}
	return signpost.TypeString
}
