package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/foreign"
	"signpost/server"
)

// asked is the hostname of the test servers.
const asked = "feeds.example.com"

// authority is a certificate authority for one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(2, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert, key, pool}
}

// issue returns a certificate for a name.
func (a *authority) issue(t *testing.T, name string, from, until time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotBefore: from, NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS starts a server on loopback with a certificate.
func serveTLS(t *testing.T, cert tls.Certificate, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// serveHTTP starts a server on loopback.
func serveHTTP(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = quiet
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// network returns a transport that maps hosts such as "feeds.example.com:443" to servers on loopback.
func network(t *testing.T, roots *x509.CertPool, servers map[string]*httptest.Server) *http.Transport {
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if s := servers[addr]; s != nil {
				addr = s.Listener.Addr().String()
			} else if host, _, _ := net.SplitHostPort(addr); host != "127.0.0.1" {
				return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// patience is the timeout of requests, which a busy machine does not exceed.
const patience = 10 * time.Minute

// site serves asked over https with a valid certificate.
func site(t *testing.T, handler http.Handler) Options {
	t.Helper()
	ca := newAuthority(t)
	s := serveTLS(t, ca.issue(t, asked, time.Now().AddDate(0, -1, 0), time.Now().AddDate(0, 2, 0)), handler)
	return Options{Transport: network(t, ca.pool, map[string]*httptest.Server{asked + ":443": s}), Timeout: patience}
}

// stalling returns options with which requests for a path get no response, or only the beginning of one, until their
// time is over. No time passes.
func stalling(opts Options, path string, begun bool) Options {
	base := opts.Transport
	opts.expire = func(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
		return deadline{ctx, make(chan struct{})}, func() {}
	}
	opts.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		ctx := req.Context().(deadline)
		switch {
		case req.URL.Path != path:
			return base.RoundTrip(req)
		case begun:
			body := io.MultiReader(strings.NewReader(`{"endpoint`), readFunc(func() error { close(ctx.passed); return ctx.Err() }))
			return &http.Response{StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body)}, nil
		}
		close(ctx.passed)
		return nil, ctx.Err()
	})
	return opts
}

// deadline is a context that ends when passed is closed.
type deadline struct {
	context.Context
	passed chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.passed }

func (d deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return d.Context.Err()
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type readFunc func() error

func (f readFunc) Read([]byte) (int, error) { return 0, f() }

const address = "https://" + asked + "/v1/endpoints-manifest"

// check runs a check and verifies the invariants of its report.
func check(t *testing.T, address string, opts CheckOptions) Report {
	t.Helper()
	report, err := Check(t.Context(), address, opts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	failed := false
	for _, r := range report.Results {
		got = append(got, r.Check)
		failed = failed || r.Status == Failed
		if r.Message == "" {
			t.Errorf("%+v has no message", r)
		}
		if (r.Status == Failed || r.Status == Warned) && r.Hint == "" {
			t.Errorf("%+v does not say what to do", r)
		}
		if strings.Contains(r.Message+r.Hint, "%!") {
			t.Errorf("%+v is not formatted well", r)
		}
	}
	if diff := cmp.Diff(Checks(), slices.Compact(got)); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if report.OK == failed {
		t.Errorf("ok is %v", report.OK)
	}
	return report
}

// one returns the only result of a check.
func one(t *testing.T, report Report, name string) Result {
	t.Helper()
	var found []Result
	for _, r := range report.Results {
		if r.Check == name {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d results for %s: %+v", len(found), name, found)
	}
	return found[0]
}

// expect compares a result with "status: part of the message", and the hint with a part of it.
func expect(t *testing.T, r Result, want, hint string) {
	t.Helper()
	status, message, _ := strings.Cut(want, ": ")
	if string(r.Status) != status || !strings.Contains(r.Message, message) || !strings.Contains(r.Hint, hint) {
		t.Errorf("got  %s: %s\n     hint %q\nwant %s\n     hint %q", r.Status, r.Message, r.Hint, want, hint)
	}
}

func manifestOf(urls ...string) string {
	var m signpost.Manifest
	for i, u := range urls {
		m.Endpoints = append(m.Endpoints, endpoint(u, func(e *signpost.Endpoint) { e.Name = fmt.Sprintf("Feeds %d", i) }))
	}
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// answer returns a handler that always sends the same response. Headers are "Name: value".
func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Add(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

const jsonType = "Content-Type: application/json"

// TestCheckSignpost checks Signpost's own server.
func TestCheckSignpost(t *testing.T) {
	manifest := signpost.NewManifest(endpoint("https://{{host}}/v1/feeds"))
	v1, err := signpost.Compile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", handler)
	mux.Handle("/v1/feeds", answer(200, `{"entries": []}`, jsonType, "Access-Control-Allow-Origin: *"))
	report := check(t, address, CheckOptions{Options: site(t, mux)})
	if !report.OK || report.Address != address {
		t.Errorf("%+v", report)
	}
	for _, r := range report.Results {
		if (r.Status != Passed || r.Hint != "") && r.Check != "feed-cache" {
			t.Errorf("%+v", r)
		}
	}
	out, err := json.Marshal(one(t, report, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"check":"probe","status":"passed","endpoint":"https://feeds.example.com/v1/feeds","message":"200 OK, application/json","hint":""}`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}

func TestCheckAddress(t *testing.T) {
	for _, address := range []string{"", "feeds.example.com", "ftp://feeds.example.com/v1", "https://feeds.example.com", "https:///v1"} {
		if report, err := Check(t.Context(), address, CheckOptions{}); err == nil {
			t.Errorf("%q: %+v", address, report)
		}
	}
}

func TestCheckCertificate(t *testing.T) {
	ca := newAuthority(t)
	now := time.Now()
	manifest := answer(200, manifestOf("https://feeds.example.com/v1/feeds"), jsonType)
	for _, test := range []struct {
		name        string
		cert        tls.Certificate
		roots       *x509.CertPool
		want, hint  string
		goesOn      bool
		plainServer bool
	}{
		{name: "valid", cert: ca.issue(t, asked, now.AddDate(0, -1, 0), now.AddDate(0, 2, 0)), roots: ca.pool, goesOn: true,
			want: "passed: it is valid until " + now.AddDate(0, 2, 0).UTC().Format(time.DateOnly)},
		{name: "valid for days", cert: ca.issue(t, asked, now.AddDate(0, 0, -3), now.AddDate(0, 0, 3)), roots: ca.pool, goesOn: true, want: "passed: it is valid until"},
		{name: "soon", cert: ca.issue(t, asked, now.AddDate(-1, 0, 0), now.AddDate(0, 0, 9)), roots: ca.pool, goesOn: true, want: "warned: it expires soon, on ", hint: "renew it"},
		{name: "expired", cert: ca.issue(t, asked, now.AddDate(0, -2, 0), now.Add(-time.Hour)), roots: ca.pool,
			want: "failed: the certificate is not trusted: certificate has expired", hint: "renew it"},
		{name: "not yet valid", cert: ca.issue(t, asked, now.Add(time.Hour), now.AddDate(0, 2, 0)), roots: ca.pool, want: "failed: the certificate is not trusted: certificate has expired or is not yet valid", hint: "clocks"},
		{name: "another name", cert: ca.issue(t, "other.example.com", now.AddDate(0, -1, 0), now.AddDate(0, 2, 0)), roots: ca.pool,
			want: `failed: the certificate is not trusted: certificate is valid for other.example.com, not feeds.example.com`, hint: "includes this name"},
		{name: "unknown authority", cert: ca.issue(t, asked, now.AddDate(0, -1, 0), now.AddDate(0, 2, 0)), roots: x509.NewCertPool(),
			want: `failed: the certificate is from an authority that clients do not trust`, hint: "the whole chain"},
		{name: "no TLS", plainServer: true, want: "failed: the server does not speak TLS", hint: "another port"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s *httptest.Server
			if test.plainServer {
				s = serveHTTP(t, manifest)
			} else {
				s = serveTLS(t, test.cert, manifest)
			}
			opts := Options{Transport: network(t, test.roots, map[string]*httptest.Server{asked + ":443": s})}
			report := check(t, address, CheckOptions{Options: opts, SkipProbes: true})
			expect(t, one(t, report, "reachable"), "passed: feeds.example.com answers", "")
			expect(t, one(t, report, "certificate"), test.want, test.hint)
			if test.goesOn {
				expect(t, one(t, report, "status"), "passed: 200 OK", "")
			} else {
				expect(t, one(t, report, "redirect"), "skipped: no secure connection", "")
			}
		})
	}

	t.Run("no certificate for this host", func(t *testing.T) {
		s := httptest.NewUnstartedServer(manifest)
		s.Listener = tls.NewListener(s.Listener, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }})
		s.Config.ErrorLog = quiet
		s.Start()
		defer s.Close()
		report := check(t, address, CheckOptions{Options: Options{Transport: network(t, ca.pool, map[string]*httptest.Server{asked + ":443": s})}})
		expect(t, one(t, report, "certificate"), "failed: the server aborts the TLS handshake", "certificate for this host")
	})
}

// TestCheckAnswer checks servers that respond with something other than a manifest.
func TestCheckAnswer(t *testing.T) {
	good := manifestOf("https://feeds.example.com/v1/feeds")
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		check   string
		want    string
		hint    string
		skipped string // the next check, if it is skipped
	}{
		{"redirect", answer(308, "", "Location: https://www.example.com/v1/endpoints-manifest"), "redirect",
			`failed: the address redirects to "https://www.example.com/v1/endpoints-manifest"`, "register https://www.example.com/v1/endpoints-manifest", "status"},
		{"redirect to nowhere", answer(302, ""), "redirect", "failed: the response is 302 Found, without a Location", "", "status"},
		{"not found", answer(404, "<h1>", "Content-Type: text/html"), "status", "failed: the response is 404 Not Found, not 200 OK", "{base_url}/v1/endpoints-manifest", "json"},
		{"not found by signpost", answer(404, `{"manifests": ["/a/v1/endpoints-manifest"]}`), "status", "failed: 404", "are at: /a/v1/endpoints-manifest", "json"},
		{"bad request", answer(400, ""), "status", "failed: 400", "called by this host", "json"},
		{"sign in", answer(401, ""), "status", "failed: 401 Unauthorized", "no credentials", "json"},
		{"forbidden", answer(403, ""), "status", "failed: 403", "no credentials", "json"},
		{"misdirected", answer(421, ""), "status", "failed: 421", "answer for this host", "json"},
		{"error", answer(500, ""), "status", "failed: 500", "service's log", "json"},
		{"proxy", answer(502, ""), "status", "failed: 502", "in front of it", "json"},
		{"teapot", answer(418, ""), "status", "failed: 418", "GET", "json"},
		{"unknown status", answer(599, ""), "status", "failed: the response is 599, not 200 OK", "log", "json"},
		{"created", answer(201, good, jsonType), "status", "failed: 201", "", "json"},
		{"empty", answer(200, "", jsonType), "json", "failed: the response is empty", "what the service sends", "manifest"},
		{"HTML", answer(200, "\n<!doctype html>", "Content-Type: text/html; charset=utf-8"), "json",
			`failed: the response is HTML, not JSON; its Content-Type is "text/html"`, "address", "manifest"},
		{"HTML that says JSON", answer(200, "<html>", jsonType), "json", `failed: the response is HTML, not JSON; its Content-Type is "application/json"`, "sign-in", "manifest"},
		{"YAML", answer(200, "endpoints: {}", "Content-Type: application/yaml"), "json", `failed: the response is not JSON: invalid character 'e'`, "", "manifest"},
		{"two documents", answer(200, good+good, jsonType), "json", `failed: the response is not JSON: invalid character '{' after top-level value`, "", "manifest"},
		{"JSON that says HTML", answer(200, good, "Content-Type: text/html"), "json",
			`failed: the response is JSON, but its Content-Type is "text/html": clients that rely on it reject the manifest`, "Content-Type: application/json", ""},
		{"JSON of another kind", answer(200, good, "Content-Type: application/vnd.x+json"), "json", "passed: application/vnd.x+json", "", ""},
		{"odd parameters", answer(200, good, "Content-Type: Application/JSON; charset"), "json", "passed: application/json", "", ""},
		{"no type", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil // otherwise the server would guess one
			io.WriteString(w, good)
		}, "json", "warned: the response has no Content-Type", "Content-Type: application/json", ""},
		{"byte order mark", answer(200, "\ufeff"+good, jsonType), "json", "failed: the response begins with a byte order mark", "remove it", "manifest"},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			io.WriteString(w, good[:20])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "json", "failed: the response is cut off, after 20 bytes", "limits of a proxy", "manifest"},
		{"slow", nil, "reachable", "failed: no response within 10m0s", "allow more time", "certificate"},
		{"slow body", nil, "json", "failed: the response did not end within 10m0s, after 10 bytes", "allow more time", "manifest"},
		{"nothing", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "reachable", "failed: ", "", "certificate"},
		{"a list", answer(200, "[]", jsonType), "manifest", "failed: the manifest must be a JSON object, not an array", "meant to publish", "host"},
		{"an object", answer(200, `{"error": "no"}`, jsonType), "manifest", `failed: the response is not a manifest: manifest has no "endpoints" object`, "", "host"},
		{"no endpoints", answer(200, `{"endpoints": {}}`, jsonType), "manifest", "warned: it has no endpoints", "definition", "host"},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %v", test.name, http2), func(t *testing.T) {
				t.Parallel()
				opts := site(t, test.handler)
				opts.Transport.(*http.Transport).ForceAttemptHTTP2 = http2
				if test.handler == nil {
					opts = stalling(opts, "/v1/endpoints-manifest", test.name == "slow body")
				}
				report := check(t, address, CheckOptions{Options: opts, SkipProbes: true})
				expect(t, one(t, report, test.check), test.want, test.hint)
				if test.skipped != "" {
					expect(t, one(t, report, test.skipped), "skipped: ", "")
				}
			})
		}
	}
}

func TestCheckEndless(t *testing.T) {
	s := serveHTTP(t, http.HandlerFunc(endless))
	report := check(t, s.URL+"/v1/endpoints-manifest", CheckOptions{Options: Options{limit: 1000}})
	expect(t, one(t, report, "json"), "failed: the response is larger than 64 MiB, and may be endless", "what the service sends")
	expect(t, one(t, report, "manifest"), "skipped: the response is not JSON", "")
}

func TestCheckUnreachable(t *testing.T) {
	closed := serveHTTP(t, answer(200, ""))
	addr := closed.Listener.Addr().String()
	closed.Close()
	report := check(t, "http://"+addr+"/v1/endpoints-manifest", CheckOptions{})
	expect(t, one(t, report, "reachable"), "failed: nothing listens at "+addr, "start the service")
	report = check(t, address, CheckOptions{Options: Options{Transport: network(t, nil, nil)}})
	expect(t, one(t, report, "reachable"), `failed: cannot resolve the host "feeds.example.com": no such host`, "DNS")

	hangsUp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangsUp.Close()
	go func() {
		for {
			conn, err := hangsUp.Accept()
			if err != nil {
				return
			}
			io.ReadAtLeast(conn, make([]byte, 1), 1)
			conn.Close()
		}
	}()
	report = check(t, "http://"+hangsUp.Addr().String()+"/v1/endpoints-manifest", CheckOptions{})
	expect(t, one(t, report, "reachable"), "failed: the connection was closed without a response", "log")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err = Check(ctx, address, CheckOptions{})
	if err != nil || report.OK {
		t.Errorf("stopped: %+v, %v", report, err)
	}
	expect(t, one(t, report, "reachable"), "failed: the request was canceled", "")
}

func TestCheckPlainHTTP(t *testing.T) {
	s := serveHTTP(t, answer(200, manifestOf("https://feeds.example.com/v1/feeds"), jsonType))
	opts := CheckOptions{SkipProbes: true, Options: Options{Transport: network(t, nil, map[string]*httptest.Server{asked + ":80": s, "localhost:80": s, "[::1]:80": s})}}
	for host, want := range map[string]string{
		asked:           "failed: the address is plain http: studios require https",
		"localhost":     "warned: the address is plain http, which only works on this machine",
		"[::1]":         "warned: ",
		"a.localhost":   "warned: ",
		"localhost.com": "failed: ",
	} {
		report := check(t, "http://"+host+"/v1/endpoints-manifest", opts)
		expect(t, one(t, report, "https"), want, "terminate TLS")
		if host == asked {
			expect(t, one(t, report, "certificate"), "skipped: plain http has no certificate", "")
			expect(t, one(t, report, "host"), "passed: ", "")
		}
	}
}

func TestCheckManifestFindings(t *testing.T) {
	const body = `{"endpoints": {
		"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "GET", "mime_type": "application/json"},
		"https://feeds.example.com/v2/media": {"name": "Media", "method": "get", "mime_type": "application/json",
			"context_obj": [{"key": "token", "type": "ctx", "required": true}]},
		"https://feeds.example.com/v1/proxy/v2": {"name": "Proxy", "method": "get", "mime_type": "application/json"},
		"https://partner.example.net/v7": {"name": "Partner", "method": "get", "mime_type": "application/json",
			"context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`
	opts := CheckOptions{Options: site(t, answer(200, body, jsonType)), SkipProbes: true}
	var got []string
	for _, r := range check(t, address, opts).Results {
		if r.Check == "manifest" {
			got = append(got, fmt.Sprintf("%s: %s: %s", r.Status, r.Endpoint, r.Message))
		}
	}
	want := []string{
		`warned: https://feeds.example.com/v1/feeds: method "GET" is not "get" or "post" [method]`,
		`warned: https://partner.example.net/v7: context key "token" is sent to "https://partner.example.net/v7", which is not a URL of this service [token-to-third-party]`,
		`warned: https://feeds.example.com/v2/media: "https://feeds.example.com/v2/media" belongs to v2, but this is the manifest of v1 [version-mismatch]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without a linter (-want +got):\n%s", diff)
	}

	opts.Ignore = []string{"version-mismatch"}
	if got := check(t, address, opts).Results; slices.ContainsFunc(got, func(r Result) bool { return strings.Contains(r.Message, "version-mismatch") }) {
		t.Errorf("the ignored rule is reported: %+v", got)
	}
	opts.Ignore = nil

	opts.Lint = func(got []byte) (signpost.Manifest, []signpost.Finding) {
		if string(got) != body {
			t.Errorf("the linter got %q", got)
		}
		return signpost.Manifest{}, []signpost.Finding{{Rule: "odd", Severity: signpost.SeverityWarning, Message: "it is odd", Line: 3, Column: 7}}
	}
	report := check(t, address, opts)
	i := slices.IndexFunc(report.Results, func(r Result) bool { return r.Check == "manifest" })
	expect(t, report.Results[i], "warned: line 3, column 7: it is odd [odd]", "docs/rules.md explains the rule odd")
}

// TestCheckForeign checks that extensions in other people's manifests do not stop the check.
func TestCheckForeign(t *testing.T) {
	const body = `{"endpoints": {"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json", "cache": 60,
		"context_obj": [{"key": "session", "type": "header", "required": true}, {"key": "device", "type": "cookie"}]},
		"https://feeds.example.com/v1/open": {"name": "Open", "method": "get", "mime_type": "application/json", "context_obj": [{"key": "device", "type": "cookie"}]}}}`
	mux := http.NewServeMux()
	mux.HandleFunc("/", answer(200, body, jsonType))
	mux.HandleFunc("/v1/open", answer(200, "{}", jsonType))
	opts := CheckOptions{Options: site(t, mux), Lint: func([]byte) (signpost.Manifest, []signpost.Finding) {
		return signpost.Manifest{}, append((&signpost.Manifest{}).Validate(), signpost.Finding{Rule: "unknown-field", Severity: signpost.SeverityError, Message: `unknown field "cache"`, Line: 1, Column: 9},
			signpost.Finding{Rule: signpost.RuleContextType, Severity: signpost.SeverityError, Message: `type "header"`, Path: signpost.Path{signpost.Field("https://feeds.example.com/v1/feeds")}})
	}}
	report := check(t, address, opts)
	got := resultsOf(report, "manifest")
	if !report.OK || len(got) != 2 {
		t.Fatalf("%+v", report)
	}
	expect(t, got[0], `warned: line 1, column 9: unknown field "cache" [foreign-field]`, "Signpost ignores it")
	expect(t, got[1], `warned: type "header" [foreign-type]`, "cannot send such a key")
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/feeds"), `skipped: it requires session with type "header", which this check cannot send`, "")
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/open"), "passed: ", "")

	opts.Lint, opts.Ignore = nil, []string{foreign.RuleType}
	report = check(t, address, opts)
	expect(t, one(t, report, "manifest"), "skipped: 3 results ignored", "")
}

func TestCheckHost(t *testing.T) {
	for _, test := range []struct {
		name, address string
		urls          []string
		want, hint    string
	}{
		{"all", address, []string{"https://feeds.example.com/a", "https://FEEDS.example.com./b"}, "passed: the URLs are on feeds.example.com", ""},
		{"below", address, []string{"https://media.feeds.example.com/a"}, "passed: the URLs are on feeds.example.com", ""},
		{"some", address, []string{"https://feeds.example.com/a", "https://cdn.example.net/a", "https://cdn.example.net/b"}, "passed: 1 of 3 URLs are on feeds.example.com", ""},
		{"with placeholders", address, []string{"https://feeds.example.com/{{a}}"}, "passed: the URLs", ""},
		{"another", address, []string{"https://10.0.0.7/a", "https://10.0.0.7/b", "https://cdn.example.net/a"},
			"failed: no URL is on feeds.example.com, but 2 of 3 URLs on 10.0.0.7: apps would call that host", "pass the Host header on"},
		{"spread", address, []string{"https://a.example.net/", "https://b.example.net/"}, "warned: no URL is on feeds.example.com", "pass the Host header on"},
		{"not below", address, []string{"https://evilfeeds.example.com/a"}, "failed: no URL is on feeds.example.com, but 1 of 1 URL on evilfeeds.example.com", "pass the Host header on"},
		{"open", address, []string{"https://{{host}}/a", "https://feeds.example.com/b"}, `failed: {{host}} is not replaced in 1 URL, such as "https://{{host}}/a"`, "signpost serve"},
		{"port", "https://feeds.example.com:8443/v1/endpoints-manifest", []string{"https://feeds.example.com/a"}, "passed: the URLs are on feeds.example.com, without the port 8443 of the address", ""},
		{"same port", "https://feeds.example.com:8443/v1/endpoints-manifest", []string{"https://feeds.example.com:8443/a"}, "passed: the URLs are on feeds.example.com", ""},
		{"public host", "https://feeds.example.com:8443/v1/endpoints-manifest", []string{"https://a.example.net/"}, "failed: ", "pass the Host header on"},
		{"nothing that parses", address, []string{"https://a b/"}, "warned: no URL is on", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ca := newAuthority(t)
			s := serveTLS(t, ca.issue(t, asked, time.Now().AddDate(0, -1, 0), time.Now().AddDate(0, 2, 0)), answer(200, manifestOf(test.urls...), jsonType))
			opts := Options{Transport: network(t, ca.pool, map[string]*httptest.Server{asked + ":443": s, asked + ":8443": s})}
			got := one(t, check(t, test.address, CheckOptions{Options: opts, SkipProbes: true}), "host")
			expect(t, got, test.want, test.hint)
			if test.name == "same port" && strings.Contains(got.Message, "without") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCheckCORS(t *testing.T) {
	reflect := func(headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if origin := r.Header.Get("Origin"); origin != "" {
				w.Header().Set("Access-Control-Allow-Origin", origin)
			}
			answer(200, manifestOf(), append(headers, jsonType)...)(w, r)
		}
	}
	const header = "Access-Control-Allow-Origin: "
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		want, hint string
	}{
		{"every origin", answer(200, manifestOf(), jsonType, header+"*"), "passed: pages of every origin can read it", ""},
		{"one origin", answer(200, manifestOf(), jsonType, header+"https://studio.example.com"), `passed: pages of "https://studio.example.com" can read it`, ""},
		{"reflected", reflect("Vary: Accept-Encoding, origin"), "passed: pages of every origin can read it", ""},
		{"reflected without Vary", reflect(), "warned: a cache would send it to other origins", "Vary: Origin"},
		{"reflected with credentials", reflect("Access-Control-Allow-Credentials: true", "Vary: Origin"), "warned: with the visitor's credentials", "remove"},
		{"every origin with credentials", answer(200, manifestOf(), jsonType, header+"*", "Access-Control-Allow-Credentials: true"), "warned: which browsers reject", "remove"},
		{"none", answer(200, manifestOf(), jsonType), "warned: no Access-Control-Allow-Origin", "Access-Control-Allow-Origin: *"},
		{"two", answer(200, manifestOf(), jsonType, header+"*", header+"*"), `failed: browsers reject: "*, *"`, "either the proxy or the service"},
		{"refused", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Origin") != "" {
				answer(403, "")(w, r)
				return
			}
			answer(200, manifestOf(), jsonType)(w, r)
		}, "failed: with an Origin header, the response is 403 Forbidden", "like any other"},
		{"cut off", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Origin") != "" {
				panic(http.ErrAbortHandler)
			}
			answer(200, manifestOf(), jsonType)(w, r)
		}, "failed: with an Origin header: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, one(t, check(t, address, CheckOptions{Options: site(t, test.handler)}), "cors"), test.want, test.hint)
		})
	}
}

func TestCheckETag(t *testing.T) {
	conditional := func(tag func() string, respond func(w http.ResponseWriter, match, tag string)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			current := tag()
			w.Header().Set("ETag", current)
			w.Header().Set("Content-Type", "application/json")
			if match := r.Header.Get("If-None-Match"); match != "" {
				respond(w, match, current)
				return
			}
			io.WriteString(w, manifestOf())
		}
	}
	fixed := func() string { return `W/"1"` }
	n := 0
	rising := func() string { n++; return fmt.Sprintf(`"%d"`, n) }
	full := func(w http.ResponseWriter, match, tag string) { io.WriteString(w, manifestOf()) }
	status := func(code int) func(http.ResponseWriter, string, string) {
		return func(w http.ResponseWriter, match, tag string) { w.WriteHeader(code) }
	}
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		want, hint string
	}{
		{"honoured", conditional(fixed, func(w http.ResponseWriter, match, tag string) {
			if match == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			full(w, match, tag)
		}), "passed: If-None-Match with the current ETag gets 304", ""},
		{"none", answer(200, manifestOf(), jsonType), "warned: no ETag header", "answer 304"},
		{"ignored", conditional(fixed, full), "warned: If-None-Match with the current ETag gets 200 OK", "answer 304"},
		{"changes", conditional(rising, full), `warned: the ETag was "\"`, "on every replica"},
		{"always 304", conditional(fixed, status(304)), "failed: If-None-Match with another ETag gets 304", "never sees a change"},
		{"error", conditional(fixed, status(500)), "failed: with If-None-Match, the response is 500", "answer 304"},
		{"cut off", conditional(fixed, func(http.ResponseWriter, string, string) { panic(http.ErrAbortHandler) }), "failed: with If-None-Match: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect(t, one(t, check(t, address, CheckOptions{Options: site(t, test.handler)}), "etag"), test.want, test.hint)
		})
	}
}
