package definition

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// beyondSchema are the rules that a schema cannot check: they compare values, or are about the text.
var beyondSchema = []string{
	"syntax", "duplicate-key.json", "duplicate-key.yaml", "version-mismatch", "context-duplicate", "modifier-id-duplicate",
	"modifier-key-duplicate", "enum-mismatch", "unknown-modifier", "unknown-feature",
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
			if filepath.Ext(path) == ".golden" || folder == "err" && beyond {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if filepath.Ext(path) == ".json" {
				value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
			} else {
				err = yaml.Load(text, &value)
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			err = schema.Validate(value)
			if folder != "err" && err != nil {
				t.Errorf("lint takes %s, and the schema does not: %v", path, err)
			}
			if folder == "err" && err == nil {
				t.Errorf("lint refuses %s, and the schema does not", path)
			}
		}
	}
}

// The fields of the schema are those that the decoder reads, and the other way round.
func TestSchemaNamesTheFieldsOfTheFormat(t *testing.T) {
	page, err := os.ReadFile("../docs/definition.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range warnings() {
		if !bytes.Contains(Schema(), []byte(`"`+rule+`"`)) {
			t.Errorf("the schema does not offer %s under allow", rule)
		}
	}
	for _, field := range []string{"service", "base_path", "enable", "features", "modifiers", "versions", "allow", "endpoints", "name",
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
