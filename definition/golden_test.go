package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost"
	"signpost/internal/testkit"
)

// corpus returns the inputs in a directory under testdata.
func corpus(t testing.TB, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "testdata", dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, path := range all {
		if filepath.Ext(path) != ".golden" {
			inputs = append(inputs, path)
		}
	}
	if len(inputs) == 0 {
		t.Fatalf("testdata/%s holds no input", dir)
	}
	return inputs
}

// parseFile parses an input of the corpus under its base name.
func parseFile(t testing.TB, path string) *File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(filepath.Base(path), text)
}

// described formats findings with their line, position, hint and fix.
func described(file *File, findings []signpost.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		fmt.Fprintln(&out, f)
		number := fmt.Sprint(f.Line)
		gutter := strings.Repeat(" ", len(number))
		if line := []rune(file.Line(f.Line)); len(line) > 0 {
			fmt.Fprintf(&out, "%s |\n%s | %s\n", gutter, number, strings.ToValidUTF8(string(line), "\ufffd"))
			fmt.Fprintf(&out, "%s | %s^%s\n", gutter, strings.Repeat(" ", f.Column-1), strings.Repeat("~", f.Width-1))
		}
		if f.Hint != "" {
			fmt.Fprintf(&out, "%s = hint: %s\n", gutter, f.Hint)
		}
		if f.Fix != nil {
			fmt.Fprintf(&out, "%s = fix: %s\n", gutter, f.Fix.Message)
			for _, e := range f.Fix.Edits {
				fmt.Fprintf(&out, "%s     %d:%d-%d:%d %q\n", gutter, e.Line, e.Column, e.EndLine, e.EndColumn, e.Text)
			}
		}
	}
	return out.String()
}

func TestGoldenOK(t *testing.T) {
	for _, input := range corpus(t, "ok") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			file := parseFile(t, input)
			if findings := Lint(file); len(findings) > 0 {
				t.Fatalf("findings:\n%s", described(file, findings))
			}
			templates, err := file.Compile(nil)
			if err != nil {
				t.Fatal(err)
			}
			var all bytes.Buffer
			for _, version := range file.Versions() {
				for _, host := range []string{"feeds.example.org", "api.example.com"} {
					out, err := templates[version].Render(host)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&all, "# %s for %s\n", version, host)
					if err := json.Indent(&all, out, "", "  "); err != nil {
						t.Fatal(err)
					}
				}
			}
			testkit.Golden(t, input+".golden", all.String())
		})
	}
}

// TestGoldenFindings lints inputs. Each must have a finding of the rule that it is named after, and none that is more
// severe than its directory says. A file with an error does not compile.
func TestGoldenFindings(t *testing.T) {
	for _, input := range slices.Concat(corpus(t, "err"), corpus(t, "warn")) {
		t.Run(filepath.Base(input), func(t *testing.T) {
			file := parseFile(t, input)
			findings := Lint(file)
			out := described(file, findings)
			rule, _, _ := strings.Cut(filepath.Base(input), ".")
			for !strings.Contains(out, "["+rule+"]") { // duplicate-key-2.yaml is about duplicate-key
				i := strings.LastIndex(rule, "-")
				if i < 0 {
					t.Fatalf("no finding of the rule that the file is named after:\n%s", out)
				}
				rule = rule[:i]
			}
			testkit.Golden(t, input+".golden", out)
			wrong := strings.Contains(input, "err")
			if templates, err := file.Compile(nil); (err != nil) != wrong || (templates == nil) != wrong || slices.ContainsFunc(findings, isError) != wrong {
				t.Errorf("compiled to %v, %v", templates, err)
			}
		})
	}
}

// TestGoldenTogether lints the files of an archive together. Those whose names begin with registered- are passed as
// registered.
func TestGoldenTogether(t *testing.T) {
	for _, input := range corpus(t, "together") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			archive, err := txtar.ParseFile(input)
			if err != nil {
				t.Fatal(err)
			}
			var files, registered []*File
			for _, f := range archive.Files {
				parse := Parse
				if filepath.Ext(f.Name) == ".json" {
					parse = ParseManifest
				}
				if strings.HasPrefix(f.Name, "registered-") {
					registered = append(registered, parse(f.Name, f.Data))
				} else {
					files = append(files, parse(f.Name, f.Data))
				}
			}
			findings := LintTogether(files, registered)
			var out string
			for _, file := range files {
				out += described(file, slices.DeleteFunc(slices.Clone(findings), func(f signpost.Finding) bool { return f.File != file.Name }))
			}
			testkit.Golden(t, input+".golden", out)
		})
	}
}
