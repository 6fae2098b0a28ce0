package lsp

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"signpost"
	"signpost/definition"
	"signpost/internal/testkit"
	"signpost/internal/tree"
)

// TestMistakes makes one mistake at a time in a definition, and shows what the author is told: nearly always one finding,
// because consequences are not reported. The editor tells the same as lint, fixes make nothing worse and nothing is left
// for a second run, and the schema accepts what lint accepts.
func TestMistakes(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	testkit.OK(t, compiler.AddResource("s.json", testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(definition.Schema())))(t)))
	schema := testkit.Must(compiler.Compile("s.json"))(t)
	archives, _ := filepath.Glob("../../testdata/mistakes/*.txtar")
	if len(archives) == 0 {
		t.Fatal("there are no mistakes")
	}
	for _, archive := range archives {
		name := "feeds.yaml"
		if filepath.Base(archive) == "json.txtar" {
			name = "feeds.json"
		}
		t.Run(filepath.Base(archive), func(t *testing.T) {
			var out strings.Builder
			for _, v := range testkit.Variants(t, archive) {
				findings := definition.Lint(definition.Parse(name, []byte(v.Text)))
				fmt.Fprintln(&out, v.Name)
				for _, f := range findings {
					fmt.Fprintf(&out, "    %d:%d+%d %s [%s]\n        hint: %s\n", f.Line, f.Column, f.Width, f.Message, f.Rule, f.Hint)
					if f.Fix != nil {
						fmt.Fprintf(&out, "        fix: %s\n", f.Fix.Message)
					}
				}
				wantInEditor(t, v, name, findings)
				wantFixed(t, v, name, findings)
				if doc := tree.Parse([]byte(v.Text), strings.HasSuffix(name, ".json")); doc.Root != nil && countErrors(findings) == 0 {
					text, _ := doc.Root.JSON(1 << 20)
					if err := schema.Validate(testkit.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)); err != nil {
						t.Errorf("%s: lint accepts it, and the schema does not: %v", v.Name, err)
					}
				}
			}
			testkit.Golden(t, strings.TrimSuffix(archive, "txtar")+"golden", out.String())
		})
	}
}

// wantInEditor checks that an editor shows the findings.
func wantInEditor(t *testing.T, v testkit.Variant, name string, findings []signpost.Finding) {
	t.Helper()
	e := newEditor(t)
	path := filepath.Join(t.TempDir(), name)
	e.open(path, v.Text)
	var shown, want []string
	for _, d := range e.diagnostics(path, 1) {
		shown = append(shown, fmt.Sprint(d.Range.Start.Line+1, " ", d.Code))
	}
	for _, f := range findings {
		want = append(want, fmt.Sprint(f.Line, " ", f.Rule))
	}
	if !slices.Equal(shown, want) {
		t.Errorf("%s: the editor shows %q, lint %q", v.Name, shown, want)
	}
}

// wantFixed checks that fixes leave no more errors than before and that a second run changes nothing.
func wantFixed(t *testing.T, v testkit.Variant, name string, findings []signpost.Finding) {
	t.Helper()
	fixed := definition.Options{}.Fix(name, []byte(v.Text))
	if again := (definition.Options{}).Fix(name, fixed.Text); !bytes.Equal(again.Text, fixed.Text) {
		t.Errorf("%s: fixed again:\n%s", v.Name, again.Text)
	}
	if left := definition.Lint(fixed.File); countErrors(left) > countErrors(findings) {
		t.Errorf("%s: fixes leave %v", v.Name, left)
	}
}

func countErrors(findings []signpost.Finding) int {
	count := 0
	for _, f := range findings {
		if f.Severity == signpost.SeverityError {
			count++
		}
	}
	return count
}
