package definition

import (
	"testing"

	"signpost"
)

// A finding in colour marks the place, and what the file and the message contain does not reach the terminal.
func TestRenderColor(t *testing.T) {
	file := Parse("f.yaml", []byte("a\tb\u202ec: d\n"))
	f := signpost.Finding{File: "f\x1b.yaml", Line: 1, Column: 4, Width: 2, Severity: signpost.SeverityWarning, Rule: "r", Message: "m\n", Hint: "h\r"}
	const want = "\x1b[1mf\\u001b.yaml:1:4:\x1b[0m \x1b[33mwarning:\x1b[0m \x1b[1mm\\u000a\x1b[0m \x1b[2m[r]\x1b[0m\n" +
		"\x1b[2m  |\x1b[0m\n\x1b[2m1 |\x1b[0m a b\\u202ec: d\n\x1b[2m  |\x1b[0m    \x1b[33m^~~~~~~\x1b[0m\n  \x1b[2m= hint:\x1b[0m h\\u000d\n"
	if got := (Renderer{Color: true}).Render(file, f); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
