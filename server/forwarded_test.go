package server

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzForwarded passes forwarding headers from a client through a trusted proxy that appends its own host, to the list
// or as another line. The result is the proxy's host or an error, never the client's host. The fuzz test also compares
// the header with an independent parser.
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
			if got, err := forwardedHost(header); err == nil && got != proxy {
				t.Errorf("%s: the host of %q is %q", name, header, got)
			}
		}
		got, err := forwardedHost(http.Header{"Forwarded": {forwarded}})
		names, ok := readForwarded(forwarded)
		want, agree := "", ok
		for _, name := range names {
			host, err := ParseHost(name)
			agree = agree && err == nil && (want == "" || want == host)
			want = host
		}
		if agree != (err == nil) || agree && got != want {
			t.Errorf("%q names %q, well-formed: %v, but the result is %q, %v", forwarded, names, ok, got, err)
		}
	})
}

// readForwarded returns the hosts of a Forwarded header and whether it is well-formed according to RFC 7239, except
// that quotes may be missing.
func readForwarded(line string) (hosts []string, ok bool) {
	const space, separator = " \t", ",;"
	in := func(i int, set string) bool { return i < len(line) && strings.IndexByte(set, line[i]) >= 0 }
	for i := 0; ; {
		for in(i, space+separator) {
			i++
		}
		if i == len(line) {
			return hosts, true
		}
		start := i
		for i < len(line) && !in(i, "\t\n\f\r \",;=") {
			i++
		}
		name := line[start:i]
		if name == "" || !in(i, "=") {
			return nil, false
		}
		i++
		var value []byte
		if in(i, `"`) {
			for i++; !in(i, `"`); i++ {
				if in(i, `\`) {
					i++
				}
				if i >= len(line) {
					return nil, false
				}
				value = append(value, line[i])
			}
			i++
		} else {
			for ; i < len(line) && !in(i, "\t\n\f\r \",;\\"); i++ {
				value = append(value, line[i])
			}
		}
		for in(i, space) {
			i++
		}
		if i < len(line) && !in(i, separator) {
			return nil, false
		}
		if strings.EqualFold(name, "host") {
			hosts = append(hosts, string(value))
		}
	}
}
