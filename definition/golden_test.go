package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost"
	"signpost/internal/testkit"
)

// corpus returns the inputs in directories under testdata, with their paths.
func corpus(t testing.TB, dirs ...string) iter.Seq2[string, []byte] {
	t.Helper()
	return func(yield func(string, []byte) bool) {
		for _, dir := range dirs {
			all, _ := filepath.Glob(filepath.Join("..", "testdata", dir, "*"))
			all = slices.DeleteFunc(all, func(path string) bool { return filepath.Ext(path) == ".golden" })
			if len(all) == 0 {
				t.Fatalf("testdata/%s holds no input", dir)
			}
			for _, path := range all {
				text := testkit.Must(os.ReadFile(path))(t)
				if !yield(path, text) {
					return
				}
			}
		}
	}
}

// described renders findings with their fixes.
func described(file *File, findings []signpost.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		out.WriteString(Renderer{}.Render(file, f))
		if f.Fix != nil {
			fmt.Fprintf(&out, "  = fix: %s\n", f.Fix.Message)
			for _, e := range f.Fix.Edits {
				fmt.Fprintf(&out, "      %d:%d-%d:%d %q\n", e.Line, e.Column, e.EndLine, e.EndColumn, e.Text)
			}
		}
	}
	return out.String()
}

func TestGoldenOK(t *testing.T) {
	for input, text := range corpus(t, "ok") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			file := Parse(filepath.Base(input), text)
			if findings := Lint(file); len(findings) > 0 {
				t.Fatalf("findings:\n%s", described(file, findings))
			}
			templates := testkit.Must(file.Compile(nil))(t)
			var all bytes.Buffer
			for _, version := range file.Versions() {
				for _, host := range []string{"feeds.example.org", "api.example.com"} {
					out := testkit.Must(templates[version].Render(host))(t)
					fmt.Fprintf(&all, "# %s for %s\n", version, host)
					testkit.OK(t, json.Indent(&all, out, "", "  "))
				}
			}
			testkit.Golden(t, input+".golden", all.String())
		})
	}
}

// TestGoldenFindings lints inputs. Each must have a finding of the rule that it is named after, and none that is more
// severe than its directory says. A file with an error does not compile.
func TestGoldenFindings(t *testing.T) {
	for input, text := range corpus(t, "err", "warn") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			file := Parse(filepath.Base(input), text)
			findings := Lint(file)
			testkit.Equal(t, "ForLint", Lint(file.ForLint()), findings)
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
	for input, text := range corpus(t, "together") {
		t.Run(filepath.Base(input), func(t *testing.T) {
			var files, registered []*File
			for _, f := range txtar.Parse(text).Files {
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
