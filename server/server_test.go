package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/wire"
)

const manifestPath = "/v1/endpoints-manifest"

// compile returns a template whose endpoints contain the name, to tell templates apart.
func compile(t testing.TB, name string) *signpost.Template {
	t.Helper()
	limit := signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20})
	template, err := signpost.Compile(signpost.NewManifest(
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds", Name: name, Method: "get", MIMEType: signpost.MIMEJSON, Modifiers: []signpost.Modifier{limit}},
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds/media", Name: name + " media", Method: "get", MIMEType: signpost.MIMEJSON},
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds/series/{{series_id}}/episodes", Name: name + " episodes", Method: "get", MIMEType: signpost.MIMEJSON},
		signpost.Endpoint{URL: "https://third.example.net/feeds?a=1&b=2", Name: name + " of others", Method: "get", MIMEType: signpost.MIMEFeed},
	), signpost.Authentication())
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func v1(template *signpost.Template) Service {
	return Service{Versions: map[string]*signpost.Template{"v1": template}}
}

func newHandler(t testing.TB, opts Options, services ...Service) *Handler {
	t.Helper()
	h, err := New(opts, services...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// listen serves the handler on loopback, like the daemon, and returns the address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ConnContext: wire.Context}
	go srv.Serve(wire.NewListener(l, 0))
	t.Cleanup(func() { srv.Close() })
	return l.Addr().String()
}

// listenPlain is listen without package wire, as where the handler is embedded.
func listenPlain(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// answer is a response with its raw body.
type answer struct {
	*http.Response
	body []byte
	raw  []byte
}

// plain returns the manifest, uncompressed.
func (a answer) plain(t testing.TB) []byte {
	t.Helper()
	if a.Header.Get("Content-Encoding") != "gzip" {
		return a.body
	}
	r, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// exchange sends raw bytes and returns the response unchecked.
func exchange(t testing.TB, address, method, request string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%v in response %.500q", err, raw)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, body, raw}
}

// send sends a request with the header lines and checks the invariants of every response.
func send(t testing.TB, address, method, target string, lines ...string) answer {
	t.Helper()
	head := append([]string{method + " " + target + " HTTP/1.1"}, lines...)
	a := exchange(t, address, method, strings.Join(append(head, "Connection: close", "", ""), "\r\n"))
	checkAnswer(t, a)
	return a
}

func checkAnswer(t testing.TB, a answer) {
	t.Helper()
	want := map[string]string{"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*"}
	length := fmt.Sprint(len(a.body))
	if a.Request.Method == http.MethodHead {
		length = a.Header.Get("Content-Length")
	}
	switch {
	case a.StatusCode >= 400:
		want["Content-Type"] = "application/problem+json"
		want["Cache-Control"] = "no-store"
		want["Content-Length"] = length
		var problem struct {
			Title, Detail string
			Status        int
		}
		if a.Request.Method == http.MethodHead {
			break
		}
		if err := json.Unmarshal(a.body, &problem); err != nil {
			t.Errorf("%v in %q", err, a.body)
		}
		if problem.Status != a.StatusCode || problem.Title != http.StatusText(a.StatusCode) || problem.Detail == "" {
			t.Errorf("problem is %+v with status %d", problem, a.StatusCode)
		}
	case a.StatusCode == http.StatusOK:
		want["Content-Type"] = "application/json"
		want["Content-Length"] = length
		if a.Request.Method == http.MethodGet {
			tag := hashOf(a.plain(t))
			if a.Header.Get("Content-Encoding") == "gzip" {
				tag += "-gzip"
			}
			want["Etag"] = `"` + tag + `"`
		}
	default:
		want["Content-Type"], want["Content-Encoding"] = "", ""
		want["Content-Length"] = ""
		if len(a.body) > 0 {
			t.Errorf("status %d with body %q", a.StatusCode, a.body)
		}
	}
	if a.Request.Method == http.MethodHead && len(a.body) > 0 {
		t.Errorf("the response to HEAD has body %q", a.body)
	}
	for name, value := range want {
		if got := a.Header.Get(name); got != value {
			t.Errorf("status %d with %s %q, want %q", a.StatusCode, name, got, value)
		}
	}
	if a.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("credentials are allowed")
	}
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:hashBytes])
}

func wantStatus(t testing.TB, a answer, status int) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %.500s", a.StatusCode, status, a.body)
	}
}

