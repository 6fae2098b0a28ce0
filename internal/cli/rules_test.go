package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestSARIF checks what the SARIF 2.1.0 schema requires, and the references between its parts.
func TestSARIF(t *testing.T) {
	t.Parallel()
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
		if rule.HelpURI != docsURL+"/rules.md#"+rule.ID {
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
