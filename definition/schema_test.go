package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"signpost/internal/fields"
	"signpost/internal/testkit"
	"signpost/internal/tree"
)

// beyondSchema lists the rules that a schema cannot check: they compare values, or concern the text.
var beyondSchema = []string{
	"syntax", "too-large", "duplicate-key.json", "duplicate-key.yaml", "version-mismatch", "context-duplicate", "modifier-id-duplicate",
	"modifier-key-duplicate", "enum-mismatch", "unknown-modifier", "unknown-feature", "unknown-context-key",
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

// TestFieldsAreDocumented: every field of the table is explained there, for editors, and in docs/definition.md, and the schema
// has it.
func TestFieldsAreDocumented(t *testing.T) {
	page := testkit.Must(os.ReadFile("../docs/definition.md"))(t)
	for _, rule := range allowable() {
		if !bytes.Contains(Schema(), []byte(`"`+rule+`"`)) {
			t.Errorf("the schema does not offer %s under allow", rule)
		}
	}
	var visit func(*fields.Value)
	visit = func(v *fields.Value) {
		for _, f := range v.Fields {
			if f.Doc == "" || !bytes.Contains(page, []byte("`"+f.Name+"`")) || !bytes.Contains(Schema(), []byte(`"`+f.Name+`": {`)) {
				t.Errorf("the table, docs/definition.md or the schema does not explain %s", f.Name)
			}
			visit(f.Value)
		}
		for _, inner := range []*fields.Value{v.Each, v.Short} {
			if inner != nil {
				visit(inner)
			}
		}
	}
	visit(fields.Definition)
}
