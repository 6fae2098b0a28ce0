package openapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"signpost/openapi"
)

// TestJSON imports the YAML documents of the corpus again as JSON. The definition is the same.
func TestJSON(t *testing.T) {
	file := regexp.MustCompile(`api\.(yaml|json)`)
	for _, c := range corpus {
		if filepath.Ext(c.input) != ".yaml" || strings.Contains(c.input, "/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("testdata", c.input))
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Load(text, &doc); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		writeJSON(&out, doc.Content[0])
		if !json.Valid([]byte(out.String())) {
			t.Fatalf("%s is not turned into JSON:\n%s", c.input, out.String())
		}
		fromYAML, err := openapi.Import("api.yaml", text, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		fromJSON, err := openapi.Import("api.json", []byte(out.String()), c.opts)
		if err != nil {
			t.Fatal(err)
		}
		want, got := file.ReplaceAllString(string(fromYAML.Definition), "api"), file.ReplaceAllString(string(fromJSON.Definition), "api")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s as JSON gives another definition than %s (-YAML +JSON):\n%s", c.input, c.golden, diff)
		}
	}
}

// writeJSON writes a YAML node as JSON, keeping the order of keys, one value per line.
func writeJSON(out *strings.Builder, n *yaml.Node) {
	quote := func(s string) {
		text, _ := json.Marshal(s)
		out.Write(text)
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.ShortTag() {
	case "!!map":
		out.WriteString("{")
		for i, field := range fieldsOf(n) {
			if i > 0 {
				out.WriteString(",\n")
			}
			quote(field[0].Value)
			out.WriteString(": ")
			writeJSON(out, field[1])
		}
		out.WriteString("}")
	case "!!seq":
		out.WriteString("[")
		for i, item := range n.Content {
			if i > 0 {
				out.WriteString(",\n")
			}
			writeJSON(out, item)
		}
		out.WriteString("]")
	case "!!int", "!!float", "!!bool":
		if json.Valid([]byte(n.Value)) {
			out.WriteString(n.Value)
		} else {
			quote(n.Value)
		}
	case "!!null":
		out.WriteString("null")
	default:
		quote(n.Value)
	}
}

// fieldsOf returns the fields of a mapping, its own first, then merged ones.
func fieldsOf(n *yaml.Node) [][2]*yaml.Node {
	var own, merged [][2]*yaml.Node
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.ShortTag() != "!!merge" {
			own = append(own, [2]*yaml.Node{key, n.Content[i+1]})
			seen[key.Value] = true
		} else {
			merged = append(merged, fieldsOf(n.Content[i+1].Alias)...)
		}
	}
	for _, field := range merged {
		if !seen[field[0].Value] {
			own = append(own, field)
		}
	}
	return own
}