func wantHeaders(t testing.TB, a answer, want map[string]string) {
	t.Helper()
	got := make(map[string]string)
	for name := range want {
		got[name] = strings.Join(a.Header.Values(name), " | ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func wantManifest(t testing.TB, a answer, template *signpost.Template, host string) {
	t.Helper()
	wantStatus(t, a, http.StatusOK)
	want, err := template.Render(host)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(a.plain(t))); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestGet(t *testing.T) {
	template := compile(t, "a")
	address := listen(t, newHandler(t, Options{}, v1(template)))
	a := send(t, address, "GET", manifestPath+"?host=evil.example", "Host: feeds.example.com")
	wantManifest(t, a, template, "feeds.example.com")
	wantHeaders(t, a, map[string]string{
		"Content-Type":                  "application/json",
		"Content-Length":                fmt.Sprint(len(a.body)),
		"Content-Encoding":              "",
		"ETag":                          `"` + hashOf(a.body) + `"`,
		"Cache-Control":                 "no-cache",
		"Signpost-Revision":             template.Revision(),
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Expose-Headers": "ETag, Signpost-Revision",
		"X-Content-Type-Options":        "nosniff",
		"Vary":                          "Accept-Encoding",
	})

	other := send(t, address, "GET", manifestPath, "Host: other.example.com")
	if other.Header.Get("ETag") == a.Header.Get("ETag") {
		t.Error("two hosts have the same ETag")
	}
	if other.Header.Get("Signpost-Revision") != a.Header.Get("Signpost-Revision") {
		t.Error("two hosts have different revisions")
	}
}

func TestHead(t *testing.T) {
	address := listen(t, newHandler(t, Options{}, v1(compile(t, "a"))))
	for _, encoding := range []string{"identity", "gzip"} {
		lines := []string{"Host: feeds.example.com", "Accept-Encoding: " + encoding}
		get := send(t, address, "GET", manifestPath, lines...)
		head := send(t, address, "HEAD", manifestPath, lines...)
		get.Header.Del("Date")
		head.Header.Del("Date")
		if diff := cmp.Diff(get.Header, head.Header); diff != "" {
			t.Errorf("%s: headers (-GET +HEAD):\n%s", encoding, diff)
		}
	}
}

// TestHeadWritesNoBody checks that HEAD writes no body. net/http would discard it, but other servers might not.
func TestHeadWritesNoBody(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	for _, path := range []string{manifestPath, "/"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("HEAD", path, nil))
		if w.Body.Len() > 0 {
			t.Errorf("%s: %d with body %s", path, w.Code, w.Body)
		}
	}
}

func TestNotModified(t *testing.T) {
	template := compile(t, "a")
	address := listen(t, newHandler(t, Options{CacheControl: "max-age=60"}, v1(template)))
	for _, encoding := range []string{"identity", "gzip"} {
		for _, method := range []string{"GET", "HEAD"} {
			lines := []string{"Host: feeds.example.com", "Accept-Encoding: " + encoding}
			tag := send(t, address, "GET", manifestPath, lines...).Header.Get("ETag")
			a := send(t, address, method, manifestPath, append(lines, "If-None-Match: "+tag)...)
			wantStatus(t, a, http.StatusNotModified)
			wantHeaders(t, a, map[string]string{
				"ETag":                          tag,
				"Cache-Control":                 "max-age=60",
				"Signpost-Revision":             template.Revision(),
				"Vary":                          "Accept-Encoding",
				"Access-Control-Allow-Origin":   "*",
				"Access-Control-Expose-Headers": "ETag, Signpost-Revision",
			})
		}
	}

	tag := send(t, address, "GET", manifestPath, "Host: feeds.example.com").Header.Get("ETag")
	wantStatus(t, send(t, address, "GET", manifestPath, "Host: other.example.com", "If-None-Match: "+tag), http.StatusOK)
	a := send(t, address, "GET", manifestPath, "Host: feeds.example.com", `If-None-Match: "a"`, "If-None-Match: "+tag)
	wantStatus(t, a, http.StatusNotModified)
	a = send(t, address, "GET", manifestPath, "Host: feeds.example.com", "Accept-Encoding: gzip", "If-None-Match: "+tag)
	wantStatus(t, a, http.StatusOK) // another encoding is another representation
	wantHeaders(t, a, map[string]string{"ETag": strings.TrimSuffix(tag, `"`) + `-gzip"`})
}

func TestGzip(t *testing.T) {
	template := compile(t, "a")
	address := listen(t, newHandler(t, Options{}, v1(template)))
	a := send(t, address, "GET", manifestPath, "Host: feeds.example.com", "Accept-Encoding: br, gzip")
	wantManifest(t, a, template, "feeds.example.com")
	wantHeaders(t, a, map[string]string{
		"Content-Encoding": "gzip",
		"Content-Length":   fmt.Sprint(len(a.body)),
		"ETag":             `"` + hashOf(a.plain(t)) + `-gzip"`,
		"Vary":             "Accept-Encoding",
	})
}

func TestPreflight(t *testing.T) {
	address := listen(t, newHandler(t, Options{}, v1(compile(t, "a"))))
	a := send(t, address, "OPTIONS", manifestPath, "Host: feeds.example.com", "Origin: https://studio.example.com",
		"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: if-none-match")
	wantStatus(t, a, http.StatusNoContent)
	wantHeaders(t, a, map[string]string{
		"Allow":                         "GET, HEAD, OPTIONS",
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Allow-Methods":  "GET, HEAD, OPTIONS",
		"Access-Control-Allow-Headers":  "If-None-Match",
		"Access-Control-Expose-Headers": "ETag, Signpost-Revision",
		"Access-Control-Max-Age":        "86400",
	})
	wantStatus(t, send(t, address, "OPTIONS", "/", "Host: feeds.example.com"), http.StatusNotFound)
}

func TestCORSOrigin(t *testing.T) {
	const studio = "https://studio.example.com"
	get := func(origin, method string) http.Header {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, manifestPath, nil)
		r.Header.Set("Origin", "https://evil.example")
		newHandler(t, Options{CORSOrigin: origin}, v1(compile(t, "a"))).ServeHTTP(w, r)
		return w.Header()
	}
	for _, method := range []string{"GET", "OPTIONS", "DELETE"} {
		if got := get(studio, method).Get("Access-Control-Allow-Origin"); got != studio {
			t.Errorf("%s: origin %q, want %q", method, got, studio)
		}
		for name := range get(CORSNone, method) {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s is set without CORS", method, name)
			}
		}
	}
}

