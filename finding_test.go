package signpost_test

import (
	"encoding/json"
	"testing"

	"signpost"
)

func TestFindingString(t *testing.T) {
	f := signpost.Finding{
		Rule: signpost.RuleMethod, Severity: signpost.SeverityWarning, Message: `method "put"`,
		Path: signpost.Path{signpost.Field("https://{{host}}/a"), signpost.Field("modifiers"), signpost.Item(0), signpost.Item(12), signpost.Field("id")},
	}
	if got, want := f.String(), `https://{{host}}/a.modifiers[0][12].id: warning: method "put" [method]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.File, f.Line, f.Column = "feeds.yaml", 1, 17
	if got, want := f.String(), `feeds.yaml:1:17: warning: method "put" [method]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFindingJSON(t *testing.T) {
	got, err := json.Marshal(signpost.Finding{
		Rule: "method", Severity: signpost.SeverityError, Message: "m", File: "feeds.yaml", Line: 14, Column: 17, Hint: "h",
		Path: signpost.Path{signpost.Field("a")}, Width: 5, Replacement: "get",
		Fix: &signpost.Fix{Message: "write get", Edits: []signpost.Edit{{Line: 14, Column: 17, EndLine: 14, EndColumn: 20, Text: "get"}}},
	})
	const want = `{"rule":"method","severity":"error","message":"m","file":"feeds.yaml","line":14,"column":17,"hint":"h",` +
		`"fix":{"message":"write get","edits":[{"line":14,"column":17,"end_line":14,"end_column":20,"text":"get"}]}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
