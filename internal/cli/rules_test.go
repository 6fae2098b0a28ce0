package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
)

// TestRulesPage runs the examples of docs/rules.md, and compares its sections with the list of rules.
func TestRulesPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repo, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	severity := map[string]signpost.Severity{}
	for _, rule := range definition.Rules() {
		severity[rule.Name] = rule.Severity
	}
	heading := ""
	examples := regexp.MustCompile("(?s)Fails:\n\n```(\\w+)\n(.*?)```\n\nPasses:\n\n```\\w+\n(.*?)```")
	for section := range strings.SplitSeq("\n"+string(text), "\n## ") {
		name, body, _ := strings.Cut(section, "\n")
		want, known := severity[name]
		if known {
			delete(severity, name)
			t.Run(name, func(t *testing.T) {
				found := examples.FindStringSubmatch(body)
				if found == nil {
					t.Fatal("no failing and passing example")
				}
				if heading != "Errors" && want == signpost.SeverityError || heading != "Warnings" && want == signpost.SeverityWarning {
					t.Errorf("a rule of severity %s is under %s", want, heading)
				}
				findings := lintJSON(t, found[1], found[2])
				if len(findings) != 1 || findings[0].Rule != name || findings[0].Severity != want {
					t.Errorf("the failing example gives %v", findings)
				}
				if findings := lintJSON(t, found[1], found[3]); len(findings) > 0 {
					t.Errorf("the passing example gives %v", findings)
				}
			})
		} else if examples.MatchString(body) {
			t.Errorf("the page has a rule %q that Signpost does not have", name)
		}
		if i := strings.LastIndex(section, "\n# "); i >= 0 {
			heading = strings.TrimSpace(section[i+len("\n# "):])
		}
	}
	for name := range severity {
		t.Errorf("the page has no section about %s", name)
	}
}

// firstLine matches the first line of each file of an example that has several.
var firstLine = regexp.MustCompile(`(?m)^base_path: .* # in (\w+\.yaml)$`)

// lintJSON lints a text and returns its findings as a program would get them.
func lintJSON(t *testing.T, extension, text string) []signpost.Finding {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"example." + extension: text}
	if starts := firstLine.FindAllStringSubmatchIndex(text, -1); len(starts) > 0 {
		files = make(map[string]string)
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			files[text[start[2]:start[3]]] = text[start[0]:end]
		}
	}
	args := []string{"lint", "--format", "json"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		args = append(args, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := runCLI("", args...)
	var findings []signpost.Finding
	if err := json.Unmarshal([]byte(out), &findings); err != nil {
		t.Fatal(err)
	}
	return findings
}

// TestSARIF checks what the SARIF 2.1.0 schema requires, and the references between its parts.
func TestSARIF(t *testing.T) {
	out, _, code := runCLI("", "lint", "--format", "sarif", filepath.Join(repo, "testdata", "warn"), filepath.Join(repo, "testdata", "err", "url.yaml"))
	if code != exitFindings {
		t.Errorf("exit code %d", code)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						HelpURI          string
						Help             struct{ Text, Markdown string }
						ShortDescription struct{ Text string }
					}
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "signpost" || log.Runs[0].ColumnKind != "unicodeCodePoints" {
		t.Fatalf("not a SARIF log of one run: %s", out)
	}
	run := log.Runs[0]
	if len(run.Results) < 20 {
		t.Errorf("only %d results", len(run.Results))
	}
	for _, rule := range run.Tool.Driver.Rules {
		if rule.ID == "" || rule.ShortDescription.Text == "" || rule.Help.Text == "" || rule.Help.Markdown == "" {
			t.Errorf("a rule without id, description or help: %+v", rule)
		}
		if u, err := url.Parse(rule.HelpURI); err != nil || !u.IsAbs() || u.Fragment != rule.ID {
			t.Errorf("rule %s has the help URI %q", rule.ID, rule.HelpURI)
		}
	}
	for _, r := range run.Results {
		if r.RuleIndex < 0 || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result %q does not refer to its rule", r.RuleID)
		}
		if r.Message.Text == "" || r.Level != "error" && r.Level != "warning" || len(r.Locations) != 1 {
			t.Errorf("an incomplete result: %+v", r)
			continue
		}
		place := r.Locations[0].PhysicalLocation
		if place.ArtifactLocation.URI == "" || place.Region.StartLine < 1 || place.Region.StartColumn < 1 || place.Region.EndColumn <= place.Region.StartColumn {
			t.Errorf("a result without a place: %+v", place)
		}
	}
	if out, _, code := runCLI("", "lint", "--format", "sarif", filepath.Join(repo, "testdata", "ok", "order.yaml")); code != exitFine || !strings.Contains(out, `"results": []`) {
		t.Errorf("a clean file gives exit status %d and\n%s", code, out)
	}
}

// TestSARIFHelpURI sets the URL of the docs as the release build does.
func TestSARIFHelpURI(t *testing.T) {
	unset := docsURL
	docsURL = "https://docs.example.com/signpost"
	t.Cleanup(func() { docsURL = unset })
	var log bytes.Buffer
	if err := printJSON(&log, newSARIF(nil)); err != nil {
		t.Fatal(err)
	}
	for _, rule := range definition.Rules() {
		if want := `"helpUri": "https://docs.example.com/signpost/rules.md#` + rule.Name + `"`; !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
