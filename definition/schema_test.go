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

	"signpost/internal/tree"
)

// beyondSchema lists the rules that a schema cannot check: they compare values, or concern the text.
var beyondSchema = []string{
	"syntax", "too-large", "duplicate-key.json", "duplicate-key.yaml", "version-mismatch", "context-duplicate", "modifier-id-duplicate",
	"modifier-key-duplicate", "enum-mismatch", "unknown-modifier", "unknown-feature", "unknown-context-key",
}

func TestSchemaAgainstCorpus(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("signpost.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("signpost.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"ok", "warn", "err"} {
		paths, err := filepath.Glob(filepath.Join("..", "testdata", folder, "*"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("nothing in testdata/%s: %v", folder, err)
		}
		for _, path := range paths {
			name := filepath.Base(path)
			beyond := slices.ContainsFunc(beyondSchema, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
			if ext := filepath.Ext(path); ext == ".golden" || ext == ".md" || folder == "err" && beyond {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			err = schema.Validate(jsonValue(tree.Parse(text, tree.Options{JSON: filepath.Ext(path) == ".json"}).Root))
			if folder != "err" && err != nil {
				t.Errorf("lint takes %s, and the schema does not: %v", path, err)
			}
			if folder == "err" && err == nil {
				t.Errorf("lint refuses %s, and the schema does not", path)
			}
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

// The schema and the decoder have the same fields.
func TestSchemaNamesTheFieldsOfTheFormat(t *testing.T) {
	page, err := os.ReadFile("../docs/definition.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range allowable() {
		if !bytes.Contains(Schema(), []byte(`"`+rule+`"`)) {
			t.Errorf("the schema does not offer %s under allow", rule)
		}
	}
	for _, field := range []string{"service", "base_path", "enable", "context_keys", "deprecated", "since", "until", "use", "reason", "features", "modifiers", "versions", "allow", "endpoints", "name",
		"method", "mime_type", "context_obj", "key", "type", "required", "mapper", "url_suffix", "kind", "id", "label",
		"defaultValue", "placeholder", "options", "params", "ui", "schema", "default", "enum"} {
		if !bytes.Contains(Schema(), []byte(`"`+field+`": {`)) {
			t.Errorf("the schema has no %s", field)
		}
		if !bytes.Contains(page, []byte("`"+field+"`")) {
			t.Errorf("docs/definition.md has no %s", field)
		}
	}
}
