package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"signpost/definition"
	"signpost/diff"
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

// TestDiffPage keeps the table of rules in docs/diff.md in sync with the program.
func TestDiffPage(t *testing.T) {
	t.Parallel()
	text := readFile(t, filepath.Join(repo, "docs", "diff.md"))
	have := make(map[string]diff.Level)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (breaking|notable|compatible) \\|").FindAllStringSubmatch(text, -1) {
		have[row[1]] = diff.Level(row[2])
	}
	if diff := cmp.Diff(diff.Rules(), have); diff != "" {
		t.Errorf("rules in docs/diff.md (-want +page):\n%s", diff)
	}
}

// TestRevisionWithoutGit checks that the error says what is missing.
func TestRevisionWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, errOut, code := runCLI("", "match", "HEAD:feeds.yaml", "https://a.example/")
	if code != exitFailure || !strings.HasSuffix(errOut, ": git is not installed\n") {
		t.Errorf("exited with %d: %s", code, errOut)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	if got, want := markdownText("a|b `c` <d>\n*e* @f #1 \\"), "a\\|b \\`c\\` \\<d\\> \\*e\\* @&#8203;f #&#8203;1 \\\\"; got != want {
		t.Errorf("text: got %s, want %s", got, want)
	}
	if got, want := markdownText("a\x1b[31m\u202eb\u0085"), "a \\[31m\ufffdb\ufffd"; got != want {
		t.Errorf("controls: got %q, want %q", got, want)
	}
	if got, want := markdownCode("a\x1b[31m\u202eb\n"), "`a\\u001b[31m\\u202eb `"; got != want {
		t.Errorf("controls in code: got %q, want %q", got, want)
	}
	if got, want := markdownCode("a|`b``c"), "```a\\|`b``c```"; got != want {
		t.Errorf("code: got %s, want %s", got, want)
	}
}

// randomService returns a definition with whatever diff looks at: base paths, versions, overlapping endpoints, context
// keys, modifiers, features and deprecations.
func randomService(choices []int) string {
	at := 0
	choose := func(n int) int {
		at++
		return choices[at-1] % n
	}
	pick := func(options ...string) string { return options[choose(len(options))] }
	var out strings.Builder
	out.WriteString(pick("", "", "base_path: /sport\n", "base_path: /news\n") + pick("", "enable: [authentication]\n", "enable: [geo-restriction]\n"))
	out.WriteString("versions:\n")
	for _, v := range []string{"v1", "v2"}[:1+choose(2)] {
		fmt.Fprintf(&out, "  %s:\n    endpoints:\n", v)
		for i, path := range []string{"/feeds", "/feeds/media", "/feeds/{{id}}", "/{{kind}}/media", "/shows"} {
			if choose(3) == 0 && i > 0 {
				continue
			}
			fmt.Fprintf(&out, "      %s/%s%s:\n        name: %s\n        method: %s\n        mime_type: %s\n", pick("https://{{host}}", "https://{{host}}", "https://feeds.example.com"),
				v, path, pick("A", "B"), pick("get", "get", "get", "post"), pick("application/json", "application/json", "Application/JSON", "text/html"))
			fmt.Fprintf(&out, "        context_obj: [%s]\n", pick("", "", "{key: a, type: ctx}", "{key: a, type: ctx, required: true}", "{key: b, type: ctx, mapper: c}"))
			fmt.Fprintf(&out, "        modifiers: [%s]\n", pick("", "{kind: text, id: q, name: Q, key: q, label: Q}", "{kind: number, id: q, name: Q, key: n, label: Q, defaultValue: 1}",
				"{kind: select, id: s, name: S, key: s, label: S, options: [{value: x, label: X}]}", "{kind: select, id: s, name: S, key: s, label: S, options: [{value: x, label: X}, {value: y, label: Y}]}"))
			out.WriteString(pick("", "", "", "        deprecated: {since: 2020-01-01}\n", "        deprecated: {since: 2020-01-01, until: 2020-06-01}\n"))
		}
	}
	return out.String()
}

// TestDiffIsTheLibrary compares what the command prints with what the library returns, so that the promises tested
// there are those of the command.
func TestDiffIsTheLibrary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(1))
	dir := t.TempDir()
	const pairs = 20
	breaking := 0
	for i := range pairs {
		choices := [2][]int{r.Perm(100), nil}
		choices[1] = slices.Clone(choices[0])
		choices[1][r.Intn(40)]++ // one thing differs
		var texts [2]string
		var paths [2]string
		var files [2]*definition.File
		for j, name := range []string{"old.yaml", "new.yaml"} {
			texts[j], paths[j] = randomService(choices[j]), filepath.Join(dir, name)
			writeFile(t, paths[j], texts[j])
			files[j] = definition.Parse(paths[j], []byte(texts[j]))
			if errs := definition.Errors(files[j]); len(errs) > 0 {
				t.Fatalf("%v\n%s", errs, texts[j])
			}
		}
		changes, err := definition.Diff(files[0], files[1])
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(changes)
		if err != nil {
			t.Fatal(err)
		}
		out, errOut, code := runCLI("", "diff", paths[0], paths[1], "--format", "json")
		var got, library any
		if err := errors.Join(json.Unmarshal([]byte(out), &got), json.Unmarshal(want, &library)); err != nil {
			t.Fatalf("%v\n%s%s", err, out, errOut)
		}
		if diff := cmp.Diff(library, got); diff != "" {
			t.Fatalf("pair %d (-library +command):\n%s\nold:\n%s\nnew:\n%s", i, diff, texts[0], texts[1])
		}
		broken := slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Level == diff.Breaking })
		if broken {
			breaking++
		}
		if code != map[bool]int{true: exitFindings, false: exitFine}[broken] {
			t.Errorf("pair %d exits with %d", i, code)
		}
	}
	if breaking == 0 || breaking == pairs {
		t.Errorf("%d of %d pairs break something", breaking, pairs)
	}
}
