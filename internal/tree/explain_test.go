package tree

import (
	"fmt"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// problems lists the problems of a document.
func problems(doc *Document) string {
	kinds := [...]string{Syntax: "syntax", TooLarge: "too large", DuplicateKey: "duplicate key", BadKey: "bad key", BadValue: "bad value"}
	var out strings.Builder
	for _, p := range doc.Problems {
		line, column := doc.Position(p.At.Start())
		fmt.Fprintf(&out, "%d:%d %q: %s: %s (%s)\n", line, column, doc.Text[p.At.Start():p.At.End()], kinds[p.Kind], p.Message, p.Hint)
		if p.Value != nil {
			fmt.Fprintf(&out, "the value is %v %q\n", p.Value.Kind, p.Value.Text)
		}
	}
	return out.String()
}

func TestExplainJSON(t *testing.T) {
	testkit.Cases(t, "testdata/json.golden", func(text string) string {
		input := []byte(text)
		out := problems(Parse(input, true))
		if string(input) != text {
			t.Errorf("%q is now %q", text, input)
		}
		return out
	})
}
