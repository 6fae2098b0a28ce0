package tree

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestScalar parses what Scalar writes, as a value and as an item of a flow list.
func TestScalar(t *testing.T) {
	texts := []string{
		"", " ", "a", "a b", " a", "a ", "a  b", "Page size", "true", "No", "y", "null", "~", "12", "1.50", "-1", ".5", "0x10", "1e3", ".inf",
		"2024-05-01", "a: b", "a:b", "a #b", "#a", "- a", "-a", "? a", "a, b", "[a]", "{a}", "a]", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">",
		"'", `"`, `\`, `a"b\c`, "a\nb", "a\tb", "\x00", "\x1b", "\u0085", "\u00a0", "\u2028", "\ufeff", "\U0010ffff", "é", "📺", "<<", "=", "---", "...",
	}
	for r := range rune(0x100) {
		texts = append(texts, string(r), "a"+string(r), "a "+string(r)+" b", string(r)+"a")
	}
	for _, want := range texts {
		var got struct {
			Value any
			Flow  []any
		}
		doc := "value: " + Scalar(want) + "\nflow: [" + Scalar(want) + ", x]\n"
		if err := yaml.Load([]byte(doc), &got); err != nil {
			t.Errorf("%q is written as %s, which is not YAML: %v", want, Scalar(want), err)
			continue
		}
		if got.Value != want || len(got.Flow) != 2 || got.Flow[0] != want {
			t.Errorf("%q is written as %s and read as %q and %q", want, Scalar(want), got.Value, got.Flow)
		}
	}
}
