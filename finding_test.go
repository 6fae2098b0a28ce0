package signpost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"signpost"
)

func TestFindingString(t *testing.T) {
	f := signpost.Finding{
		Rule: signpost.RuleMethod, Severity: signpost.SeverityWarning, Message: `method "put"`,
		Path: signpost.Path{signpost.Field("https://{{host}}/a"), signpost.Field("method")},
	}
	if got, want := f.String(), `https://{{host}}/a.method: warning: method "put" [method]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	f.File, f.Line, f.Column = "feeds.yaml", 14, 17
	if got, want := f.String(), `feeds.yaml:14:17: warning: method "put" [method]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFindingJSON(t *testing.T) {
	got, err := json.Marshal(signpost.Finding{
		Rule: "method", Severity: signpost.SeverityError, Message: "m", File: "feeds.yaml", Line: 14, Column: 17, Hint: "h",
		Path: signpost.Path{signpost.Field("a")}, Width: 5, Replacement: "get",
	})
	const want = `{"rule":"method","severity":"error","message":"m","file":"feeds.yaml","line":14,"column":17,"hint":"h","fix":null}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestFixJSON(t *testing.T) {
	got, err := json.Marshal(signpost.Finding{Fix: &signpost.Fix{Message: "write get", Edits: []signpost.Edit{
		{Line: 14, Column: 17, EndLine: 14, EndColumn: 20, Text: "get"},
	}}})
	const want = `"fix":{"message":"write get","edits":[{"line":14,"column":17,"end_line":14,"end_column":20,"text":"get"}]}}`
	if err != nil || !strings.HasSuffix(string(got), want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestPathString(t *testing.T) {
	tests := []struct {
		path signpost.Path
		want string
	}{
		{nil, ""},
		{signpost.Path{signpost.Field("name")}, "name"},
		{signpost.Path{signpost.Field("https://{{host}}/a"), signpost.Field("modifiers"), signpost.Item(0), signpost.Field("params"), signpost.Item(12), signpost.Field("ui"), signpost.Field("label")}, "https://{{host}}/a.modifiers[0].params[12].ui.label"},
		{signpost.Path{signpost.Field("a"), signpost.Item(1), signpost.Item(2)}, "a[1][2]"},
	}
	for _, test := range tests {
		if got := test.path.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestInvalidError(t *testing.T) {
	err := &signpost.InvalidError{Findings: []signpost.Finding{
		{Rule: "url", Severity: "error", Message: "one", Path: signpost.Path{signpost.Field("a")}},
		{Rule: "method", Severity: "error", Message: "two", Path: signpost.Path{signpost.Field("b"), signpost.Field("method")}},
	}}
	if got, want := err.Error(), "a: error: one [url]\nb.method: error: two [method]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
