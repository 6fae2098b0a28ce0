package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"signpost/definition"
	"signpost/diff"
	"signpost/docs"
	"signpost/internal/testkit"
)

// TestGoldenDiff runs diff on the archives of testdata/diff. Each is named after a rule that occurs in it, and holds
// old.yaml and new.yaml, or the directories old and new, and the expected output in each format.
func TestGoldenDiff(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, path := range corpus(t, "diff") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			old, new := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
			want := make(map[string]string)
			inputs := 0
			for _, f := range archive.Files {
				if filepath.Ext(f.Name) != ".yaml" {
					want[f.Name] = string(f.Data)
					continue
				}
				inputs++
				if strings.Contains(f.Name, "/") {
					old, new = filepath.Join(dir, "old"), filepath.Join(dir, "new")
				}
				file := filepath.Join(dir, f.Name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, f.Data, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			archive.Files = archive.Files[:inputs]
			var changes []diff.Change
			for _, format := range []string{"text", "json", "markdown"} {
				out, errOut, code := runCLI("", "diff", old, new, "--format", format)
				archive.Files = append(archive.Files, txtar.File{Name: format, Data: []byte(out)})
				if diff := cmp.Diff(want[format], out); diff != "" && !testkit.Update() {
					t.Errorf("%s changed (-want +got); if that is intended, run go test -update:\n%s", format, diff)
				}
				if format == "json" {
					if err := json.Unmarshal([]byte(out), &changes); err != nil {
						t.Fatalf("%v in %s%s", err, out, errOut)
					}
					if filepath.Ext(old) != "" {
						compareWithLibrary(t, old, new, out)
					}
				}
				breaking := strings.Contains(out, string(diff.Breaking))
				if wantCode := map[bool]int{true: exitFindings, false: exitFine}[breaking]; code != wantCode && format == "text" {
					t.Errorf("exited with %d, want %d:\n%s%s", code, wantCode, out, errOut)
				}
			}
			if testkit.Update() {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			rule := strings.TrimSuffix(filepath.Base(path), ".txtar")
			for !slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Rule == rule }) {
				i := strings.LastIndex(rule, "-")
				if i < 0 {
					t.Fatalf("no change of the rule that the file is named after: %+v", changes)
				}
				rule = rule[:i]
			}
			seen[rule] = true
			if out, _, code := runCLI("", "diff", new, new, "--fail-on", "compatible", "--format", "json"); out != "[]\n" || code != exitFine {
				t.Errorf("a definition and itself: %d, %s", code, out)
			}
		})
	}
	for rule := range diff.Rules() {
		if !seen[rule] {
			t.Errorf("testdata/diff has no file for %s", rule)
		}
	}
}

// compareWithLibrary compares what the command prints with what the library returns, so that the promises tested there
// are those of the command.
func compareWithLibrary(t *testing.T, old, new, printed string) {
	t.Helper()
	changes, err := definition.Diff(definition.Parse(old, []byte(readFile(t, old))), definition.Parse(new, []byte(readFile(t, new))))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	printJSON(&want, changes)
	if diff := cmp.Diff(want.String(), printed); diff != "" {
		t.Errorf("the command differs from the library (-library +command):\n%s", diff)
	}
}

// TestDiffPage keeps the table of rules in docs/diff.md in sync with the program.
func TestDiffPage(t *testing.T) {
	t.Parallel()
	have := make(map[string]diff.Level)
	for _, row := range diffRow.FindAllStringSubmatch(docs.Diff, -1) {
		have[row[1]] = diff.Level(row[2])
	}
	if diff := cmp.Diff(diff.Rules(), have); diff != "" {
		t.Errorf("rules in docs/diff.md (-want +page):\n%s", diff)
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
		if got := test.escape(test.text); got != test.want {
			t.Errorf("%q becomes %s, want %s", test.text, got, test.want)
		}
	}
}
