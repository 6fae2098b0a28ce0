package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/host"
)

const (
	// asked is the host of the service in most tests, which TLS servers of package httptest have a certificate for.
	asked   = "feeds.example.com"
	address = "https://" + asked + "/v1/endpoints-manifest"

	// secret is the value of a context key. No error or result may contain it or any part of it.
	secret = "s3cr3t-token"

	jsonType = "Content-Type: application/json"
)

var tokenItem = signpost.ContextItem{Key: "token", Type: signpost.ContextCtx, Required: true}

func endpoint(url string, change ...func(*signpost.Endpoint)) signpost.Endpoint {
	e := signpost.Endpoint{URL: url, Name: "Feeds", Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON}
	for _, f := range change {
		f(&e)
	}
	return e
}

func modifiers(m ...signpost.Modifier) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.Modifiers = m }
}

func items(c ...signpost.ContextItem) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.ContextObj = c }
}

func method(m string) func(*signpost.Endpoint) { return func(e *signpost.Endpoint) { e.Method = m } }

var post = method(signpost.MethodPost)

func mimeType(m string) func(*signpost.Endpoint) {
	return func(e *signpost.Endpoint) { e.MIMEType = m }
}

func input(key string, value any, options ...string) signpost.ModifierInput {
	in := signpost.ModifierInput{ID: key, Name: key, Key: key, Label: key, DefaultValue: value}
	for _, o := range options {
		in.Options = append(in.Options, signpost.Option{Value: o, Label: o})
	}
	return in
}

// serve starts a server on loopback.
func serve(t *testing.T, handler http.Handler, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handlers abort on purpose
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// network returns options with which each address, such as feeds.example.com:443, leads to a server on loopback. Other hosts
// cannot be resolved.
func network(t *testing.T, servers map[string]*httptest.Server) Options {
	roots := x509.NewCertPool()
	for _, s := range servers {
		if s.Certificate() != nil {
			roots.AddCert(s.Certificate())
		}
	}
	transport := &http.Transport{
		ForceAttemptHTTP2: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if s := servers[addr]; s != nil {
				addr = s.Listener.Addr().String()
			} else if !host.IsLoopback(addr) {
				return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: strings.Split(addr, ":")[0], IsNotFound: true}}
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return Options{Transport: transport, Timeout: 10 * time.Minute} // a busy machine does not exceed it
}

// site serves asked over https.
func site(t *testing.T, handler http.Handler) Options {
	t.Helper()
	return network(t, map[string]*httptest.Server{asked + ":443": serve(t, handler, true)})
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

// cutOff is a handler whose response ends before its announced length.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	io.WriteString(w, "{")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// endless is a handler that sends data until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat(" ", 64<<10)); err != nil {
			return
		}
	}
}

// feeds is a feed service: a manifest, feeds that link to each other on the host of the request, and a log of requests.
type feeds struct {
	mux      *http.ServeMux
	manifest signpost.Manifest

	mu    sync.Mutex
	calls []string // path and query without ctx, in order of arrival
}

func newFeeds(endpoints ...signpost.Endpoint) *feeds {
	f := &feeds{mux: http.NewServeMux()}
	for i := range endpoints {
		endpoints[i].Name = fmt.Sprintf("Feed %d", i)
	}
	f.manifest = signpost.NewManifest(endpoints...)
	f.mux.HandleFunc("/v1/endpoints-manifest", func(w http.ResponseWriter, r *http.Request) {
		m := signpost.NewManifest(f.manifest.Endpoints...)
		for i, e := range m.Endpoints { // with the port, unlike Signpost, so that a server on loopback is one service
			m.Endpoints[i].URL = strings.Replace(e.URL, "https://{{host}}", base(r), 1)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(m)
	})
	return f
}

// feed serves a JSON text at a path, with BASE replaced by the scheme and host of the request.
func (f *feeds) feed(path, text string, headers ...string) {
	f.handle(path, func(w http.ResponseWriter, r *http.Request) {
		headers := append([]string{jsonType, "Access-Control-Allow-Origin: *"}, headers...)
		answer(200, strings.ReplaceAll(text, "BASE", base(r)), headers...)(w, r)
	})
}

func (f *feeds) handle(path string, handler http.HandlerFunc) {
	f.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls = append(f.calls, identity(r.URL.RequestURI()))
		f.mu.Unlock()
		handler(w, r)
	})
}

// asked returns the requests received since the last call.
func (f *feeds) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// base returns the prefix of links in a response: the service trusts forwarding headers.
func base(r *http.Request) string {
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

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
		if r.Message == "" || strings.Contains(r.Message+r.Hint, "%!") {
			t.Errorf("%+v has no message, or is not formatted well", r)
		}
		if (r.Status == Failed || r.Status == Warned) && r.Hint == "" {
			t.Errorf("%+v does not say what to do", r)
		}
		if shows(r.Endpoint + r.Message + r.Hint) {
			t.Errorf("%+v shows a context value", r)
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

// resultsOf returns the results of a check.
func resultsOf(report Report, check string) []Result {
	return slices.DeleteFunc(slices.Clone(report.Results), func(r Result) bool { return r.Check != check })
}

// one returns the only result of a check.
func one(t *testing.T, report Report, check string) Result {
	t.Helper()
	found := resultsOf(report, check)
	if len(found) != 1 {
		t.Fatalf("%d results for %s: %+v", len(found), check, found)
	}
	return found[0]
}

// probeOf returns the result of calling an endpoint, named by the end of its URL.
func probeOf(t *testing.T, report Report, endpoint string) Result {
	t.Helper()
	for _, r := range resultsOf(report, "probe") {
		if strings.HasSuffix(r.Endpoint, endpoint) {
			return r
		}
	}
	t.Fatalf("no result for %s: %+v", endpoint, report.Results)
	return Result{}
}

// expect compares a result with "status: part of the message", and the hint with a part of it.
func expect(t *testing.T, r Result, want, hint string) {
	t.Helper()
	status, message, _ := strings.Cut(want, ": ")
	if string(r.Status) != status || !strings.Contains(r.Message, message) || !strings.Contains(r.Hint, hint) {
		t.Errorf("got  %s: %s\n     hint %q\nwant %s\n     hint %q", r.Status, r.Message, r.Hint, want, hint)
	}
}
