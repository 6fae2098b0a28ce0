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

	"signpost"
	"signpost/internal/testkit"
	"signpost/internal/wire"
)

const manifestPath = "/v1/endpoints-manifest"

// compile returns a template whose endpoints contain the name, to tell templates apart.
func compile(t testing.TB, name string) *signpost.Template {
	t.Helper()
	limit := signpost.Number(signpost.ModifierInput{ID: "limit", Name: "Page size", Key: "limit", Label: "Limit", DefaultValue: 20})
	return testkit.Must(signpost.Compile(signpost.NewManifest(
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds", Name: name, Method: "get", MIMEType: signpost.MIMEJSON, Modifiers: []signpost.Modifier{limit}},
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds/media", Name: name + " media", Method: "get", MIMEType: signpost.MIMEJSON},
		signpost.Endpoint{URL: "https://{{host}}/v1/feeds/series/{{series_id}}/episodes", Name: name + " episodes", Method: "get", MIMEType: signpost.MIMEJSON},
		signpost.Endpoint{URL: "https://third.example.net/feeds?a=1&b=2", Name: name + " of others", Method: "get", MIMEType: signpost.MIMEFeed},
	), signpost.Authentication()))(t)
}

func compileURL(t testing.TB, url string) *signpost.Template {
	t.Helper()
	e := signpost.Endpoint{URL: url, Name: "a", Method: "get", MIMEType: signpost.MIMEJSON}
	return testkit.Must(signpost.Compile(signpost.NewManifest(e)))(t)
}

func v1(template *signpost.Template) Service { return at("", template) }

func at(basePath string, template *signpost.Template) Service {
	return Service{BasePath: basePath, Versions: map[string]*signpost.Template{"v1": template}}
}

func newHandler(t testing.TB, opts Options, services ...Service) *Handler {
	t.Helper()
	return testkit.Must(New(opts, services...))(t)
}

// listen serves the handler on loopback, like the daemon, and returns the address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	l := wire.NewListener(testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t), 0)
	srv := &http.Server{Handler: h, ConnState: l.ConnState}
	l.Answer(srv)
	go srv.Serve(l)
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
	return testkit.Must(io.ReadAll(testkit.Must(gzip.NewReader(bytes.NewReader(a.body)))(t)))(t)
}

// send sends a request with the header lines and checks the invariants of every response.
func send(t testing.TB, address, method, target string, lines ...string) answer {
	t.Helper()
	a := ask(t, address, method+" "+target+"\n"+strings.Join(lines, "\n"))
	checkAnswer(t, a)
	return a
}

// newRequest returns a request for the manifest, with headers as names and values in turn.
func newRequest(method, host string, header ...string) *http.Request {
	r := httptest.NewRequest(method, manifestPath, nil)
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// ask sends a request, given as its first line and headers, on a connection of its own.
func ask(t testing.TB, address, request string) answer {
	t.Helper()
	first, lines, _ := strings.Cut(request, "\n")
	if !strings.Contains(first, " HTTP/") {
		first += " HTTP/1.1"
	}
	method, _, _ := strings.Cut(first, " ")
	conn := testkit.Must(net.Dial("tcp", address))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	head := strings.TrimSuffix(first+"\n"+lines, "\n") + "\n\n"
	testkit.Must(io.WriteString(conn, strings.ReplaceAll(head, "\n", "\r\n")))(t)
	conn.(*net.TCPConn).CloseWrite() // there is no other request, and no body
	raw := testkit.Must(io.ReadAll(conn))(t)
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%v in response %.500q", err, raw)
	}
	return answer{response, testkit.Must(io.ReadAll(response.Body))(t), raw}
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
	want := testkit.Must(template.Render(host))(t)
	testkit.Equal(t, "manifest", string(a.plain(t)), string(want))
}

func TestMounting(t *testing.T) {
	template := compile(t, "a")
	root := newHandler(t, Options{}, at("/", template))
	mux := http.NewServeMux()
	mux.Handle("/feeds/", newHandler(t, Options{}, at("/feeds/", template)))
	mux.Handle("/stripped/", http.StripPrefix("/stripped", root))
	mux.Handle("/", root)
	address := listen(t, mux)
	for _, prefix := range []string{"/feeds", "/stripped", ""} {
		wantManifest(t, send(t, address, "GET", prefix+manifestPath, "Host: feeds.example.com"), template, "feeds.example.com")
	}
}

// checkMessage expects an error: a problem, a colon, and what to do.
func checkMessage(t testing.TB, name string, err error) {
	t.Helper()
	if s := fmt.Sprint(err); err == nil || !strings.Contains(s, ": ") || strings.HasSuffix(s, ".") || strings.Contains(s, "\n") {
		t.Errorf("%s: error %q does not say what to do", name, s)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := []Options{{PublicHost: "Feeds.Example.com:443"}, {AllowedHosts: []string{"*.Example.com.", "[::1]", "bücher.example", "*.bücher.example"}}}
	for _, origin := range []string{"http://localhost:3000", "http://[::1]:3000", "*"} {
		good = append(good, Options{CORSOrigin: origin})
	}
	for _, opts := range good {
		if _, err := New(opts); err != nil {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	bad := []Options{
		{PublicHost: "https://feeds.example.com"},
		{TrustedProxies: []netip.Prefix{{}}}, {TrustedProxies: []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}},
		{CacheBytes: -1}, {CacheControl: "no-cache\r\nEvil: 1"},
	}
	for _, host := range []string{"a b", "*", "*feeds.example.com", "*.*.example.com", "*.192.0.2.1"} {
		bad = append(bad, Options{AllowedHosts: []string{host}})
	}
	const origin = "https://studio.example.com"
	for _, origin := range []string{origin + "/", "https://Studio.example.com", origin + ":443", "ftp://studio.example.com", origin + "\r\nEvil: 1", "null"} {
		bad = append(bad, Options{CORSOrigin: origin})
	}
	for _, opts := range bad {
		h, err := New(opts)
		if h != nil {
			t.Errorf("%+v: New returns a handler", opts)
		}
		checkMessage(t, fmt.Sprintf("%+v", opts), err)
	}
}

func TestPublishIsChecked(t *testing.T) {
	good := compile(t, "a")
	h := newHandler(t, Options{}, v1(good))
	for name, services := range map[string][]Service{
		"version":        {{Versions: map[string]*signpost.Template{"1": good}}},
		"no versions":    {{}},
		"nil":            {v1(nil)},
		"not compiled":   {v1(new(signpost.Template))},
		"foreign":        {{Versions: map[string]*signpost.Template{"v1": good, "v2": good}}},
		"same path":      {at("/a", good), at("/a/", good)},
		"same root":      {at("", good), at("/", good)},
		"relative":       {at("a", good)},
		"good, then bad": {at("/a", good), at("b", good)},
	} {
		checkMessage(t, name, h.Publish(services...))
		testkit.Equal(t, name+": routes", h.Routes(), []string{manifestPath})
	}
	testkit.OK(t, h.Publish(at("/a-b/c.d_e~F0/", good)))
	h.Routes()[0] = "of the caller"
	testkit.Equal(t, "routes", h.Routes(), []string{"/a-b/c.d_e~F0" + manifestPath})
}