func TestMethodNotAllowed(t *testing.T) {
	address := listen(t, newHandler(t, Options{}, v1(compile(t, "a"))))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "get", "EVIL"} {
		a := send(t, address, method, manifestPath, "Host: feeds.example.com", "Content-Length: 0")
		wantStatus(t, a, http.StatusMethodNotAllowed)
		wantHeaders(t, a, map[string]string{"Allow": "GET, HEAD, OPTIONS"})
	}
}

func TestNotFound(t *testing.T) {
	h := newHandler(t, Options{},
		Service{BasePath: "/feeds", Versions: map[string]*signpost.Template{"v10": compileURL(t, "https://{{host}}/v10"), "v2": compileURL(t, "https://{{host}}/v2")}})
	address := listen(t, h)
	for _, path := range []string{"/", "/evil", "/feeds", "/v1/endpoints-manifest", "/feeds/v2/endpoints-manifest/",
		"/feeds/v1/endpoints-manifest", "/feeds/v2//endpoints-manifest", "/feeds/../feeds/v2/endpoints-manifest", "/%22%3Cevil%3E"} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			a := send(t, address, method, path, "Host: evil.example", "Content-Length: 0")
			wantStatus(t, a, http.StatusNotFound)
			if bytes.Contains(a.raw, []byte("evil")) {
				t.Errorf("%s %s: the response repeats the request: %q", method, path, a.raw)
			}
			if method == "HEAD" {
				continue
			}
			var problem struct{ Manifests []string }
			if err := json.Unmarshal(a.body, &problem); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"/feeds/v2/endpoints-manifest", "/feeds/v10/endpoints-manifest"}, problem.Manifests); diff != "" {
				t.Errorf("manifests (-want +got):\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff(h.Routes(), []string{"/feeds/v2/endpoints-manifest", "/feeds/v10/endpoints-manifest"}); diff != "" {
		t.Errorf("routes (-got +want):\n%s", diff)
	}
}

