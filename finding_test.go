package signpost_test

import (
	"encoding/json"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

func TestFindingString(t *testing.T) {
	f := signpost.Finding{
		Rule: signpost.RuleMethod, Severity: signpost.SeverityWarning, Message: `method "put"`,
		Path: signpost.Path{signpost.Field("https://{{host}}/a"), signpost.Field("modifiers"), signpost.Item(0), signpost.Item(12), signpost.Field("id")},
	}
	testkit.Equal(t, "finding", f.String(), `https://{{host}}/a.modifiers[0][12].id: warning: method "put" [method]`)
	f.File, f.Line, f.Column = "feeds.yaml", 1, 17
	testkit.Equal(t, "finding in a file", f.String(), `feeds.yaml:1:17: warning: method "put" [method]`)
}

func TestFindingJSON(t *testing.T) {
	got := testkit.Must(json.Marshal(signpost.Finding{
		Rule: "method", Severity: signpost.SeverityError, Message: "m", File: "feeds.yaml", Line: 14, Column: 17, Hint: "h",
		Path: signpost.Path{signpost.Field("a")}, Width: 5, Replacement: "get",
		Fix: &signpost.Fix{Message: "write get", Edits: []signpost.Edit{{Line: 14, Column: 17, EndLine: 14, EndColumn: 20, Text: "get"}}},
	}))(t)
	const want = `{"rule":"method","severity":"error","message":"m","file":"feeds.yaml","line":14,"column":17,"hint":"h",` +
		`"fix":{"message":"write get","edits":[{"line":14,"column":17,"end_line":14,"end_column":20,"text":"get"}]}}`
	testkit.Equal(t, "finding", string(got), want)
}
