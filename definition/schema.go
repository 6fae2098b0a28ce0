package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// Schema returns the JSON Schema (2020-12) of the definition file, for editors. It accepts everything that Lint
// accepts, and rejects what a schema can detect.
func Schema() []byte {
	const about = "The endpoints that a data-source service publishes to a configuration studio."
	text := `{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Signpost definition", ` + schemaOf(fields.Definition, about)[1:]
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		panic(err) // a mistake in the table of fields, which every test of the schema meets
	}
	return append(out.Bytes(), '\n')
}

// schemaOf returns the JSON Schema of a value of the table. more has keywords to add.
func schemaOf(v *fields.Value, doc string, more ...string) string {
	if v.Short != nil {
		full := *v
		full.Short, full.OrName = nil, 0
		last := v.Fields[len(v.Fields)-1].Name
		either := fmt.Sprintf(`"if": {"required": [%s]}, "then": %s, "else": %s`, tree.Quote(last), schemaOf(&full, ""), schemaOf(v.Short, ""))
		if v.OrName != 0 {
			return fmt.Sprintf(`{"if": {"type": "string"}, "else": {%s}}`, either)
		}
		return "{" + either + "}"
	}
	var words []string
	add := func(word, value string) { words = append(words, tree.Quote(word)+": "+value) }
	if doc != "" {
		add("description", tree.Quote(doc))
	}
	kind := map[fields.Type]string{
		fields.Bool: `"boolean"`, fields.Scalar: `["string", "number", "boolean"]`, fields.Object: `"object"`, fields.List: `"array"`,
	}[v.Type]
	switch {
	case v.Values != nil:
		add("enum", tree.Quote(v.Values))
	case v.OrNull:
		add("type", `["string", "null"]`)
	case v.OrList:
		add("type", `["string", "array"]`)
		add("items", `{"type": "string", "minLength": 1}`)
		add("minItems", "1")
	case kind == "":
		add("type", `"string"`)
	default:
		add("type", kind)
	}
	if len(v.Examples) > 0 {
		add("examples", tree.Quote(v.Examples))
	}
	switch {
	case v.Type == fields.List:
		add("items", schemaOf(v.Each, ""))
	case v.Type == fields.Object:
		words = append(words, objectSchema(v)...)
	case v.Names == fields.Features:
		add("anyOf", fmt.Sprintf(`[{"enum": %s}, {"type": "string"}]`, tree.Quote(namesOf(signpost.BuiltIn()))))
	}
	if v.Schema != "" {
		words = append(words, v.Schema)
	}
	return "{" + strings.Join(append(words, more...), ", ") + "}"
}

// objectSchema returns the keywords for the fields or the free keys of an object.
func objectSchema(v *fields.Value) []string {
	var properties, required []string
	for _, f := range v.Fields {
		properties = append(properties, tree.Quote(f.Name)+": "+schemaOf(f.Value, f.Doc))
		if f.Required {
			required = append(required, f.Name)
		}
	}
	other := "false"
	switch {
	case v.Keys != nil:
		return []string{fmt.Sprintf(`"patternProperties": {%s: %s, "^x-": true}, "additionalProperties": false`, tree.Quote(v.Keys.String()), schemaOf(v.Each, ""))}
	case v.Names == fields.Features: // only a new feature needs context keys
		other = schemaOf(v.Each, "", `"required": ["context_obj"]`)
		for _, name := range namesOf(signpost.BuiltIn()) {
			properties = append(properties, tree.Quote(name)+": "+schemaOf(v.Each, ""))
		}
	case v.Each != nil:
		other = schemaOf(v.Each, "")
		if v.Names == fields.Warnings {
			for _, rule := range allowable() {
				properties = append(properties, tree.Quote(rule)+": "+other)
			}
		}
	}
	words := []string{fmt.Sprintf(`"properties": {%s}, "additionalProperties": %s`, strings.Join(properties, ", "), other)}
	if v.Each == nil {
		words = append(words, `"patternProperties": {"^x-": true}`)
	}
	if required != nil {
		words = append(words, `"required": `+tree.Quote(required))
	}
	return words
}