func TestNotFoundIsBounded(t *testing.T) {
	template := compile(t, "a")
	var services []Service
	for i := range 10 * maxListed {
		services = append(services, Service{BasePath: fmt.Sprintf("/s%03d", i), Versions: map[string]*signpost.Template{"v1": template}})
	}
	a := send(t, listen(t, newHandler(t, Options{}, services...)), "GET", "/", "Host: feeds.example.com")
	wantStatus(t, a, http.StatusNotFound)
	if n := bytes.Count(a.body, []byte("endpoints-manifest\"")); n != maxListed || !bytes.Contains(a.body, []byte("180 more")) {
		t.Errorf("%d manifests listed, want %d: %s", n, maxListed, a.body)
	}
}

// TestBeforeTheFirstPublish checks that clients are told to retry before anything is published.
func TestBeforeTheFirstPublish(t *testing.T) {
	h := newHandler(t, Options{})
	for _, path := range []string{"/", manifestPath} {
		a := send(t, listen(t, h), "GET", path, "Host: feeds.example.com")
		wantStatus(t, a, http.StatusServiceUnavailable)
		if got := a.Header.Get("Retry-After"); got != "10" {
			t.Errorf("Retry-After is %q", got)
		}
		checkAnswer(t, a)
	}
	if err := h.Publish(v1(compile(t, "a"))); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, send(t, listen(t, h), "GET", "/", "Host: feeds.example.com"), http.StatusNotFound)
}

func TestMounting(t *testing.T) {
	template := compile(t, "a")
	under := newHandler(t, Options{}, Service{BasePath: "/feeds/", Versions: map[string]*signpost.Template{"v1": template}})
	root := newHandler(t, Options{}, Service{BasePath: "/", Versions: map[string]*signpost.Template{"v1": template}})
	mux := http.NewServeMux()
	mux.Handle("/feeds/", under)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", root))
	mux.Handle("/", root)
	address := listen(t, mux)
	for _, target := range []string{"/feeds" + manifestPath, "/stripped" + manifestPath, manifestPath, "/v1/endpoints%2Dmanifest"} {
		wantManifest(t, send(t, address, "GET", target, "Host: feeds.example.com"), template, "feeds.example.com")
	}
	wantStatus(t, send(t, address, "GET", "/feeds/v2/endpoints-manifest", "Host: feeds.example.com"), http.StatusNotFound)
}

func TestVersions(t *testing.T) {
	one, two := compile(t, "one"), compileURL(t, "https://{{host}}/v2/feeds")
	h := newHandler(t, Options{}, Service{Versions: map[string]*signpost.Template{"v1": one, "v2": two}})
	address := listen(t, h)
	wantManifest(t, send(t, address, "GET", "/v1/endpoints-manifest", "Host: feeds.example.com"), one, "feeds.example.com")
	wantManifest(t, send(t, address, "GET", "/v2/endpoints-manifest", "Host: feeds.example.com"), two, "feeds.example.com")
}

