package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"signpost"
	"signpost/internal/testkit"
	"signpost/server"
)

// TestCheckSignpost checks Signpost's own server.
func TestCheckSignpost(t *testing.T) {
	v1 := testkit.Must(signpost.Compile(signpost.NewManifest(endpoint("/v1/feeds"))))(t)
	handler := testkit.Must(server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": v1}}))(t)
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
	const want = `{"check":"probe","status":"passed","endpoint":"https://feeds.example.com/v1/feeds","message":"200 OK, application/json","hint":""}`
	if string(out) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", out, err, want)
	}
	for _, address := range []string{"", "feeds.example.com", "ftp://feeds.example.com/v1", "https://feeds.example.com", "https:///v1"} {
		if report, err := Check(t.Context(), address, CheckOptions{}); err == nil {
			t.Errorf("%q: %+v", address, report)
		}
	}
}

func TestCheckCertificate(t *testing.T) {
	const day = 24 * time.Hour
	manifest := newService(nil, "/v1/feeds")
	for _, test := range []struct {
		age, left time.Duration
		want      string
	}{
		{30 * day, 60 * day, "passed: it is valid until "},
		{3 * day, 3 * day, "passed: it is valid until "}, // a short-lived one
		{350 * day, 9 * day, "warned: it expires soon, on "},
	} {
		report := check(t, address, CheckOptions{SkipProbes: true, Options: Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			res, err := inMemory(manifest).RoundTrip(req)
			leaf := &x509.Certificate{NotBefore: time.Now().Add(-test.age), NotAfter: time.Now().Add(test.left)}
			res.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
			return res, err
		})}})
		expect(t, one(t, report, "certificate"), test.want+time.Now().Add(test.left).UTC().Format("2006-01-"), "")
	}
	silent := serve(t, manifest, true)
	silent.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, io.EOF }
	for _, test := range []struct {
		server     *httptest.Server
		want, hint string
	}{
		{serve(t, manifest, false), "failed: the server does not speak TLS", "another port"},
		{serve(t, manifest, true), "failed: the certificate is self-signed", "the whole chain"},
		{silent, "failed: the server aborts the TLS handshake", "certificate for this host"},
	} {
		opts := network(t, map[string]*httptest.Server{asked + ":443": test.server})
		opts.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
		report := check(t, address, CheckOptions{Options: opts})
		expect(t, one(t, report, "reachable"), "passed: feeds.example.com answers", "")
		expect(t, one(t, report, "certificate"), test.want, test.hint)
		expect(t, one(t, report, "redirect"), "skipped: no secure connection", "")
	}
}

// TestCheckUnreachable checks what the faults of a real network look like, with HTTP/1 and HTTP/2.
func TestCheckUnreachable(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{"json failed: the response is cut off": cutOff, "json failed: larger than 64 MiB": endless, "reachable failed: ": aborts} {
		for _, http2 := range []bool{false, true} {
			opts := site(t, handler)
			opts.Transport.(*http.Transport).ForceAttemptHTTP2 = http2
			opts.limit = 100_000
			check, want, _ := strings.Cut(name, " ")
			report := testkit.Must(Check(t.Context(), address, CheckOptions{Options: opts}))(t)
			expect(t, one(t, report, check), want, "")
		}
	}
	closed := serve(t, answer(200, ""), false)
	closed.Close()
	report := check(t, closed.URL+"/v1/endpoints-manifest", CheckOptions{})
	expect(t, one(t, report, "reachable"), "failed: nothing listens at "+closed.Listener.Addr().String(), "start the service")
	report = check(t, address, CheckOptions{Options: network(t, nil)})
	expect(t, one(t, report, "reachable"), `failed: cannot resolve the host "feeds.example.com": no such host`, "DNS")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := Check(ctx, address, CheckOptions{})
	if err != nil || report.OK {
		t.Errorf("stopped: %+v, %v", report, err)
	}
	expect(t, one(t, report, "reachable"), "failed: the request was canceled", "")
}

// TestLint checks that the findings of a linter about other people's manifests do not stop the check.
func TestLint(t *testing.T) {
	var body []byte
	opts := CheckOptions{Options: Options{Transport: inMemory(newService(nil, "/v1/feeds"))}, SkipProbes: true}
	opts.Lint = func(got []byte) (signpost.Manifest, []signpost.Finding) {
		body = got
		return signpost.Manifest{}, []signpost.Finding{{Rule: "unknown-field", Severity: signpost.SeverityError, Message: `unknown field "cache"`, Line: 3, Column: 7},
			{Rule: "odd", Severity: signpost.SeverityWarning, Message: "it is odd", Line: 3, Path: signpost.Path{signpost.Field("https://feeds.example.com/v1/feeds")}}}
	}
	report := check(t, address, opts)
	got := resultsOf(report, "manifest")
	if !report.OK || len(got) != 2 || got[1].Endpoint != "https://feeds.example.com/v1/feeds" || !json.Valid(body) {
		t.Fatalf("%+v for %s", got, body)
	}
	expect(t, got[0], `warned: line 3, column 7: unknown field "cache" [foreign-field]`, "Signpost keeps and compares it")
	expect(t, got[1], "warned: it is odd [odd]", "docs/rules.md explains the rule odd")
	expect(t, one(t, report, "probe"), "skipped: the endpoints are not called", "")
	expect(t, one(t, report, "links"), "skipped: the endpoints are not called", "")

	// A field of the wrong type: the linter knows what can be read in spite of it.
	opts.Transport = inMemory(answer(200, `{"endpoints": {"https://feeds.example.com/v1/feeds": {"name": 7}}}`, jsonType))
	expect(t, one(t, check(t, address, opts), "host"), "skipped: the manifest has no URLs", "")
	opts.Lint = func([]byte) (signpost.Manifest, []signpost.Finding) {
		return signpost.NewManifest(endpoint("=https://feeds.example.com/v1/feeds")), nil
	}
	expect(t, one(t, check(t, address, opts), "host"), "passed: ", "")
}
