package host

import (
	"strings"
	"testing"
)

// TestIsName compares the fast path with Check.
func TestIsName(t *testing.T) {
	names := []string{"a", "a.b", "feeds.example.com", "xn--bcher-kva.example", "a_b.c-d", "r3---sn.a", "1.example", strings.Repeat("a", maxLabel) + ".b",
		strings.Repeat("a.", 126) + "a"}
	for _, name := range names {
		if !isName(name) {
			t.Errorf("%q is a name", name)
		}
	}
	for _, name := range []string{"", ".", "a.", ".a", "a..b", "A", "a b", "a/b", "ä", "1.2.3.4", "a.1", "127.1", "0x7f.0x1", "a.-b", "-", "a-", "a-.b", "[::1]", "a:80", "a@b",
		strings.Repeat("a", maxLabel+1), strings.Repeat("a.", 127) + "a"} {
		if isName(name) {
			t.Errorf("%q is left to Check", name)
		}
	}
	for _, name := range names { // Check agrees
		if err := checkName(name); err != nil {
			t.Error(err)
		}
	}
}
