package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/testkit"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// TestHostPolicy sends bytes that no client library would send, to handlers with different options. The answer is the host
// in the manifest or, for a request that is rejected, the status, the host that was taken, and its header. evil must not be
// found anywhere else in the response.
func TestHostPolicy(t *testing.T) {
	template, allowed := compile(t, "a"), []string{"feeds.example.com", "*.Tenants.example.com", "[::1]"}
	handlers := map[string]Options{
		"open":            {},
		"limited":         {AllowedHosts: allowed},
		"proxied":         {TrustedProxies: loopback},
		"limited proxied": {TrustedProxies: loopback, AllowedHosts: allowed},
		"deaf":            {TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
		"public":          {PublicHost: "Public.Example.com:443", TrustedProxies: loopback, AllowedHosts: allowed},
	}
	published := "published" // before the name: the service has hosts
	testkit.Cases(t, "testdata/hosts.golden", func(line string) string {
		name, request, _ := strings.Cut(strings.ReplaceAll(line, " | ", "\n"), "\n")
		service := v1(template)
		if after, ok := strings.CutPrefix(name, published+" "); ok {
			name, service.Hosts = after, signpost.Hosts{"feeds.example.org", "*.example.net"}
		}
		opts, ok := handlers[name]
		if !ok {
			t.Fatalf("there are no options %q", name)
		}
		if !strings.HasPrefix(request, "GET ") {
			request = "GET " + manifestPath + "\n" + request
		}
		a := ask(t, listen(t, newHandler(t, opts, service)), request)
		checkAnswer(t, a)
		head, body, _ := bytes.Cut(bytes.ToLower(a.raw), []byte("\r\n\r\n"))
		if bytes.Contains(head, []byte("evil")) || a.StatusCode == http.StatusOK && bytes.Contains(body, []byte("evil")) {
			t.Errorf("%s: the response repeats the request: %q", line, a.raw)
		}
		if a.StatusCode != http.StatusOK {
			var problem struct{ Host, Header, Detail string }
			testkit.OK(t, json.Unmarshal(a.body, &problem))
			if said := fmt.Sprintf("the host %q from the header %s.", problem.Host, problem.Header); !strings.HasSuffix(problem.Detail, said) {
				t.Errorf("%s: the detail is %q, not %s", line, problem.Detail, said)
			}
			return fmt.Sprintf("%s, %q from %s", a.Status, problem.Host, problem.Header)
		}
		host := hostIn(a.body)
		wantManifest(t, a, template, host)
		wantVary := "Accept-Encoding"
		if opts.TrustedProxies != nil && opts.PublicHost == "" {
			wantVary += ", Forwarded, X-Forwarded-Host"
		}
		if got := a.Header.Get("Vary"); got != wantVary {
			t.Errorf("%s: Vary is %q, want %q", line, got, wantVary)
		}
		return host
	})
}

// Each service has its own hosts. Its names are those of this machine only for who is on it.
func TestHostsOfServices(t *testing.T) {
	a, b, c := v1(compile(t, "a")), v1(compile(t, "b")), v1(compile(t, "c"))
	a.BasePath, a.Hosts = "/a", signpost.Hosts{"a.example.com"}
	b.BasePath, b.Hosts = "/b", signpost.Hosts{"*.example.com"}
	c.BasePath = "/c"
	h := newHandler(t, Options{}, a, b, c)
	for _, test := range []struct {
		peer, host string
		want       string // statuses of the three
	}{
		{"192.0.2.1:5", "a.example.com", "200 200 200"},
		{"192.0.2.1:5", "b.example.com", "421 200 200"},
		{"192.0.2.1:5", "other.example", "421 421 200"},
		{"192.0.2.1:5", "localhost", "421 421 200"},
		{"127.0.0.1:5", "localhost", "200 200 200"},
		{"[::1]:5", "127.0.0.1", "200 200 200"},
		{"[::ffff:127.0.0.1]:5", "[::1]", "200 200 200"},
		{"127.0.0.1:5", "192.0.2.1", "421 421 200"},
		{"", "localhost", "421 421 200"},
	} {
		var got []string
		for _, base := range []string{"/a", "/b", "/c"} {
			r, w := newRequest("GET", test.host), httptest.NewRecorder()
			r.URL.Path, r.RemoteAddr = base+manifestPath, test.peer
			h.ServeHTTP(w, r)
			got = append(got, fmt.Sprint(w.Code))
		}
		testkit.Equal(t, test.peer+" asks for "+test.host, strings.Join(got, " "), test.want)
	}
	nginx, w := newRequest("GET", "127.0.0.1:8080", "Connection", "close"), httptest.NewRecorder()
	nginx.URL.Path, nginx.RemoteAddr, nginx.ProtoMinor = "/a"+manifestPath, "127.0.0.1:5", 0
	if h.ServeHTTP(w, nginx); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("a proxy without configuration gets status %d", w.Code)
	}
	limited := newHandler(t, Options{AllowedHosts: []string{"a.example.com"}}, c)
	if !h.AcceptsAnyHost() || newHandler(t, Options{}, a, b).AcceptsAnyHost() || limited.AcceptsAnyHost() {
		t.Error("who accepts any host")
	}
	a.Hosts = signpost.Hosts{"a.example.com/x"}
	if err := h.Publish(a); err == nil || !strings.Contains(err.Error(), `service at "/a": host "a.example.com/x" is more than a host`) {
		t.Errorf("got %v", err)
	}
}

// hostIn returns the host of the first URL in a manifest.
func hostIn(manifest []byte) string {
	return string(regexp.MustCompile(`https://(.*?)/`).FindSubmatch(manifest)[1])
}

// TestTrustedPeers shows from which peers a forwarded host counts.
func TestTrustedPeers(t *testing.T) {
	h := newHandler(t, Options{TrustedProxies: []netip.Prefix{
		netip.MustParsePrefix("10.1.2.3/8"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("2001:db8::1/128"),
	}}, v1(compile(t, "a")))
	testkit.Cases(t, "testdata/peers.golden", func(peer string) string {
		r, w := newRequest("GET", "own.example", "X-Forwarded-Host", "forwarded.example"), httptest.NewRecorder()
		r.RemoteAddr = peer
		h.ServeHTTP(w, r)
		return hostIn(w.Body.Bytes())
	})
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
