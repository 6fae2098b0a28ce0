package tree

import (
	"strings"
	"testing"
)

func TestIsPlain(t *testing.T) {
	for _, test := range []struct {
		text                string
		inBrackets, outside bool
	}{
		{"football", true, true},
		{"https://{{host}}/v1/a", false, true},
		{"a, b", false, true},
		{"", false, false},
		{"20", false, false},
		{"2026-01-01", false, false},
		{"a: b", false, false},
		{"a #b", false, false},
		{"'a'", false, false},
		{" a", false, false},
		{"a\nb", false, false},
		{"it's", false, false}, // to be on the safe side
	} {
		if in, out := isPlain(test.text, true), isPlain(test.text, false); in != test.inBrackets || out != test.outside {
			t.Errorf("%q: %v in brackets, %v outside", test.text, in, out)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		text  string
		value any
		want  string // "" if it cannot be written
	}{
		{"a: b", "c", "c"},
		{"a: b", "c: d", `"c: d"`},
		{"a: b", "yes", `"yes"`},
		{"a: 'b'", "it's", "'it''s'"},
		{`a: "b"`, "c", `"c"`},
		{`a: "b"`, "R&D", `"R&D"`},
		{"a: 5", "5", `"5"`},
		{"a: 'true'", true, "true"},
		{"a: |\n b\n", "c", ""},
		{"a:\n", "c", ""},
		{`{"a": "b"}`, "c", `"c"`},
	} {
		doc := Parse([]byte(test.text), test.text[0] == '{')
		if got, ok := doc.Root.Fields[0].Value.Write(test.value); got != test.want || ok != (test.want != "") {
			t.Errorf("%v in %q: got %q, %v", test.value, test.text, got, ok)
		}
	}
}

// TestOpen marks the brackets and quotes that are open with ¦.
func TestOpen(t *testing.T) {
	for _, marked := range []string{
		`a: ¦[b, ¦{c: d, e: [f]`, `a: [b] ¦"c \" d`, "# {\na: ¦{", "a: it's ¦{b ¦'c [", "https://{{host}}/a: ¦[", "a: 'b\nc: ¦[", "a: ] ¦[", "a: ¦[ # {", `{"a": "\\"}`,
	} {
		text, got := strings.ReplaceAll(marked, "¦", ""), ""
		last := 0
		for _, at := range Open(text) {
			got += text[last:at] + "¦"
			last = at
		}
		if got += text[last:]; got != marked {
			t.Errorf("got %s, want %s", got, marked)
		}
	}
}
