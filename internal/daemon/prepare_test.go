package daemon

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

// TestJudgeSurvivesBug judges files, which panics: the server goes on, and the log has the cause.
func TestJudgeSurvivesBug(t *testing.T) {
	var log bytes.Buffer
	d := Daemon{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	d.judgeTogether([]*workspace.File{nil})
	if !strings.Contains(log.String(), "definitions cannot be judged together: this is a bug in Signpost") {
		t.Errorf("log: %s", &log)
	}
}

// TestCompileSurvivesBug compiles a definition, which panics: that is its finding, and others can be published.
func TestCompileSurvivesBug(t *testing.T) {
	file := definition.Parse("a.yaml", []byte("versions: {v1: {endpoints: {}}}"))
	d := Daemon{} // without a handler to try it on
	made := d.compile(&workspace.File{Document: source.Document{Name: "a.yaml"}, Definition: file})
	if made.service != nil || len(made.findings) != 1 || made.findings[0].Rule != "defect" || made.findings[0].File != "a.yaml" {
		t.Errorf("%+v", made)
	}
}

// TestFirstFindings checks that errors come first.
func TestFirstFindings(t *testing.T) {
	many := make([]signpost.Finding, 3*MaxFindings)
	for i := range many {
		many[i] = signpost.Finding{Line: i, Severity: signpost.SeverityWarning}
	}
	many[len(many)-1].Severity = signpost.SeverityError
	shown, more := FirstFindings(many)
	if len(shown) != MaxFindings || more != 2*MaxFindings || shown[0].Severity != signpost.SeverityError || shown[1].Line != 0 {
		t.Errorf("%d findings are shown, %d are not: %v", len(shown), more, shown)
	}
	if shown, more := FirstFindings(many[:3]); len(shown) != 3 || more != 0 {
		t.Errorf("%d of three findings are shown", len(shown))
	}
}
