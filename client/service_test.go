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
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/host"
	"signpost/internal/testkit"
)

const (
	// asked is the host of the service in most tests, which TLS servers of package httptest have a certificate for.
	asked   = "feeds.example.com"
	address = "https://" + asked + "/v1/endpoints-manifest"

	// secret is the value of a context key. No error or result may contain it or any part of it.
	secret = "s3cr3t-token"

	jsonType = "Content-Type: application/json"
)

// endpoint returns an endpoint as testkit.Endpoints reads it.
func endpoint(text string) signpost.Endpoint { return testkit.Endpoints(text)[0] }

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

// stalling is a transport that gives no response at /slow, and only the beginning of one at /drip, until the time of the
// request is over. No time passes.
var stalling = roundTrip(func(req *http.Request) (*http.Response, error) {
	switch req.URL.Path {
	case "/slow":
		return nil, context.DeadlineExceeded
	case "/drip":
		body := io.MultiReader(strings.NewReader(`{"endpoint`), iotest.ErrReader(context.DeadlineExceeded))
		return &http.Response{StatusCode: 200, Request: req, Body: io.NopCloser(body)}, nil
	}
	return http.DefaultTransport.RoundTrip(req)
})

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

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

func aborts(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// newService returns a service with endpoints at paths of asked, and feeds by path. Other feeds are not found.
func newService(feeds map[string]http.HandlerFunc, paths ...string) http.Handler {
	var endpoints []signpost.Endpoint
	for i, path := range paths {
		e := endpoint("=https://" + asked + path)
		e.Name = fmt.Sprintf("Feed %d", i)
		endpoints = append(endpoints, e)
	}
	manifest, _ := json.Marshal(signpost.NewManifest(endpoints...))
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", answer(200, string(manifest), jsonType))
	for path, feed := range feeds {
		mux.Handle(path, feed)
	}
	return mux
}

// inMemory returns a transport that calls a handler.
func inMemory(handler http.Handler) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		res := w.Result()
		res.Request = req
		return res, nil
	}
}

// check runs a check and verifies the invariants of its report.
func check(t *testing.T, address string, opts CheckOptions) Report {
	t.Helper()
	var observed []Result
	opts.Observe = func(r Result) { observed = append(observed, r) }
	report := testkit.Must(Check(t.Context(), address, opts))(t)
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
	if report.OK == failed || !cmp.Equal(observed, report.Results) {
		t.Errorf("ok is %v, observed %v", report.OK, observed)
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

// expect compares a result with "status: part of the message", and the hint with a part of it.
func expect(t *testing.T, r Result, want, hint string) {
	t.Helper()
	status, message, _ := strings.Cut(want, ": ")
	if string(r.Status) != status || !strings.Contains(r.Message, message) || !strings.Contains(r.Hint, hint) {
		t.Errorf("got  %s: %s\n     hint %q\nwant %s\n     hint %q", r.Status, r.Message, r.Hint, want, hint)
	}
}
