package definition

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost"
	"signpost/internal/testkit"
)

// TestRulesPage makes docs/rules.md from the table of rules and, for each rule, its file in testdata/rules: a text, an
// example that gives exactly one finding, and one that gives none.
func TestRulesPage(t *testing.T) {
	type section struct{ Name, Text, Fails, Passes string }
	page := make(map[string][]section)
	for _, rule := range Rules() {
		archive, err := txtar.ParseFile(filepath.Join("..", "testdata", "rules", rule.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		text, files := make(map[string]string), make(map[string][]*File)
		for _, f := range archive.Files { // fails.yaml, or fails/one.yaml and fails/another.yaml
			kind, _, _ := strings.Cut(strings.ReplaceAll(f.Name, "/", "."), ".")
			text[kind] += string(f.Data)
			files[kind] = append(files[kind], Parse(filepath.Base(f.Name), f.Data))
		}
		if findings := Lint(files["fails"]...); len(findings) != 1 || findings[0].Rule != rule.Name || findings[0].Severity != rule.Severity {
			t.Errorf("%s: the failing example gives %v", rule.Name, findings)
		}
		if findings := Lint(files["passes"]...); len(findings) > 0 {
			t.Errorf("%s: the passing example gives %v", rule.Name, findings)
		}
		page[string(rule.Severity)] = append(page[string(rule.Severity)], section{rule.Name, string(archive.Comment), text["fails"], text["passes"]})
	}
	var out strings.Builder
	if err := template.Must(template.ParseFiles(filepath.Join("..", "testdata", "rules", "page.tmpl"))).Execute(&out, page); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, filepath.Join("..", "docs", "rules.md"), out.String())
}

// TestEveryRule compares the table with the constants of the packages that have rules, and with the corpus, which has a
// file for every rule and no finding that the table does not have.
func TestEveryRule(t *testing.T) {
	declared := make(map[string]bool)
	for _, dir := range []string{"..", "../match", "."} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`\bRule\w+ += "([a-z-]+)"`).FindAllSubmatch(source, -1) {
				declared[string(m[1])] = true
			}
		}
	}
	known := make(map[string]signpost.Severity)
	for _, rule := range Rules() {
		known[rule.Name] = rule.Severity
		alone, _ := filepath.Glob(filepath.Join("..", "testdata", "[ew]*", rule.Name+".*"))
		together, _ := filepath.Glob(filepath.Join("..", "testdata", "together", rule.Name+".*"))
		if len(alone)+len(together) == 0 {
			t.Errorf("testdata/err and testdata/warn have no file for %s", rule.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if known[name] == "" {
			t.Errorf("the table has no rule %s", name)
		}
	}
	for _, input := range slices.Concat(corpus(t, "err"), corpus(t, "warn")) {
		text, _ := os.ReadFile(input)
		for _, f := range Lint(Parse(filepath.Base(input), text)) {
			if known[f.Rule] != f.Severity {
				t.Errorf("%s: %s is not of severity %s in the table", filepath.Base(input), f.Rule, f.Severity)
			}
		}
	}
}
