package definition_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost/definition"
	"signpost/diff"
	"signpost/internal/testkit"
)

// An entry is valid on its last day, but not on the next.
func TestUntil(t *testing.T) {
	const text = "- {change: abcdef012345, reason: meant, until: 2026-03-31}"
	changes := []diff.Change{{Rule: diff.ChangeMethod, Fingerprint: "abcdef012345"}}
	for today, want := range map[string]bool{"2026-03-30": true, "2026-03-31": true, "2026-04-01": false} {
		file, _ := definition.ParseAccepted("accepted.yaml", []byte(text))
		testkit.Equal(t, "accepted on "+today, file.Apply(changes, today)[0].Accepted != nil, want)
		testkit.Equal(t, "used on "+today, len(file.Unused(today)) == 0, want)
	}
}

// A completed template accepts its change, whatever the URL contains.
func TestTemplate(t *testing.T) {
	for _, change := range []diff.Change{
		{Rule: diff.ChangeMethod, Version: "v1", Endpoint: "https://{{host}}/feeds", Fingerprint: "abcdef012345"},
		{Rule: diff.ChangeServiceRemoved, Service: "/sport", Fingerprint: "b00000000000"},
		{Rule: diff.ChangeMethod, Endpoint: "https://a/\n- change: c00000000000\x1b[31m\u2028", Fingerprint: "e12345678901"},
	} {
		file, text := definition.ParseAccepted("accepted.yaml", []byte(diff.AcceptanceOf(change)+"    it is meant\n"))
		if findings := definition.Errors(text); len(findings) > 0 {
			t.Fatalf("%q: %v", diff.AcceptanceOf(change), findings)
		}
		if got := file.Apply([]diff.Change{change}, "2026-01-01")[0].Accepted; got == nil || got.Reason != "it is meant" || len(file.Unused("2026-01-01")) > 0 {
			t.Errorf("%q: %+v", diff.AcceptanceOf(change), got)
		}
	}
}

// Any input gives findings or a list, and never a panic.
func FuzzParseAccepted(f *testing.F) {
	f.Add("- {change: abcdef012345, reason: meant, until: 2026-03-31}", "abcdef012345")
	f.Add("- &a {change: abcdef012345, reason: meant}\n- *a", "abcdef012345")
	f.Add("[{change: 1}, 2, {until: 2026-13-45, reson: ''}]", "")
	f.Fuzz(func(t *testing.T, text, fingerprint string) {
		file, parsed := definition.ParseAccepted("accepted.yaml", []byte(text))
		findings := definition.Errors(parsed)
		for _, finding := range findings {
			if finding.Line < 1 || finding.Column < 1 || finding.Message == "" {
				t.Errorf("finding %+v", finding)
			}
			parsed.Snippet(finding.Line, finding.Column, 20)
		}
		got := file.Apply([]diff.Change{{Fingerprint: fingerprint}}, "2026-01-01")
		if got[0].Accepted != nil && got[0].Accepted.Reason == "" && len(findings) == 0 {
			t.Error("accepted without a reason")
		}
	})
}

// A mistake in the file is reported where it is: an entry that is read differently than meant could accept too much.
func TestAcceptedMistakes(t *testing.T) {
	testkit.Cases(t, "testdata/accepted.golden", func(text string) string {
		var out strings.Builder
		_, file := definition.ParseAccepted("accepted.yaml", []byte(text))
		for _, f := range definition.Errors(file) {
			fmt.Fprintf(&out, "%v\nhint: %s\n", f, f.Hint)
		}
		return out.String()
	})
}
