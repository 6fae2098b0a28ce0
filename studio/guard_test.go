package studio_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"signpost/studio"
)

// newStudio returns a studio with a file, configured for a listen address.
func newStudio(t *testing.T, listen string) *studio.Studio {
	t.Helper()
	s, err := studio.New(studio.Options{Listen: netip.MustParseAddrPort(listen)})
	if err != nil {
		t.Fatal(err)
	}
	show(s, feedsYAML)
	return s
}

// TestGuard sends to every route what browsers send on behalf of other sites.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "127.0.0.1:8079")
	over, cancel := context.WithCancel(t.Context())
	cancel() // ends the event stream immediately
	routes := map[string]string{
		"/": "GET", "/studio.js": "GET", "/api/state": "GET", "/api/events": "GET", "/films/v1/endpoints-manifest": "GET", "/nowhere": "GET",
		"/api/register": "POST", "/api/update": "POST", "/api/remove": "POST", "/api/changes": "POST", "/api/accept": "POST", "/api/check": "POST", "/api/base": "POST", "/api/fix": "POST", "/api/text": "POST", "/api/picture": "GET", "/api/compose": "POST",
		"/api/send": "POST", "/api/match": "POST",
	}
	for _, test := range []struct {
		name   string
		host   string
		header http.Header
		status int
	}{
		{"another name that resolves to loopback", "evil.example:8079", nil, 421},
		{"a name with the same suffix", "evil.localhost:8079", nil, 421},
		{"another port", "127.0.0.1:8080", nil, 421},
		{"another loopback address", "127.0.0.2:8079", nil, 421},
		{"no host", "", nil, 421},
		{"another site", "127.0.0.1:8079", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"another port of this machine", "localhost:8079", http.Header{"Origin": {"http://localhost:3000"}}, 403},
		{"a sandboxed frame", "localhost:8079", http.Header{"Origin": {"null"}}, 403},
		{"two origins", "localhost:8079", http.Header{"Origin": {"http://localhost:8079", "https://evil.example"}}, 403},
		{"a cross-site request without an origin", "localhost:8079", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"a same-site request", "localhost:8079", http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"two sites", "localhost:8079", http.Header{"Sec-Fetch-Site": {"same-origin", "cross-site"}}, 403},
	} {
		for path, method := range routes {
			r := httptest.NewRequestWithContext(over, method, path, strings.NewReader("{}"))
			r.Host = test.host
			if test.header != nil {
				r.Header = test.header.Clone()
			}
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != test.status {
				t.Errorf("%s: %s %s: status %d, not %d", test.name, method, path, w.Code, test.status)
			}
			checkHeaders(t, w.Header())
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: other sites may read the response", test.name)
			}
		}
	}
}

// TestGuardAcceptsTheUser opens the page by every address that it has.
func TestGuardAcceptsTheUser(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ listen, host, origin, site string }{
		{"127.0.0.1:8079", "127.0.0.1:8079", "", "none"},
		{"127.0.0.1:8079", "LocalHost:8079", "http://localhost:8079", "same-origin"},
		{"[::1]:8079", "[::1]:8079", "http://[::1]:8079", "same-origin"},
		{"[::1]:80", "[::1]", "", "none"},
		{"127.0.0.1:80", "localhost", "http://localhost", "same-origin"},
		{"127.0.0.1:80", "127.0.0.1:80", "", "none"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = test.host
		r.Header.Set("Sec-Fetch-Site", test.site)
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		newStudio(t, test.listen).ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%+v: status %d", test, w.Code)
		}
		checkHeaders(t, w.Header())
	}
}

func checkHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(h.Get("Content-Security-Policy"), directive) {
			t.Errorf("the Content-Security-Policy lacks %s: %q", directive, h.Get("Content-Security-Policy"))
		}
	}
	if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
		t.Error("the Content-Security-Policy is unsafe")
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %q, not %q", name, h.Get(name), want)
		}
	}
}

// TestBodies sends bodies that are not the page's JSON, such as what a form on another site can send.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "127.0.0.1:8079")
	for _, test := range []struct {
		name, contentType, body string
		status                  int
	}{
		{"a form", "application/x-www-form-urlencoded", "source=evil.example", 415},
		{"a form that looks like JSON", "text/plain", `{"source":"evil.example"}`, 415},
		{"no JSON", "application/json", "source", 400},
		{"another field", "application/json", `{"sources":""}`, 400},
		{"too much", "application/json", `{"source":"` + strings.Repeat("a", 33<<20) + `"}`, 413},
		{"JSON", "application/json; charset=utf-8", `{"source":"fine.example"}`, 200},
	} {
		r := httptest.NewRequest("POST", "/api/match", strings.NewReader(test.body))
		r.Host = "127.0.0.1:8079"
		r.Header.Set("Content-Type", test.contentType)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s: status %d, not %d: %s", test.name, w.Code, test.status, w.Body)
		}
		if strings.Contains(w.Body.String(), "evil.example") {
			t.Errorf("%s: the request changed the host", test.name)
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "127.0.0.1:8079")
	do := func(method, path, header, value string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Host = "127.0.0.1:8079"
		r.Header.Set(header, value)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	types := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("assets %v: %v", files, err)
	}
	for _, file := range files {
		path := "/" + strings.TrimSuffix(filepath.Base(file), "index.html")
		w := do("GET", path, "Accept", "*/*")
		body := w.Body.String()
		if w.Code != 200 || w.Header().Get("Content-Type") != types[filepath.Ext(file)] || body == "" {
			t.Errorf("%s: status %d, type %q, %d bytes", path, w.Code, w.Header().Get("Content-Type"), len(body))
		}
		if unzip, err := gzip.NewReader(do("GET", path, "Accept-Encoding", "gzip").Body); err != nil {
			t.Errorf("%s, compressed: %v", path, err)
		} else if plain, err := io.ReadAll(unzip); err != nil || string(plain) != body {
			t.Errorf("%s, compressed, is another text: %v", path, err)
		}
		if again := do("GET", path, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: status %d", path, again.Code)
		}
		for line := range strings.Lines(body) {
			if utf8.RuneCountInString(line) > 141 {
				t.Errorf("%s has a line beyond 140 characters: %s", path, line)
			}
			if outside.MatchString(line) && !strings.Contains(line, "placeholder: ") && !strings.Contains(line, "xmlns=") {
				t.Errorf("%s: %s", path, strings.TrimSpace(line))
			}
		}
	}
	for _, path := range []string{"/index.html", "/assets/studio.js", "/api/", "/api/register"} {
		if w := do("GET", path, "Accept", "*/*"); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
	}
	if w := do("PUT", "/", "Accept", "*/*"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("PUT: status %d", w.Code)
	}
}

// outside matches what leads out of the page, or makes markup of text.
var outside = regexp.MustCompile(`https?://|innerHTML|insertAdjacentHTML|document\.write|eval\(`)
