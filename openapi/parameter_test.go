package openapi_test

import (
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/openapi"
)

// TestParameter imports one query parameter, given by its fields or, if it is named p, by its schema. It shows the modifier,
// without what follows from the name, and the notes.
func TestParameter(t *testing.T) {
	testkit.Cases(t, "testdata/parameters.golden", func(parameter string) string {
		if strings.HasPrefix(parameter, "{") {
			parameter = "name: p, schema: " + parameter
		}
		result := importText(t, `
openapi: 3.1.0
paths: {/a: {get: {parameters: [{in: query, `+parameter+`}], responses: {'200': {content: {application/json: {}}}}}}}
components:
  schemas:
    Size: {type: integer, default: 20, example: 5}
    Loop: {allOf: [{$ref: '#/components/schemas/Loop'}]}
    Filter: {anyOf: [{type: string}, {type: array, items: {$ref: '#/components/schemas/Filter'}}]}
    Twice: {anyOf: [{$ref: '#/components/schemas/Twice'}, {$ref: '#/components/schemas/Twice'}]}
`, openapi.Options{})
		if all := endpoints(t, result); len(all) != 1 {
			t.Errorf("%s gives %d endpoints", parameter, len(all))
		}
		_, modifier, found := strings.Cut(string(result.Definition), "        modifiers:\n          - ")
		if !found {
			return notes(result)
		}
		modifier = strings.ReplaceAll(modifier, ", id: p, name: P, key: p, label: P", "")
		return strings.NewReplacer("[\n              ", "[", ",\n              ", ", ", "\n", "").Replace(modifier) + "\n" + notes(result)
	})
}
