package definition

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"signpost/internal/testkit"
)

// TestRulesPage makes docs/rules.md from the table of rules and, for each rule, its file in testdata/rules: a text, an
// example that gives exactly one finding, and one that gives none.
func TestRulesPage(t *testing.T) {
	type section struct{ Name, Text, Fails, Passes string }
	page := make(map[string][]section)
	for _, rule := range Rules() {
		archive := testkit.Must(txtar.ParseFile(filepath.Join("..", "testdata", "rules", rule.Name+".txtar")))(t)
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
	testkit.OK(t, template.Must(template.ParseFiles(filepath.Join("..", "testdata", "rules", "page.tmpl"))).Execute(&out, page))
	testkit.Golden(t, filepath.Join("..", "docs", "rules.md"), out.String())
}

// TestEveryRule compares the table with the constants of the packages that have rules.
func TestEveryRule(t *testing.T) {
	var known []string
	for _, rule := range Rules() {
		known = append(known, rule.Name)
	}
	for _, dir := range []string{"..", "../match", "."} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, file := range files {
			source := testkit.Must(os.ReadFile(file))(t)
			for _, m := range regexp.MustCompile(`\bRule\w+ += "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("the table has no rule %s", m[1])
				}
			}
		}
	}
}
