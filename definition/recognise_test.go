package definition

import (
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestRecognise shows which files of a directory are definitions, and what is said about a named file that is none: one
// finding, and no fix.
func TestRecognise(t *testing.T) {
	testkit.Cases(t, "testdata/recognise.golden", func(input string) string {
		name, text, _ := strings.Cut(input, " ")
		out := ""
		if IsDefinition(name, []byte(text)) {
			out = "a definition\n"
		}
		fixed := Options{}.Fix(name, []byte(text))
		findings := Lint(fixed.File)
		for _, f := range findings {
			if f.Rule == RuleNotADefinition {
				out += f.Message + "\n"
				if len(findings) > 1 || string(fixed.Text) != text {
					t.Errorf("%s: %v, %q", name, findings, fixed.Text)
				}
			}
		}
		return out
	})
}

// TestRecogniseData shows that data in JSON beside definitions is not parsed into a tree, which is 20 times as large.
func TestRecogniseData(t *testing.T) {
	data := []byte(`{"versions_of": [` + strings.Repeat("1,", 10_000) + `1], "mime_type": "text/csv"}`)
	allocations := testing.AllocsPerRun(1, func() {
		if IsDefinition("data.json", data) {
			t.Error("data is a definition")
		}
	})
	if allocations > 1000 {
		t.Errorf("%.0f allocations", allocations)
	}
}
