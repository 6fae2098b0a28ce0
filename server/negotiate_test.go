package server

import (
	"strings"
	"testing"
)

// TestNegotiation checks header values; the lines of a header are separated by "|".
func TestNegotiation(t *testing.T) {
	for _, test := range []struct {
		name    string
		matches func(lines []string) bool
		yes, no []string
	}{
		{"If-None-Match", func(lines []string) bool { return matchesTag(lines, "abc") }, []string{
			`"abc"`, `W/"abc"`, `*`, ` * `, `"x", "abc"`, `,, "abc"`, "\"x\",\t\"abc\"", `"a,b", "abc"`, `"x"|"abc"`,
			`"x" "abc"`, // missing comma
		}, []string{
			"", `"abc-gzip"`, `abc`, `"abc`, `"abcd"`, `"x,"abc`, `"*"`,
			`w/"abc"`, // must be an upper-case W
		}},
		{"Accept-Encoding", acceptsGzip, []string{
			"gzip", "GZip", "x-gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "deflate|gzip", "*", "*;q=0.5", "identity, gzip",
			"gzip ; q=0.001", "gzip;q=1", "gzip, *;q=0", "identity;q=0.5, gzip;q=0.5", "identity;q=0, *",
			"gzip;q=0, x-gzip", // two names of one coding
		}, []string{
			"", "identity", "gzip;q=0", "gzip; q=0, *", "gzip;a=b;q=0", "*;q=0", "gzip;q=0.5, identity", "identity;q=0.9, *;q=0.5",
			"gzip;q=2", "gzip;q=-1", "gzip;q=NaN", "gzip;q=x", "gzip q=1",
		}},
	} {
		for want, all := range map[bool][]string{true: test.yes, false: test.no} {
			for _, lines := range all {
				if test.matches(strings.Split(lines, "|")) != want {
					t.Errorf("%s %q: %v, want %v", test.name, lines, !want, want)
				}
			}
		}
	}
}
