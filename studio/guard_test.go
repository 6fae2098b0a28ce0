package studio_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"signpost/internal/testkit"
	"signpost/studio"
)

// newStudio returns a studio with a file, configured for a listen address.
func newStudio(t *testing.T, listen string) *studio.Studio {
	t.Helper()
	s := testkit.Must(studio.New(studio.Options{Listen: netip.MustParseAddrPort(listen)}))(t)
	show(s, feedsYAML)
	return s
}

// send sends a request to a host, with headers.
func send(s *studio.Studio, r *http.Request, host string, header http.Header) *httptest.ResponseRecorder {
	r.Host = host
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestGuard sends to every route what browsers send on behalf of other sites.
func TestGuard(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "127.0.0.1:8079")
	over, cancel := context.WithCancel(t.Context())
	cancel() // ends the event stream immediately
	routes := map[string]string{
		"/": "GET", "/studio.js": "GET", "/api/state": "GET", "/api/events": "GET", "/films/v1/endpoints-manifest": "GET", "/nowhere": "GET",
		"/api/register": "POST", "/api/update": "POST", "/api/remove": "POST", "/api/changes": "POST", "/api/accept": "POST", "/api/check": "POST", "/api/fix": "POST", "/api/text": "POST", "/api/picture": "GET", "/api/compose": "POST",
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
			w := send(s, httptest.NewRequestWithContext(over, method, path, strings.NewReader("{}")), test.host, test.header)
			if w.Code != test.status {
				t.Errorf("%s: %s %s: status %d, not %d", test.name, method, path, w.Code, test.status)
			}
			checkHeaders(t, w.Header())
			testkit.Equal(t, test.name+": sites that may read the response", w.Header().Get("Access-Control-Allow-Origin"), "")
		}
	}
}

// TestGuardToken checks who gets in with a token in the options, and what links from elsewhere lead to.
func TestGuardToken(t *testing.T) {
	t.Parallel()
	opts := studio.Options{Listen: netip.MustParseAddrPort("127.0.0.1:8079"), Token: "s3cret", Once: "f1rst"}
	s := testkit.Must(studio.New(opts))(t)
	show(s, feedsYAML)
	const cookie = "signpost-studio-8079=s3cret"
	visit := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	with := func(h http.Header, name string, values ...string) http.Header {
		h = maps.Clone(h)
		h[name] = values
		return h
	}
	in := http.Header{"Cookie": {cookie}}
	for _, test := range []struct {
		name, request string
		header        http.Header
		status        int
	}{
		{"the address that is printed", "GET /?token=s3cret", nil, 303},
		{"the same in a chat", "GET /?token=s3cret", visit, 303},
		{"another token", "GET /?token=guessed", nil, 401},
		{"the address that the studio opens", "GET /?token=f1rst", nil, 303},
		{"the same read off a command line", "GET /?token=f1rst", nil, 401},
		{"the same by a program", "GET /api/state?token=f1rst", nil, 401},
		{"no token", "GET /", nil, 401},
		{"with the cookie", "GET /", in, 200},
		{"the cookie of another program besides", "GET /", http.Header{"Cookie": {"signpost-studio-8079=other; " + cookie}}, 200},
		{"the cookie of another port", "GET /", http.Header{"Cookie": {"signpost-studio-8080=s3cret"}}, 401},
		{"a script of the page", "GET /studio.js", nil, 200},
		{"a link from elsewhere", "GET /", with(visit, "Cookie", cookie), 200},
		{"a link from elsewhere in a new browser", "GET /", visit, 401},
		{"a frame elsewhere", "GET /", with(with(visit, "Cookie", cookie), "Sec-Fetch-Dest", "iframe"), 403},
		{"a script elsewhere", "GET /", with(with(visit, "Cookie", cookie), "Sec-Fetch-Mode", "cors"), 403},
		{"a form elsewhere", "POST /", with(with(visit, "Cookie", cookie), "Origin", "https://evil.example"), 403},
		{"a link to the API", "GET /api/state", with(visit, "Cookie", cookie), 403},
		{"a link to a manifest", "GET /films/v1/endpoints-manifest", with(visit, "Cookie", cookie), 403},
		{"the API", "GET /api/state", in, 200},
		{"a program with the token", "GET /api/state?token=s3cret", nil, 200},
		{"another user's program", "GET /api/state", nil, 401},
		{"another user's program that writes", "POST /api/fix", nil, 401},
		{"a manifest for another user", "GET /films/v1/endpoints-manifest", nil, 401},
		{"a manifest", "GET /films/v1/endpoints-manifest", in, 200},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		w := send(s, httptest.NewRequest(method, path, strings.NewReader("{}")), "127.0.0.1:8079", test.header)
		testkit.Equal(t, test.name, w.Code, test.status)
		checkHeaders(t, w.Header())
		if w.Code == 303 {
			testkit.Equal(t, test.name, strings.HasPrefix(w.Header().Get("Set-Cookie"), cookie+";"), true)
		}
		if w.Code >= 400 && (strings.Contains(w.Body.String(), "s3cret") || strings.Contains(w.Body.String(), "Episodes")) {
			t.Errorf("%s: the response has what is secret: %s", test.name, w.Body)
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
		header := http.Header{"Sec-Fetch-Site": {test.site}}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}
		w := send(newStudio(t, test.listen), httptest.NewRequest("GET", "/", nil), test.host, header)
		testkit.Equal(t, test.host, w.Code, http.StatusOK)
		checkHeaders(t, w.Header())
	}
}

