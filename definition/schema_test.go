package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/testkit"
	"signpost/internal/tree"
)

// beyondSchema lists the rules that a schema cannot check: they compare values, or concern the text.
var beyondSchema = []string{
	"syntax", "too-large", "duplicate-key.json", "duplicate-key.yaml", "version-mismatch", "context-duplicate", "modifier-id-duplicate",
	"modifier-key-duplicate", "enum-mismatch", "unknown-modifier", "unknown-feature", "unknown-context-key",
	"resolved-url-collision", "url-host-does-not-fit",
}

func TestSchemaAgainstCorpus(t *testing.T) {
	document := testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(Schema())))(t)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	testkit.OK(t, compiler.AddResource("signpost.schema.json", document))
	schema := testkit.Must(compiler.Compile("signpost.schema.json"))(t)
	for path, text := range corpus(t, "ok", "warn", "err") {
		name, wrong := filepath.Base(path), strings.Contains(path, "err")
		beyond := slices.ContainsFunc(beyondSchema, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		if filepath.Ext(path) == ".md" || wrong && beyond {
			continue
		}
		err := schema.Validate(jsonValue(tree.Parse(text, filepath.Ext(path) == ".json").Root))
		if (err != nil) != wrong {
			t.Errorf("lint and the schema disagree about %s: %v", path, err)
		}
	}
}

// jsonValue converts a node to the form that package jsonschema expects.
func jsonValue(n *tree.Node) any {
	switch n.Kind {
	case tree.Object:
		value := make(map[string]any)
		for _, f := range n.Fields {
			value[f.Key.Text] = jsonValue(f.Value)
		}
		return value
	case tree.List:
		value := []any{}
		for _, item := range n.Items {
			value = append(value, jsonValue(item))
		}
		return value
	case tree.Number:
		return json.Number(n.Text)
	case tree.Bool:
		return n.Text == "true"
	case tree.String:
		return n.Text
	}
	return nil
}

// TestSchemaAgainstTable: the schema has the fields of the table, with the same types, values and explanations, and nothing
// else.
func TestSchemaAgainstTable(t *testing.T) {
	root := testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(Schema())))(t).(map[string]any)
	compared := make(map[string]bool) // definitions are recursive only by name
	var compare func(path string, v *fields.Value, s map[string]any)
	object := func(path string, v *fields.Value, s map[string]any) {
		properties, _ := s["properties"].(map[string]any)
		patterns, _ := s["patternProperties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, f := range v.Fields {
			property, ok := properties[f.Name].(map[string]any)
			if !ok || property["description"] != f.Doc || slices.Contains(required, any(f.Name)) != f.Required {
				t.Errorf("%s: field %s is %v, and the required ones are %v", path, f.Name, property, required)
				continue
			}
			if barred := properties["+"+f.Name] == false; barred != (v.Plus && !f.Local) {
				t.Errorf("%s: the field +%s: barred is %v", path, f.Name, barred)
			}
			compare(path+"/"+f.Name, f.Value, property)
		}
		for name := range properties {
			if v.Names == 0 && v.Field(strings.TrimPrefix(name, "+")) == nil {
				t.Errorf("%s: the table has no field %s", path, name)
			}
		}
		if open := patterns[`^\+.`] == true; open != v.Plus {
			t.Errorf("%s: fields with a plus: %v", path, open)
		}
		each := s["additionalProperties"]
		if v.Keys != nil {
			each = patterns[v.Keys.String()]
		}
		if inner, ok := each.(map[string]any); ok != (v.Each != nil) {
			t.Errorf("%s: the other fields are %v", path, each)
		} else if ok {
			compare(path+"/*", v.Each, inner)
		}
	}
	compare = func(path string, v *fields.Value, s map[string]any) {
		if name, ok := s["$ref"].(string); ok {
			s = root["$defs"].(map[string]any)[strings.TrimPrefix(name, "#/$defs/")].(map[string]any)
			if compared[name] && v.Type == fields.Object {
				return
			}
			compared[name] = true
		}
		if otherwise, ok := s["else"].(map[string]any); ok && v.OrName != 0 { // a name, or an object
			named := *v
			named.OrName = 0
			compare(path, &named, otherwise)
			return
		}
		if v.Short != nil {
			full := *v
			full.Short = nil
			compare(path, &full, s["then"].(map[string]any))
			compare(path, v.Short, s["else"].(map[string]any))
			return
		}
		if v.OrObject != nil {
			text, either := *v, s["anyOf"].([]any)
			text.OrObject = nil
			compare(path, &text, either[0].(map[string]any))
			compare(path, v.OrObject, either[1].(map[string]any))
			return
		}
		kind := map[fields.Type]any{
			fields.Text: "string", fields.Date: "string", fields.Bool: "boolean", fields.Object: "object", fields.List: "array",
			fields.Scalar: []any{"string", "number", "boolean"},
		}[v.Type]
		values, _ := s["enum"].([]any)
		switch either, _ := s["anyOf"].([]any); {
		case v.OrNull:
			kind = []any{"string", "null"}
		case v.OrList:
			kind = []any{"string", "array"}
		case either != nil: // a known value, or one beyond the specification
			values, _ = either[0].(map[string]any)["enum"].([]any)
		case v.Values != nil:
			kind = nil // enum says it
		}
		var known []any
		for _, name := range v.Values {
			known = append(known, name)
		}
		if !cmp.Equal(s["type"], kind) || v.Names == 0 && !cmp.Equal(values, known) {
			t.Errorf("%s: type %v, want %v; values %v, want %v", path, s["type"], kind, values, known)
		}
		switch v.Type {
		case fields.Object:
			object(path, v, s)
		case fields.List:
			compare(path+"/-", v.Each, s["items"].(map[string]any))
		}
	}
	compare("", fields.Definition, root)
	for _, rule := range allowable() {
		if !bytes.Contains(Schema(), []byte(`"`+rule+`"`)) {
			t.Errorf("the schema does not offer %s under allow", rule)
		}
	}
	for _, feature := range signpost.BuiltIn() {
		if !bytes.Contains(Schema(), []byte(`"`+feature.Name+`"`)) {
			t.Errorf("the schema does not offer the feature %s", feature.Name)
		}
	}
}

// TestFieldsAreDocumented: every field of the table is explained there, for editors, and in docs/definition.md.
func TestFieldsAreDocumented(t *testing.T) {
	page := testkit.Must(os.ReadFile("../docs/definition.md"))(t)
	var visit func(*fields.Value)
	visit = func(v *fields.Value) {
		for _, f := range v.Fields {
			if f.Doc == "" || !bytes.Contains(page, []byte("`"+f.Name+"`")) {
				t.Errorf("the table or docs/definition.md does not explain %s", f.Name)
			}
			visit(f.Value)
		}
		for _, inner := range []*fields.Value{v.Each, v.Short, v.OrObject} {
			if inner != nil {
				visit(inner)
			}
		}
	}
	visit(fields.Definition)
}
