package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestFindingsArePrintable passes every control character, and those that change the direction of text, through the
// formats that people read.
func TestFindingsArePrintable(t *testing.T) {
	var hostile strings.Builder
	for r := rune(1); r < 0xa0; r++ {
		if unicode.IsControl(r) && r != '\n' && r != '\r' {
			hostile.WriteRune(r)
		}
	}
	hostile.WriteString("\u2028\u2029\u202a\u202e\u2066\u2069\ufeff")
	path := filepath.Join(t.TempDir(), "f.yaml")
	for _, text := range []string{
		"# " + hostile.String() + "\nservice: X\n",
		"versions: {v1: {endpoints: {}}, \"x\\e\\x9b\u202e\": {}} # \u202e\u2066\n",
		"enable: [\"a\\e]0;x\\a\u202e\"]\nversions: {v1: {endpoints: {}}} #\u2066\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"lint"}, {"lint", "--format", "github"}, {"lint", "--fix"}, {"render"}} {
			out, errOut, _ := runCLI("", append(args, path)...)
			for _, r := range out + errOut {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%v prints %U for %q:\n%q", args, r, text, out+errOut)
					break
				}
			}
		}
	}
}
