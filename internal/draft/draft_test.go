package draft

import (
	"testing"
	"unicode"
)

func TestOneLine(t *testing.T) {
	for r := range rune(0x10000) {
		for _, got := range OneLine("a" + string(r) + "b") {
			if !unicode.IsPrint(got) {
				t.Errorf("%U lets %U through", r, got)
			}
		}
	}
	if got := OneLine(" a \r\n\t b\u2028c "); got != "a b c" {
		t.Errorf("got %q", got)
	}
}