func checkHeaders(t *testing.T, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		testkit.Equal(t, name, h.Get(name), want)
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
		{"another field", "application/json", `{"source":""}`, 400},
		{"too much", "application/json", `{"feed":"` + strings.Repeat("a", 9<<20) + `"}`, 413},
		{"JSON", "application/json; charset=utf-8", `{"feed":"https://fine.example"}`, 200},
	} {
		r := httptest.NewRequest("POST", "/api/match", strings.NewReader(test.body))
		w := send(s, r, "127.0.0.1:8079", http.Header{"Content-Type": {test.contentType}})
		if w.Code != test.status {
			t.Errorf("%s: status %d, not %d: %s", test.name, w.Code, test.status, w.Body)
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	s := newStudio(t, "127.0.0.1:8079")
	do := func(method, path, header, value string) *httptest.ResponseRecorder {
		return send(s, httptest.NewRequest(method, path, nil), "127.0.0.1:8079", http.Header{header: {value}})
	}
	for path, contentType := range map[string]string{
		"/studio.css": "text/css; charset=utf-8", "/studio.js": "text/javascript; charset=utf-8",
		"/signpost.svg": "image/svg+xml", "/chevron.svg": "image/svg+xml",
	} {
		w := do("GET", path, "Accept", "*/*")
		if w.Code != 200 || w.Header().Get("Content-Type") != contentType || w.Body.Len() == 0 {
			t.Errorf("%s: status %d, type %q, %d bytes", path, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
		if again := do("GET", path, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: status %d", path, again.Code)
		}
	}
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("assets %v: %v", files, err)
	}
	for _, file := range files {
		for line := range strings.Lines(string(testkit.Must(os.ReadFile(file))(t))) {
			if utf8.RuneCountInString(line) > 121 && strings.HasSuffix(file, ".js") {
				t.Errorf("%s has a line beyond 120 characters: %s", file, line)
			}
			if outside.MatchString(line) && !strings.Contains(line, "placeholder: ") && !strings.Contains(line, "//www.w3.org/2000/svg") {
				t.Errorf("%s: %s", file, strings.TrimSpace(line))
			}
		}
	}
	// Compressed, it is another representation. The page has its state in it, as data.
	plain, small := do("GET", "/studio.js", "Accept", "*/*"), do("GET", "/studio.js", "Accept-Encoding", "gzip")
	if small.Body.Len() >= plain.Body.Len() || small.Header().Get("ETag") == plain.Header().Get("ETag") || small.Header().Get("Vary") != "Accept-Encoding" {
		t.Errorf("gzip: %d bytes, headers %v", small.Body.Len(), small.Header())
	}
	show(s, strings.Replace(feedsYAML, "name: Feeds\n", "name: </script><script>alert(1)</script>\n", 1))
	w := do("GET", "/", "Accept", "*/*")
	testkit.Equal(t, "type of the page", w.Header().Get("Content-Type"), "text/html; charset=utf-8")
	testkit.Equal(t, "scripts in the page", strings.Count(w.Body.String(), "<script"), 2)
	for _, path := range []string{"/index.html", "/locked.html", "/store.js", "/assets/studio.js", "/api/", "/api/register"} {
		testkit.Equal(t, path, do("GET", path, "Accept", "*/*").Code, http.StatusNotFound)
	}
	if w := do("PUT", "/", "Accept", "*/*"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("PUT: status %d", w.Code)
	}
}

// outside matches what leads out of the page, or makes markup of text.
var outside = regexp.MustCompile(`https?://|innerHTML|insertAdjacentHTML|document\.write|eval\(`)
