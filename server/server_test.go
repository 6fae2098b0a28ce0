package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
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

// send sends a request with the header lines and checks the invariants of every response.
func send(t testing.TB, address, method, target string, lines ...string) answer {
	t.Helper()
	a := ask(t, address, method+" "+target+"\n"+strings.Join(lines, "\n"))
	checkAnswer(t, a)
	return a
}

// ask sends a request, given as its first line and headers, on a connection of its own.
func ask(t testing.TB, address, request string) answer {
	t.Helper()
	first, lines, _ := strings.Cut(request, "\n")
	if !strings.Contains(first, " HTTP/") {
		first += " HTTP/1.1"
	}
	method, _, _ := strings.Cut(first, " ")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	head := strings.TrimSuffix(first+"\n"+lines, "\n") + "\n\n"
	if _, err := io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")); err != nil {
		t.Fatal(err)
	}
	conn.(*net.TCPConn).CloseWrite() // there is no other request, and no body
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

// checkAnswer checks what is true of every response. TestResponses shows the rest.
func checkAnswer(t testing.TB, a answer) {
	t.Helper()
	want := map[string]string{"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": ""}
	switch {
	case a.StatusCode >= 400:
		want["Content-Type"], want["Cache-Control"] = "application/problem+json", "no-store"
	case a.StatusCode == http.StatusOK && a.Request.Method == http.MethodGet:
		sum := sha256.Sum256(a.plain(t))
		tag := hex.EncodeToString(sum[:hashBytes])
		if a.Header.Get("Content-Encoding") == "gzip" {
			tag += "-gzip"
		}
		want["Content-Type"], want["Content-Length"], want["Etag"] = "application/json", fmt.Sprint(len(a.body)), `"`+tag+`"`
	}
	for name, value := range want {
		if got := a.Header.Get(name); got != value {
			t.Errorf("status %d with %s %q, want %q", a.StatusCode, name, got, value)
		}
	}
}

func wantStatus(t testing.TB, a answer, status int) {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d: %.500s", a.StatusCode, status, a.body)
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
	h.Routes()[0] = "of the caller"
	if diff := cmp.Diff([]string{"/a-b/c.d_e~F0" + manifestPath}, h.Routes()); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}
