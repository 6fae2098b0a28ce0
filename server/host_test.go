package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

var (
	loopback  = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	elsewhere = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
)

// TestHostPolicy sends bytes that no client library would send. A case either gets a manifest for the host in want, or
// is rejected and must not find evil anywhere in the response.
func TestHostPolicy(t *testing.T) {
	template := compile(t, "a")
	open := Options{}
	limited := Options{AllowedHosts: []string{"feeds.example.com", "*.Tenants.example.com", "[::1]"}}
	proxied := Options{TrustedProxies: loopback}
	limitedProxied := Options{TrustedProxies: loopback, AllowedHosts: limited.AllowedHosts}
	deaf := Options{TrustedProxies: elsewhere}
	public := Options{PublicHost: "Public.Example.com:443", TrustedProxies: loopback}

	for _, c := range []struct {
		name    string
		opts    Options
		request string // its headers, or all of it
		want    string // the host in the manifest, or the status of an error
	}{
		{"port", open, "Host: feeds.example.com:8080", "feeds.example.com"},
		{"IPv6", open, "Host: [2001:DB8::0:1]:80", "[2001:db8::1]"},
		{"empty", open, "Host:", "400"},

		{"absolute form", open, "GET http://feeds.example.com" + manifestPath + "\nHost: evil.example", "feeds.example.com"},
		{"absolute form, IDN", open, "GET http://bücher.example:80" + manifestPath + "\nHost: evil.example", "xn--bcher-kva.example"},
		{"absolute form, user info", open, "GET http://evil@feeds.example.com" + manifestPath + "\nHost: feeds.example.com", "400"},

		{"allowed", limited, "Host: Feeds.example.com:80", "feeds.example.com"},
		{"allowed below", limited, "Host: a.tenants.example.com", "a.tenants.example.com"},
		{"allowed IPv6", limited, "Host: [0::1]", "[::1]"},
		{"not allowed", limited, "Host: evil.example", "421"},
		{"not allowed below an exact one", limited, "Host: evil.feeds.example.com", "421"},
		{"not allowed with the name in front", limited, "Host: feeds.example.com.evil.example", "421"},
		{"the suffix itself", limited, "Host: tenants.example.com", "421"},
		{"the suffix without its dot", limited, "Host: eviltenants.example.com", "421"},

		{"forwarded by an untrusted peer", open, "Host: feeds.example.com\nX-Forwarded-Host: evil.example\nForwarded: host=evil.example", "feeds.example.com"},
		{"forwarded by a peer outside the range", deaf, "Host: feeds.example.com\nX-Forwarded-Host: evil.example\nForwarded: host=evil.example", "feeds.example.com"},
		{"malformed, from an untrusted peer", open, "Host: feeds.example.com\n" + `X-Forwarded-Host: "evil` + "\n" + `Forwarded: host="evil`, "feeds.example.com"},
		{"trusted, nothing forwarded", proxied, "Host: feeds.example.com", "feeds.example.com"},
		{"X-Forwarded-Host", proxied, "Host: evil.internal\nX-Forwarded-Host: Feeds.example.com:443", "feeds.example.com"},
		{"X-Forwarded-Host, agreeing", proxied, "Host: evil.internal\nX-Forwarded-Host: feeds.example.com, FEEDS.example.com.:443", "feeds.example.com"},
		{"X-Forwarded-Host, disagreeing", proxied, "Host: feeds.example.com\nX-Forwarded-Host: evil.example, feeds.example.com", "400"},
		{"X-Forwarded-Host, empty member", proxied, "Host: feeds.example.com\nX-Forwarded-Host: feeds.example.com,", "400"},
		{"X-Forwarded-Host, not allowed", limitedProxied, "Host: feeds.example.com\nX-Forwarded-Host: evil.example", "421"},
		{"X-Forwarded-Host, allowed", limitedProxied, "Host: evil.internal\nX-Forwarded-Host: a.tenants.example.com", "a.tenants.example.com"},

		{"Forwarded", proxied, "Host: evil.internal\nForwarded: for=192.0.2.43;host=feeds.example.com;proto=https", "feeds.example.com"},
		{"Forwarded, quoted", proxied, "Host: evil.internal\n" + `Forwarded: For="[2001:db8::1]:47011" ; HOST="feeds.\example.com:443"`, "feeds.example.com"},
		{"Forwarded, separators quoted", proxied, "Host: evil.internal\n" + `Forwarded: for="a,host=evil.example;\"b";host=feeds.example.com`, "feeds.example.com"},
		{"Forwarded, element without host", proxied, "Host: evil.internal\nForwarded: for=192.0.2.43, host=feeds.example.com, , for=192.0.2.44;;", "feeds.example.com"},
		{"Forwarded, no host, then the other", proxied, "Host: evil.internal\nForwarded: for=192.0.2.43\nX-Forwarded-Host: feeds.example.com", "feeds.example.com"},
		{"both headers, agreeing", proxied, "Host: evil.internal\nForwarded: host=feeds.example.com\nX-Forwarded-Host: FEEDS.example.com:443", "feeds.example.com"},
		{"both headers, disagreeing", proxied, "Host: feeds.example.com\nForwarded: host=feeds.example.com\nX-Forwarded-Host: evil.example", "400"},
		{"Forwarded, disagreeing", proxied, "Host: feeds.example.com\nForwarded: host=evil.example, host=feeds.example.com", "400"},
		{"Forwarded, empty host", proxied, "Host: feeds.example.com\nForwarded: host=", "400"},
		{"Forwarded, open quote", proxied, "Host: feeds.example.com\n" + `Forwarded: host="evil.example`, "400"},
		{"Forwarded, no separator", proxied, "Host: feeds.example.com\n" + `Forwarded: host="feeds.example.com"for=evil`, "400"},
		{"Forwarded, malformed after a host", proxied, "Host: feeds.example.com\nForwarded: host=feeds.example.com, evil", "400"},

		{"public", public, "Host: evil.example\nX-Forwarded-Host: evil.example", "public.example.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasPrefix(c.request, "GET ") {
				c.request = "GET " + manifestPath + "\n" + c.request
			}
			a := ask(t, listen(t, newHandler(t, c.opts, v1(template))), c.request)
			checkAnswer(t, a)
			if bytes.Contains(bytes.ToLower(a.raw), []byte("evil")) {
				t.Errorf("the response repeats the request: %q", a.raw)
			}
			if status, err := strconv.Atoi(c.want); err == nil {
				wantStatus(t, a, status)
				return
			}
			wantManifest(t, a, template, c.want)
			wantVary := "Accept-Encoding"
			if c.opts.TrustedProxies != nil && c.opts.PublicHost == "" {
				wantVary += ", Forwarded, X-Forwarded-Host"
			}
			if got := a.Header.Get("Vary"); got != wantVary {
				t.Errorf("Vary is %q, want %q", got, wantVary)
			}
		})
	}
}

