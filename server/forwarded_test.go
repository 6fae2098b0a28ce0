package server

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzForwarded passes forwarding headers from a client through a trusted proxy that appends its own host, to the list
// or as another line. The result is the proxy's host or an error, never the client's host.
func FuzzForwarded(f *testing.F) {
	for _, line := range []string{
		"", "host=feeds.example.com", "for=192.0.2.43;host=feeds.example.com;proto=https", `For="[2001:db8::1]:47011" ; HOST="feeds.\example.com:443"`,
		`for="a,host=evil.example;\"b"`, `host=evil.example;x="`, `host=evil.example;x="\`, `x="`, `x=\`, "host=evil.example,", "host=evil.example;;,", "host", "host=", `host=""`,
		`host="a"b`, "host=a b", "host=a\tb", "=a", "host==a", "HOST=a", "host=a;host=b", "ho\"st=a", "host=bücher.example", "host=[::1]", "host=a,host", "\xff=\xff", `a="\` + "\n\"",
	} {
		f.Add(line, line)
		f.Add(line, "feeds.example.com")
		f.Add("for=192.0.2.43", line)
	}
	f.Fuzz(func(t *testing.T, forwarded, other string) {
		if strings.ContainsAny(forwarded+other, "\r\n\x00") {
			return // cannot occur in a header
		}
		const proxy = "edge.example.com"
		for name, header := range map[string]http.Header{
			"a list":                 {"Forwarded": {forwarded + ", host=" + proxy}},
			"a list, quoted":         {"Forwarded": {forwarded + `, for="[2001:db8::1]:1";host="` + proxy + `:443"`}},
			"another line":           {"Forwarded": {forwarded, "for=_x;host=" + proxy}},
			"X-Forwarded-Host":       {"X-Forwarded-Host": {other + ", " + proxy}},
			"another line of it":     {"X-Forwarded-Host": {other, proxy}},
			"the other header":       {"Forwarded": {forwarded}, "X-Forwarded-Host": {proxy}},
			"the other header, list": {"Forwarded": {"host=" + proxy}, "X-Forwarded-Host": {other + ", " + proxy}},
		} {
			if got, _, err := forwardedHost(header); err == nil && got != proxy {
				t.Errorf("%s: the host of %q is %q", name, header, got)
			}
		}
	})
}
