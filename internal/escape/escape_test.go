package escape

import "testing"

func TestText(t *testing.T) {
	for _, test := range []struct{ text, keep, want string }{
		{"Übersicht 日本 \ufffd", "", "Übersicht 日本 \ufffd"},
		{"a\x1b[2J\u009b\x7f", "", `a\u001b[2J\u009b\u007f`},
		{"a\tb\n\r", "\n\t", "a\tb\n\\u000d"},
		{"a\tb\n", "", `a\u0009b\u000a`},
		{"\u202eevil\u2028line\u2029\ufeff", "", `\u202eevil\u2028line\u2029\ufeff`},
		{"tag \U000e0041", "", `tag \udb40\udc41`},
		{"family 👩\u200d👧, Persian می\u200cخواهم", "", "family 👩\u200d👧, Persian می\u200cخواهم"},
		{"cut \xe6\x97", "", `cut \xe6\x97`},
	} {
		if got := Text(test.text, test.keep); got != test.want {
			t.Errorf("%q becomes %q, not %q", test.text, got, test.want)
		}
	}
}