func compileURL(t testing.TB, url string) *signpost.Template {
	t.Helper()
	template, err := signpost.Compile(signpost.NewManifest(
		signpost.Endpoint{URL: url, Name: "a", Method: "get", MIMEType: signpost.MIMEJSON}))
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// checkMessage expects a problem, a colon, and what to do.
func checkMessage(t testing.TB, err error) {
	t.Helper()
	if s := err.Error(); !strings.Contains(s, ": ") || strings.HasSuffix(s, ".") || strings.Contains(s, "\n") {
		t.Errorf("error %q does not say what to do", s)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	prefix := netip.MustParsePrefix("::ffff:10.0.0.0/104")
	for name, opts := range map[string]Options{
		"public host":           {PublicHost: "https://feeds.example.com"},
		"public host refused":   {PublicHost: "feeds.example.com", AllowedHosts: []string{"*.feeds.example.com"}},
		"allowed host":          {AllowedHosts: []string{"a b"}},
		"allowed all":           {AllowedHosts: []string{"*"}},
		"allowed glob":          {AllowedHosts: []string{"*feeds.example.com"}},
		"allowed twice":         {AllowedHosts: []string{"*.*.example.com"}},
		"allowed below address": {AllowedHosts: []string{"*.192.0.2.1"}},
		"trusted nothing":       {TrustedProxies: []netip.Prefix{{}}},
		"trusted mapped":        {TrustedProxies: []netip.Prefix{prefix}},
		"cache":                 {CacheBytes: -1},
		"in flight":             {InFlightBytes: -1},
		"wait":                  {InFlightWait: -1},
		"body":                  {MaxBodyBytes: -1},
		"cache control":         {CacheControl: "no-cache\r\nEvil: 1"},
		"origin path":           {CORSOrigin: "https://studio.example.com/"},
		"origin capitals":       {CORSOrigin: "https://Studio.example.com"},
		"origin usual port":     {CORSOrigin: "https://studio.example.com:443"},
		"origin scheme":         {CORSOrigin: "ftp://studio.example.com"},
		"origin line":           {CORSOrigin: "https://studio.example.com\r\nEvil: 1"},
		"origin null":           {CORSOrigin: "null"},
	} {
		h, err := New(opts)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if h != nil {
			t.Errorf("%s: New returns a handler and an error", name)
		}
		checkMessage(t, err)
	}
	for name, opts := range map[string]Options{
		"public host": {PublicHost: "Feeds.Example.com:443"},
		"pattern":     {AllowedHosts: []string{"*.Example.com.", "[::1]", "bücher.example", "*.bücher.example"}},
		"origin port": {CORSOrigin: "http://localhost:3000"},
		"origin IPv6": {CORSOrigin: "http://[::1]:3000"},
		"star":        {CORSOrigin: "*"},
	} {
		if _, err := New(opts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPublishIsChecked(t *testing.T) {
	good := compile(t, "a")
	h := newHandler(t, Options{}, v1(good))
	one := map[string]*signpost.Template{"v1": good}
	for name, services := range map[string][]Service{
		"version":        {{Versions: map[string]*signpost.Template{"1": good}}},
		"no versions":    {{}},
		"nil":            {{Versions: map[string]*signpost.Template{"v1": nil}}},
		"not compiled":   {{Versions: map[string]*signpost.Template{"v1": {}}}},
		"foreign":        {{Versions: map[string]*signpost.Template{"v1": good, "v2": good}}},
		"same path":      {{BasePath: "/a", Versions: one}, {BasePath: "/a/", Versions: one}},
		"same root":      {{BasePath: "", Versions: one}, {BasePath: "/", Versions: one}},
		"relative":       {{BasePath: "a", Versions: one}},
		"good, then bad": {{BasePath: "/a", Versions: one}, {BasePath: "b", Versions: one}},
	} {
		err := h.Publish(services...)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		checkMessage(t, err)
		if diff := cmp.Diff([]string{manifestPath}, h.Routes()); diff != "" {
			t.Errorf("%s: routes changed (-want +got):\n%s", name, diff)
		}
	}
	if err := h.Publish(Service{BasePath: "/a-b/c.d_e~F0/", Versions: one}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"/a-b/c.d_e~F0" + manifestPath}, h.Routes()); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestRoutesAreACopy(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	h.Routes()[0] = "/evil"
	if h.Routes()[0] != manifestPath {
		t.Error("callers can change the routes")
	}
}

func TestBodyIsRejected(t *testing.T) {
	for _, test := range []struct {
		limit   int64
		method  string
		path    string
		request string
		status  int
	}{
		{0, "GET", manifestPath, "Content-Length: 0\r\n\r\n", 200},
		{0, "GET", manifestPath, "Content-Length: 1\r\n\r\nx", 413},
		{0, "GET", manifestPath, "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413},
		{4, "GET", manifestPath, "Content-Length: 4\r\n\r\nbody", 200},
		{4, "GET", manifestPath, "Content-Length: 5\r\n\r\nbody!", 413},
		{0, "POST", manifestPath, "Content-Length: 1000\r\n\r\n", 405}, // immediately: the body never arrives
		{0, "GET", "/nowhere", "Content-Length: 1000\r\n\r\n", 404},
	} {
		address := listen(t, newHandler(t, Options{MaxBodyBytes: test.limit}, v1(compile(t, "a"))))
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: feeds.example.com\r\n%s", test.method, test.path, test.request)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != test.status {
			t.Errorf("limit %d, %q: %d, not %d", test.limit, test.request, res.StatusCode, test.status)
		}
		if test.status >= 400 && (res.Header.Get("Content-Type") != "application/problem+json" || !res.Close) {
			t.Errorf("%q: the response has the headers %v", test.request, res.Header)
		}
	}
}
