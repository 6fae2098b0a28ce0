package httpurl

import (
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, test := range []struct{ address, err string }{
		{"https://feeds.example.com/v1/endpoints-manifest", ""},
		{"HTTP://[::1]:8080/manifest.json?x=1", ""},
		{"feeds.example.com/v1/endpoints-manifest", `address "feeds.example.com/v1/endpoints-manifest" does not start with https:// or http://`},
		{"ftp://feeds.example.com/x", `address "ftp://feeds.example.com/x" does not start with https:// or http://`},
		{"https:///v1/endpoints-manifest", `address "https:///v1/endpoints-manifest" has no host`},
		{"https://:8080/v1/endpoints-manifest", `address "https://:8080/v1/endpoints-manifest" has no host`},
		{"https://me:secret@feeds.example.com/x", `address "https://me:xxxxx@feeds.example.com/x" has user info before its host, which is not sent`},
		{"https://a b/x", `address "https://a b/x" is not a URL: invalid character " " in host name`},
		{"https://feeds.example.com", `address "https://feeds.example.com" has no path: give the full address of the manifest, such as https://feeds.example.com/v1/endpoints-manifest`},
		{"https://feeds.example.com/", `address "https://feeds.example.com/" has no path: give the full address of the manifest, such as https://feeds.example.com/v1/endpoints-manifest`},
	} {
		u, err := ParseAddress(test.address)
		switch {
		case test.err == "" && (err != nil || u.Host == ""):
			t.Errorf("%s: %v", test.address, err)
		case test.err != "" && (err == nil || err.Error() != test.err):
			t.Errorf("%s:\n got %v\nwant %s", test.address, err, test.err)
		}
	}
}

func TestParseAddressInternationalHost(t *testing.T) {
	for given, want := range map[string]string{
		"https://bücher.example:8443/v1/m?x=1": "https://xn--bcher-kva.example:8443/v1/m?x=1",
		"https://Bücher.example/v1/m":          "https://xn--bcher-kva.example/v1/m",
		"https://Feeds.Example.com./v1/m":      "https://Feeds.Example.com./v1/m",
		"https://[::1]:8443/v1/m":              "https://[::1]:8443/v1/m",
	} {
		if got, err := ParseAddress(given); err != nil || got.String() != want {
			t.Errorf("%s becomes %v, %v", given, got, err)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"http://localhost:3000": "http://localhost:3000", "https://[::1]/": "https://[::1]", "HTTP://127.0.0.1:1": "http://127.0.0.1:1",
		"localhost:3000": "", "http://localhost:3000/api": "", "http://a:b@localhost": "", "ftp://localhost": "", "": "", "http://": "", "http://a b/": "",
		"http://localhost?x": "", "http:localhost": "",
	} {
		u, err := ParseOrigin(text)
		if (err != nil) != (want == "") || err == nil && u.String() != want {
			t.Errorf("%q: %v, %v", text, u, err)
		}
		if err != nil && strings.Contains(err.Error(), "a:b@") {
			t.Errorf("%v", err)
		}
	}
}
