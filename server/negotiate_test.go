package server

import (
	"strings"
	"testing"
)

// header returns the lines of a header; in these tests, they are separated by "|".
func header(lines string) []string { return strings.Split(lines, "|") }

func TestIfNoneMatch(t *testing.T) {
	for want, all := range map[bool][]string{
		true: {
			`"abc"`, `W/"abc"`, `*`, ` * `, `"x", "abc"`, `,, "abc"`, "\"x\",\t\"abc\"", `"a,b", "abc"`, `"x"|"abc"`,
			`"x" "abc"`, // missing comma
		},
		false: {
			"", `"abc-gzip"`, `abc`, `"abc`, `"abcd"`, `"x,"abc`, `"*"`,
			`w/"abc"`, // must be an upper-case W
		},
	} {
		for _, lines := range all {
			if matchesTag(header(lines), "abc") != want {
				t.Errorf("If-None-Match %q: %v, want %v", lines, !want, want)
			}
		}
	}
}

func TestAcceptEncoding(t *testing.T) {
	for want, all := range map[bool][]string{
		true: {
			"gzip", "GZip", "x-gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "deflate|gzip", "*", "*;q=0.5", "identity, gzip",
			"gzip ; q=0.001", "gzip, *;q=0", "identity;q=0.5, gzip;q=0.5", "identity;q=0, *",
			"gzip;q=0, x-gzip", // two names of one coding
		},
		false: {
			"", "identity", "gzip;q=0", "gzip; q=0, *", "gzip;a=b;q=0", "*;q=0", "gzip;q=0.5, identity", "identity;q=0.9, *;q=0.5",
			"gzip;q=2", "gzip;q=-1", "gzip;q=NaN", "gzip;q=x", "gzip q=1",
		},
	} {
		for _, lines := range all {
			if acceptsGzip(header(lines)) != want {
				t.Errorf("Accept-Encoding %q: %v, want %v", lines, !want, want)
			}
		}
	}
}
