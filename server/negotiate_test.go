package server

import "testing"

func TestIfNoneMatch(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{`"abc"`}, true},
		{[]string{`W/"abc"`}, true},
		{[]string{`"abc-gzip"`}, false},
		{[]string{`*`}, true},
		{[]string{` * `}, true},
		{[]string{`"x", "abc"`}, true},
		{[]string{`,, "abc"`}, true},
		{[]string{"\"x\",\t\"abc\""}, true},
		{[]string{`"a,b", "abc"`}, true},
		{[]string{`"x"`, `"abc"`}, true},
		{[]string{`"x" "abc"`}, true}, // missing comma
		{[]string{`abc`}, false},
		{[]string{`"abc`}, false},
		{[]string{`w/"abc"`}, false}, // must be an upper-case W
		{[]string{`"abcd"`}, false},
		{[]string{`"x,"abc`}, false},
		{[]string{`"*"`}, false},
	} {
		if got := matchesTag(c.lines, "abc"); got != c.want {
			t.Errorf("If-None-Match %q: %v, want %v", c.lines, got, c.want)
		}
	}
}

func TestAcceptEncoding(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZip"}, true},
		{[]string{"x-gzip"}, true},
		{[]string{"gzip, deflate, br"}, true},
		{[]string{"br;q=1.0, gzip;q=0.8, *;q=0.1"}, true},
		{[]string{"deflate", "gzip"}, true},
		{[]string{"*"}, true},
		{[]string{"*;q=0.5"}, true},
		{[]string{"identity, gzip"}, true},
		{[]string{"gzip ; q=0.001"}, true},
		{[]string{"gzip, *;q=0"}, true},
		{[]string{"identity;q=0.5, gzip;q=0.5"}, true},
		{[]string{"identity;q=0, *"}, true},
		{[]string{"gzip;q=0, x-gzip"}, true}, // two names of one coding
		{[]string{"identity"}, false},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip; q=0, *"}, false},
		{[]string{"gzip;a=b;q=0"}, false},
		{[]string{"*;q=0"}, false},
		{[]string{"gzip;q=0.5, identity"}, false},
		{[]string{"identity;q=0.9, *;q=0.5"}, false},
		{[]string{"gzip;q=2"}, false},
		{[]string{"gzip;q=-1"}, false},
		{[]string{"gzip;q=NaN"}, false},
		{[]string{"gzip;q=x"}, false},
		{[]string{"gzip q=1"}, false},
	} {
		if got := acceptsGzip(c.lines); got != c.want {
			t.Errorf("Accept-Encoding %q: %v, want %v", c.lines, got, c.want)
		}
	}
}