func TestTrustedPeers(t *testing.T) {
	h := newHandler(t, Options{TrustedProxies: []netip.Prefix{
		netip.MustParsePrefix("10.1.2.3/8"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("2001:db8::1/128"),
	}}, v1(compile(t, "a")))
	for peer, trusted := range map[string]bool{
		"10.9.9.9:1":          true,
		"[::ffff:10.9.9.9]:1": true,
		"[fe80::1%eth0]:1":    true,
		"[2001:db8::1]:1":     true,
		"11.0.0.1:1":          false,
		"[::ffff:11.0.0.1]:1": false,
		"[2001:db8::2]:1":     false,
		"[::10.9.9.9]:1":      false,
		"10.9.9.9":            false, // not a form that net/http uses
		"@":                   false, // a Unix socket
		"":                    false,
	} {
		r, w := newRequest("GET", "own.example", "X-Forwarded-Host", "forwarded.example"), httptest.NewRecorder()
		r.RemoteAddr = peer
		h.ServeHTTP(w, r)
		want := "https://own.example/"
		if trusted {
			want = "https://forwarded.example/"
		}
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("peer %q: %d %s, want %s", peer, w.Code, w.Body, want)
		}
	}
}

// TestHostsThatDoNotFit checks that a host that makes a name too long is the client's mistake, like an IP address where
// {{host}} is a part of a name.
func TestHostsThatDoNotFit(t *testing.T) {
	var refused []string
	observe := func(_ *http.Request, e Event) { refused = append(refused, e.Refused) }
	h := newHandler(t, Options{Observe: observe}, v1(compileURL(t, "https://media.{{host}}/v1/feeds")))
	for _, host := range []string{"192.0.2.1", strings.Repeat(strings.Repeat("a", 49)+".", 5) + "b"} { // the second one has 251 characters
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, newRequest("GET", host)); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s: status %d", host, w.Code)
		}
	}
	checkManifests(t, h)
	if len(refused) != 2 || refused[0] != RefusedDoesNotFit || refused[1] != RefusedDoesNotFit {
		t.Errorf("the observed reasons are %q", refused)
	}
}
