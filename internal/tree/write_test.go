package tree

import "testing"

func TestIsPlain(t *testing.T) {
	for _, test := range []struct {
		text                string
		inBrackets, outside bool
	}{
		{"football", true, true},
		{"https://{{host}}/v1/a", false, true},
		{"a, b", false, true},
		{"a b", true, true},
		{"", false, false},
		{"20", false, false},
		{"true", false, false},
		{"2026-01-01", false, false},
		{"a: b", false, false},
		{"a #b", false, false},
		{"#b", false, false},
		{"'a'", false, false},
		{"- a", false, false},
		{" a", false, false},
		{"a\nb", false, false},
		{"null", false, false},
		{"it's", false, false}, // to be on the safe side
	} {
		if in, out := isPlain(test.text, true), isPlain(test.text, false); in != test.inBrackets || out != test.outside {
			t.Errorf("%q: %v in brackets, %v outside", test.text, in, out)
		}
	}
}
