package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost/definition"
	"signpost/diff"
	"signpost/docs"
	"signpost/internal/source"
	"signpost/internal/testkit"
)

// TestGoldenDiff runs diff on the archives of testdata/diff. Each is named after a rule that occurs in it, and holds
// two definitions or manifests called old and new, or directories, and the expected output in each format.
func TestGoldenDiff(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, path := range corpus(t, "diff") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive := testkit.Must(txtar.ParseFile(path))(t)
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return filepath.Ext(f.Name) == "" })
			dir := t.TempDir()
			testkit.OK(t, txtar.Write(archive, dir))
			old, new := testkit.Must(filepath.Glob(dir + "/old*"))(t)[0], testkit.Must(filepath.Glob(dir + "/new*"))(t)[0]
			files := filepath.Ext(old) != ""
			var changes []diff.Change
			for _, format := range []string{"text", "json", "markdown"} {
				out, errOut, code := runCLI("diff", old, new, "--format", format)
				archive.Files = append(archive.Files, txtar.File{Name: format, Data: []byte(strings.ReplaceAll(out, dir+"/", ""))})
				if format == "json" {
					testkit.OK(t, json.Unmarshal([]byte(out), &changes))
					if files {
						compareWithLibrary(t, old, new, out)
					}
				}
				breaking := strings.Contains(out, string(diff.Breaking))
				if wantCode := map[bool]int{true: exitFindings, false: exitFine}[breaking]; code != wantCode && format == "text" {
					t.Errorf("exited with %d, want %d:\n%s%s", code, wantCode, out, errOut)
				}
			}
			testkit.Golden(t, path, txtar.Format(archive))
			rule := strings.TrimSuffix(filepath.Base(path), ".txtar")
			for !slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Rule == rule }) {
				i := strings.LastIndex(rule, "-")
				if i < 0 {
					t.Fatalf("no change of the rule that the file is named after: %+v", changes)
				}
				rule = rule[:i]
			}
			seen[rule] = true
			if out, _, code := runCLI("diff", new, new, "--fail-on", "compatible", "--format", "json"); out != "[]\n" || code != exitFine {
				t.Errorf("a definition and itself: %d, %s", code, out)
			}
		})
	}
	for _, rule := range diff.Rules() {
		if !seen[rule.Name] {
			t.Errorf("testdata/diff has no file for %s", rule.Name)
		}
	}
}

// compareWithLibrary compares what the command prints with what the library returns, so that the promises tested there
// are those of the command.
func compareWithLibrary(t *testing.T, old, new, printed string) {
	t.Helper()
	parse := func(name string) *definition.File {
		return source.Document{Name: name, Text: []byte(testkit.Read(t, name))}.Parse()
	}
	changes := testkit.Must(definition.Diff(parse(old), parse(new)))(t)
	var want bytes.Buffer
	printJSON(&want, changes)
	testkit.Equal(t, "the command differs from the library", printed, want.String())
}

// TestDiffPage keeps the table of rules in docs/diff.md in sync with the program.
func TestDiffPage(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| rule | level | what it means for studios that registered OLD |\n|---|---|---|\n")
	for _, r := range diff.Rules() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.Name, r.Level, r.Meaning)
	}
	if !strings.Contains(docs.Diff, table.String()+"\n") {
		t.Errorf("docs/diff.md does not have the table of rules:\n%s", table.String())
	}
}

func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		escape     func(string) string
		text, want string
	}{
		{markdownText, "a|b `c` <d> *e* @f #1 \\", "a\\|b \\`c\\` \\<d\\> \\*e\\* @&#8203;f #&#8203;1 \\\\"},
		{markdownText, "a\x1b[31m\u202eb", "a\\\\u001b\\[31m\\\\u202eb"},
		{markdownCode, "a\x1b[31m\u202eb", "`a\\u001b[31m\\u202eb`"},
		{markdownCode, "a|`b``c", "```a\\|`b``c```"},
	} {
		testkit.Equal(t, test.text, test.escape(test.text), test.want)
	}
}
