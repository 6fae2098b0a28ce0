package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestSARIF checks what the SARIF 2.1.0 schema requires, and the references between its parts.
func TestSARIF(t *testing.T) {
	t.Parallel()
	out, _, code := runCLI("lint", "--format", "sarif", filepath.Join(repo, "testdata", "warn"), filepath.Join(repo, "testdata", "err", "url.yaml"))
	testkit.Equal(t, "exit code", code, exitFindings)
	type text struct{ Text string }
	var log struct {
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct {
					Rules []struct {
						ID, HelpURI            string
						ShortDescription, Help text
					}
				}
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Message       text
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil || log.Version != "2.1.0" || log.Runs[0].ColumnKind != "unicodeCodePoints" || len(log.Runs[0].Results) < 20 {
		t.Fatalf("%v in %s", err, out)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	for _, rule := range rules {
		if rule.ShortDescription.Text == "" || rule.Help.Text == "" || rule.HelpURI != docsURL+"/rules.md#"+rule.ID {
			t.Errorf("an incomplete rule: %+v", rule)
		}
	}
	for _, r := range log.Runs[0].Results {
		place := r.Locations[0].PhysicalLocation
		region := place.Region
		if rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || r.Level != "error" && r.Level != "warning" ||
			place.ArtifactLocation.URI == "" || region.StartLine < 1 || region.StartColumn < 1 || region.EndColumn <= region.StartColumn {
			t.Errorf("an incomplete result: %+v", r)
		}
	}
	if out, _, code := runCLI("lint", "--format", "sarif", filepath.Join(repo, "testdata", "ok", "order.yaml")); code != exitFine || !strings.Contains(out, `"results": []`) {
		t.Errorf("a clean file gives exit status %d and\n%s", code, out)
	}
}
