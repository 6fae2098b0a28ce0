package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
	const good = "Host: feeds.example.com"

	for _, c := range []struct {
		name   string
		opts   Options
		target string // empty means the manifest's path
		lines  []string
		status int    // zero means 200
		want   string // the host in the manifest
	}{
		{"plain", open, "", []string{"Host: feeds.example.com"}, 0, "feeds.example.com"},
		{"port", open, "", []string{"Host: feeds.example.com:8080"}, 0, "feeds.example.com"},
		{"IPv6", open, "", []string{"Host: [2001:DB8::0:1]:80"}, 0, "[2001:db8::1]"},
		{"empty", open, "", []string{"Host:"}, 400, ""},

		{"absolute form", open, "http://feeds.example.com" + manifestPath, []string{"Host: evil.example"}, 0, "feeds.example.com"},
		{"absolute form, IDN", open, "http://bücher.example:80" + manifestPath, []string{"Host: evil.example"}, 0, "xn--bcher-kva.example"},
		{"absolute form, user info", open, "http://evil@feeds.example.com" + manifestPath, []string{good}, 400, ""},

		{"allowed", limited, "", []string{"Host: Feeds.example.com:80"}, 0, "feeds.example.com"},
		{"allowed below", limited, "", []string{"Host: a.tenants.example.com"}, 0, "a.tenants.example.com"},
		{"allowed IPv6", limited, "", []string{"Host: [0::1]"}, 0, "[::1]"},
		{"not allowed", limited, "", []string{"Host: evil.example"}, 421, ""},
		{"not allowed below an exact one", limited, "", []string{"Host: evil.feeds.example.com"}, 421, ""},
		{"not allowed with the name in front", limited, "", []string{"Host: feeds.example.com.evil.example"}, 421, ""},
		{"the suffix itself", limited, "", []string{"Host: tenants.example.com"}, 421, ""},
		{"the suffix without its dot", limited, "", []string{"Host: eviltenants.example.com"}, 421, ""},

		{"forwarded by an untrusted peer", open, "", []string{good, "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"}, 0, "feeds.example.com"},
		{"forwarded by a peer outside the range", deaf, "", []string{good, "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"}, 0, "feeds.example.com"},
		{"malformed, from an untrusted peer", open, "", []string{good, `X-Forwarded-Host: "evil`, `Forwarded: host="evil`}, 0, "feeds.example.com"},
		{"trusted, nothing forwarded", proxied, "", []string{good}, 0, "feeds.example.com"},
		{"X-Forwarded-Host", proxied, "", []string{"Host: evil.internal", "X-Forwarded-Host: Feeds.example.com:443"}, 0, "feeds.example.com"},
		{"X-Forwarded-Host over a bad Host", proxied, "", []string{"Host:", "X-Forwarded-Host: feeds.example.com"}, 0, "feeds.example.com"},
		{"X-Forwarded-Host, agreeing", proxied, "", []string{"Host: evil.internal", "X-Forwarded-Host: feeds.example.com, FEEDS.example.com.:443"}, 0, "feeds.example.com"},
		{"X-Forwarded-Host, disagreeing", proxied, "", []string{good, "X-Forwarded-Host: evil.example, feeds.example.com"}, 400, ""},
		{"X-Forwarded-Host, empty member", proxied, "", []string{good, "X-Forwarded-Host: feeds.example.com,"}, 400, ""},
		{"X-Forwarded-Host, not allowed", limitedProxied, "", []string{good, "X-Forwarded-Host: evil.example"}, 421, ""},
		{"X-Forwarded-Host, allowed", limitedProxied, "", []string{"Host: evil.internal", "X-Forwarded-Host: a.tenants.example.com"}, 0, "a.tenants.example.com"},

		{"Forwarded", proxied, "", []string{"Host: evil.internal", "Forwarded: for=192.0.2.43;host=feeds.example.com;proto=https"}, 0, "feeds.example.com"},
		{"Forwarded, quoted", proxied, "", []string{"Host: evil.internal", `Forwarded: For="[2001:db8::1]:47011" ; HOST="feeds.\example.com:443"`}, 0, "feeds.example.com"},
		{"Forwarded, separators quoted", proxied, "", []string{"Host: evil.internal", `Forwarded: for="a,host=evil.example;\"b";host=feeds.example.com`}, 0, "feeds.example.com"},
		{"Forwarded, element without host", proxied, "", []string{"Host: evil.internal", "Forwarded: for=192.0.2.43, host=feeds.example.com, , for=192.0.2.44;;"}, 0, "feeds.example.com"},
		{"Forwarded, no host, then the other", proxied, "", []string{"Host: evil.internal", "Forwarded: for=192.0.2.43", "X-Forwarded-Host: feeds.example.com"}, 0, "feeds.example.com"},
		{"both headers, agreeing", proxied, "", []string{"Host: evil.internal", "Forwarded: host=feeds.example.com", "X-Forwarded-Host: FEEDS.example.com:443"}, 0, "feeds.example.com"},
		{"both headers, disagreeing", proxied, "", []string{good, "Forwarded: host=feeds.example.com", "X-Forwarded-Host: evil.example"}, 400, ""},
		{"both headers, disagreeing the other way", proxied, "", []string{good, "Forwarded: host=evil.example", "X-Forwarded-Host: feeds.example.com"}, 400, ""},
		{"Forwarded, disagreeing", proxied, "", []string{good, "Forwarded: host=evil.example, host=feeds.example.com"}, 400, ""},
		{"Forwarded, empty host", proxied, "", []string{good, "Forwarded: host="}, 400, ""},
		{"Forwarded, open quote", proxied, "", []string{good, `Forwarded: host="evil.example`}, 400, ""},
		{"Forwarded, no separator", proxied, "", []string{good, `Forwarded: host="feeds.example.com"for=evil`}, 400, ""},
		{"Forwarded, malformed after a host", proxied, "", []string{good, "Forwarded: host=feeds.example.com, evil"}, 400, ""},
		{"Forwarded, not allowed", limitedProxied, "", []string{good, "Forwarded: host=evil.example"}, 421, ""},

		{"public", public, "", []string{"Host: evil.example", "X-Forwarded-Host: evil.example"}, 0, "public.example.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := listen(t, newHandler(t, c.opts, v1(template)))
			target, status := c.target, c.status
			if target == "" {
				target = manifestPath
			}
			if status == 0 {
				status = http.StatusOK
			}
			a := send(t, address, "GET", target, c.lines...)
			wantStatus(t, a, status)
			if status == http.StatusOK {
				wantManifest(t, a, template, c.want)
			}
			if bytes.Contains(bytes.ToLower(a.raw), []byte("evil")) {
				t.Errorf("the response repeats the request: %q", a.raw)
			}
			wantVary := "Accept-Encoding"
			if c.opts.TrustedProxies != nil && c.opts.PublicHost == "" {
				wantVary += ", Forwarded, X-Forwarded-Host"
			}
			if got := a.Header.Get("Vary"); status == http.StatusOK && got != wantVary {
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
		r := httptest.NewRequest("GET", manifestPath, nil)
		r.Host, r.RemoteAddr = "own.example", peer
		r.Header.Set("X-Forwarded-Host", "forwarded.example")
		w := httptest.NewRecorder()
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
		r := httptest.NewRequest("GET", manifestPath, nil)
		r.Host = host
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s: status %d", host, w.Code)
		}
	}
	checkManifests(t, h)
	if len(refused) != 2 || refused[0] != RefusedDoesNotFit || refused[1] != RefusedDoesNotFit {
		t.Errorf("the observed reasons are %q", refused)
	}
}
