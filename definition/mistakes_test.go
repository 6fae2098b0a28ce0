package definition

import (
	"fmt"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestMistakes makes one mistake at a time in a definition. Nearly each gives exactly one finding: consequences are not
// reported.
func TestMistakes(t *testing.T) {
	var out strings.Builder
	for _, v := range testkit.Variants(t, "testdata/mistakes.txtar") {
		fmt.Fprintf(&out, "%s\n", v.Name)
		for _, f := range Lint(Parse("f.yaml", []byte(v.Text))) {
			fmt.Fprintf(&out, "    %d:%d %s\n        hint: %s\n", f.Line, f.Column, f.Message, f.Hint)
			if f.Fix != nil {
				fmt.Fprintf(&out, "        fix: %s\n", f.Fix.Message)
			}
		}
		fixedLines(t, "f.yaml", v.Text)
	}
	testkit.Golden(t, "testdata/mistakes.golden", out.String())
}
