package server

import (
	"strings"
	"testing"
)

func TestRedirect(t *testing.T) {
	h := newHandler(t, Options{AllowedHosts: []string{"feeds.example.com", "[::1]"}}, v1(compile(t, "a")))
	for _, test := range []struct{ port, target, host, want string }{
		{"443", manifestPath, "feeds.example.com", "https://feeds.example.com" + manifestPath},
		{"443", manifestPath + "?a=b", "Feeds.Example.com:80", "https://feeds.example.com" + manifestPath + "?a=b"},
		{"8443", "/", "feeds.example.com", "https://feeds.example.com:8443/"},
		{"8443", "/", "[::1]:8080", "https://[::1]:8443/"},
		{"443", "//evil.example/%2e", "feeds.example.com", "https://feeds.example.com//evil.example/%2e"},
		{"443", "*", "feeds.example.com", "https://feeds.example.com/"},
		{"443", "/", "evil.example", ""},
		{"443", "/", "a..b", ""},
	} {
		request := "GET " + test.target + " HTTP/1.1\r\nHost: " + test.host + "\r\nConnection: close\r\n\r\n"
		got := exchange(t, listen(t, h.Redirect(test.port)), "GET", request)
		if got.StatusCode >= 400 {
			checkAnswer(t, got)
		}
		status, location := got.StatusCode, got.Header.Get("Location")
		if location != test.want || (status == 308) != (test.want != "") || status != 308 && status < 400 {
			t.Errorf("%s for %s: %d %q, not %q", test.target, test.host, status, location, test.want)
		}
		if test.want == "" && strings.Contains(string(got.raw), test.host) {
			t.Errorf("the response contains a rejected host:\n%s", got.raw)
		}
	}
}
