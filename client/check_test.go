package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/internal/foreign"
	"signpost/server"
)

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

// TestCheckSignpost checks Signpost's own server.
func TestCheckSignpost(t *testing.T) {
	v1, err := signpost.Compile(signpost.NewManifest(endpoint("https://{{host}}/v1/feeds")))
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
	manifest := answer(200, manifestOf("https://feeds.example.com/v1/feeds"), jsonType)
	opts := site(t, manifest)
	const day = 24 * time.Hour
	for _, test := range []struct{ age, left, whole time.Duration }{{30 * day, 60 * day, 0}, {3 * day, 3 * day, 0}, {350 * day, 9 * day, 0}} {
		report := check(t, address, CheckOptions{SkipProbes: true, Options: Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			res, err := opts.Transport.RoundTrip(req)
			if err == nil {
				leaf := &x509.Certificate{NotBefore: time.Now().Add(-test.age), NotAfter: time.Now().Add(test.left)}
				res.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
			}
			return res, err
		})}})
		until := time.Now().Add(test.left).UTC().Format("2006-01-")
		if test.age > 300*day {
			expect(t, one(t, report, "certificate"), "warned: it expires soon, on "+until, "renew it")
		} else {
			expect(t, one(t, report, "certificate"), "passed: it is valid until "+until, "")
		}
	}
	for name, test := range map[string]struct {
		server     *httptest.Server
		want, hint string
	}{
		"no TLS":      {serve(t, manifest, false), "failed: the server does not speak TLS", "another port"},
		"self-signed": {serve(t, manifest, true), "failed: the certificate is self-signed", "the whole chain"},
		"no certificate for this host": {func() *httptest.Server {
			s := serve(t, manifest, true)
			s.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, io.EOF }
			return s
		}(), "failed: the server aborts the TLS handshake", "certificate for this host"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := network(t, map[string]*httptest.Server{asked + ":443": test.server})
			opts.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
			report := check(t, address, CheckOptions{Options: opts})
			expect(t, one(t, report, "reachable"), "passed: feeds.example.com answers", "")
			expect(t, one(t, report, "certificate"), test.want, test.hint)
			expect(t, one(t, report, "redirect"), "skipped: no secure connection", "")
		})
	}
}

// TestCheckAnswer checks servers that respond with something other than a manifest.
func TestCheckAnswer(t *testing.T) {
	good := manifestOf("https://feeds.example.com/v1/feeds")
	const skipsJSON, skipsManifest = "skipped: the response is not a manifest", "skipped: the response is not JSON"
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		check   string
		want    string
		hint    string
		next    string // result of the next check, if that is skipped
	}{
		{"redirect", answer(308, "", "Location: https://www.example.com/v1/endpoints-manifest"), "redirect",
			`failed: the address redirects to "https://www.example.com/v1/endpoints-manifest"`, "register https://www.example.com/v1/endpoints-manifest", "skipped: the address redirects"},
		{"redirect to nowhere", answer(302, ""), "redirect", "failed: the response is 302 Found, without a Location", "", "skipped: the address redirects"},
		{"not found", answer(404, "<h1>", "Content-Type: text/html"), "status", "failed: the response is 404 Not Found, not 200 OK", "{base_url}/v1/endpoints-manifest", skipsJSON},
		{"not found by signpost", answer(404, `{"manifests": ["/a/v1/endpoints-manifest"]}`), "status", "failed: 404", "are at: /a/v1/endpoints-manifest", skipsJSON},
		{"bad request", answer(400, ""), "status", "failed: 400", "called by this host", skipsJSON},
		{"sign in", answer(401, ""), "status", "failed: 401 Unauthorized", "no credentials", skipsJSON},
		{"misdirected", answer(421, ""), "status", "failed: 421", "answer for this host", skipsJSON},
		{"error", answer(500, ""), "status", "failed: 500", "service's log", skipsJSON},
		{"proxy", answer(502, ""), "status", "failed: 502", "in front of it", skipsJSON},
		{"created", answer(201, good, jsonType), "status", "failed: 201", "GET", skipsJSON},
		{"unknown status", answer(599, ""), "status", "failed: the response is 599, not 200 OK", "log", skipsJSON},
		{"empty", answer(200, "", jsonType), "json", "failed: the response is empty", "what the service sends", skipsManifest},
		{"HTML", answer(200, "\n<!doctype html>", "Content-Type: text/html; charset=utf-8"), "json",
			`failed: the response is HTML, not JSON; its Content-Type is "text/html"`, "sign-in", skipsManifest},
		{"two documents", answer(200, good+good, jsonType), "json", `failed: the response is not JSON: invalid character '{' after top-level value`, "", skipsManifest},
		{"JSON that says HTML", answer(200, good, "Content-Type: text/html"), "json",
			`failed: the response is JSON, but its Content-Type is "text/html": clients that rely on it reject the manifest`, "Content-Type: application/json", ""},
		{"JSON of another kind", answer(200, good, "Content-Type: Application/vnd.x+JSON; charset"), "json", "passed: application/vnd.x+json", "", ""},
		{"no type", func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil // otherwise the server would guess one
			io.WriteString(w, good)
		}, "json", "warned: the response has no Content-Type", "Content-Type: application/json", ""},
		{"byte order mark", answer(200, "\ufeff"+good, jsonType), "json", "failed: the response begins with a byte order mark", "remove it", skipsManifest},
		{"truncated", cutOff, "json", "failed: the response is cut off, after 1 bytes", "limits of a proxy", skipsManifest},
		{"endless", endless, "json", "failed: the response is larger than 64 MiB, and may be endless", "what the service sends", skipsManifest},
		{"slow", nil, "reachable", "failed: no response within 10m0s", "allow more time", "skipped: no response"},
		{"slow body", nil, "json", "failed: the response did not end within 10m0s, after 10 bytes", "allow more time", skipsManifest},
		{"nothing", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "reachable", "failed: ", "", "skipped: no response"},
		{"a list", answer(200, "[]", jsonType), "manifest", "failed: the manifest must be a JSON object, not an array", "meant to publish", "skipped: the manifest has no URLs"},
		{"an object", answer(200, `{"ENDPOINTS": {}}`, jsonType), "manifest", `failed: the response is not a manifest: manifest has no "endpoints" object`, "", "skipped: the manifest has no URLs"},
		{"no endpoints", answer(200, `{"endpoints": {}}`, jsonType), "manifest", "warned: it has no endpoints", "definition", "skipped: the manifest has no URLs"},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %v", test.name, http2), func(t *testing.T) {
				t.Parallel()
				opts := site(t, test.handler)
				opts.Transport.(*http.Transport).ForceAttemptHTTP2 = http2
				opts.limit = 100_000
				if test.handler == nil {
					opts = stalling(opts, "/v1/endpoints-manifest", test.name == "slow body")
				}
				report := check(t, address, CheckOptions{Options: opts, SkipProbes: true})
				for i, r := range report.Results {
					if r.Check == test.check {
						expect(t, r, test.want, test.hint)
						if next := report.Results[i+1]; test.next != "" {
							expect(t, next, test.next, "")
						}
					}
				}
			})
		}
	}
}

func TestCheckUnreachable(t *testing.T) {
	closed := serve(t, answer(200, ""), false)
	closed.Close()
	report := check(t, closed.URL+"/v1/endpoints-manifest", CheckOptions{})
	expect(t, one(t, report, "reachable"), "failed: nothing listens at "+closed.Listener.Addr().String(), "start the service")
	report = check(t, address, CheckOptions{Options: network(t, nil)})
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
	s := serve(t, answer(200, manifestOf("https://feeds.example.com/v1/feeds"), jsonType), false)
	opts := CheckOptions{SkipProbes: true, Options: network(t, map[string]*httptest.Server{asked + ":80": s, "localhost:80": s, "[::1]:80": s, "a.localhost:80": s, "localhost.com:80": s})}
	for host, want := range map[string]string{
		asked:           "failed: the address is plain http: studios require https",
		"localhost":     "warned: the address is plain http, which only works on this machine",
		"[::1]":         "warned: ",
		"a.localhost":   "warned: ",
		"localhost.com": "failed: ",
	} {
		report := check(t, "http://"+host+"/v1/endpoints-manifest", opts)
		expect(t, one(t, report, "https"), want, "terminate TLS")
		expect(t, one(t, report, "certificate"), "skipped: plain http has no certificate", "")
		expect(t, one(t, report, "status"), "passed: 200 OK", "")
	}
}

// TestCheckManifestFindings checks that findings about other people's manifests do not stop the check.
func TestCheckManifestFindings(t *testing.T) {
	const body = `{"endpoints": {
		"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "GET", "mime_type": "application/json"},
		"https://feeds.example.com/v2/media": {"name": "Media", "method": "get", "mime_type": "application/json", "cache": 60,
			"context_obj": [{"key": "token", "type": "header", "required": true}]},
		"https://feeds.example.com/v1/proxy/v2": {"name": "Proxy", "method": "get", "mime_type": "application/json", "context_obj": [{"key": "device", "type": "cookie"}]},
		"https://partner.example.net/v7": {"name": "Partner", "method": "post", "mime_type": "application/json",
			"context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/endpoints-manifest", answer(200, body, jsonType))
	mux.HandleFunc("/", answer(200, "{}", jsonType))
	opts := CheckOptions{Options: site(t, mux)}
	findings := func() (got []string) {
		for _, r := range resultsOf(check(t, address, opts), "manifest") {
			got = append(got, fmt.Sprintf("%s: %s: %s", r.Status, r.Endpoint, r.Message))
		}
		return got
	}
	want := []string{
		`warned: https://feeds.example.com/v1/feeds: method "GET" is not "get" or "post" [method]`,
		`warned: https://feeds.example.com/v2/media: context type "header" is not "ctx" or "bodyParam" [foreign-type]`,
		`warned: https://feeds.example.com/v1/proxy/v2: context type "cookie" is not "ctx" or "bodyParam" [foreign-type]`,
		`warned: https://partner.example.net/v7: context key "token" is sent to "https://partner.example.net/v7", which is not a URL of this service [token-to-third-party]`,
		`warned: https://feeds.example.com/v2/media: "https://feeds.example.com/v2/media" belongs to v2, but this is the manifest of v1 [version-mismatch]`,
	}
	if diff := cmp.Diff(want, findings()); diff != "" {
		t.Errorf("without a linter (-want +got):\n%s", diff)
	}
	opts.Ignore = []string{"version-mismatch", foreign.RuleType}
	if diff := cmp.Diff([]string{want[0], want[3]}, findings()); diff != "" {
		t.Errorf("two rules ignored (-want +got):\n%s", diff)
	}
	opts.Lint = func(got []byte) (signpost.Manifest, []signpost.Finding) {
		if string(got) != body {
			t.Errorf("the linter got %q", got)
		}
		return signpost.Manifest{}, []signpost.Finding{{Rule: "unknown-field", Severity: signpost.SeverityError, Message: `unknown field "cache"`, Line: 3, Column: 7},
			{Rule: "odd", Severity: signpost.SeverityWarning, Message: "it is odd", Line: 3, Path: signpost.Path{signpost.Field("https://feeds.example.com/v1/feeds")}}}
	}
	report := check(t, address, opts)
	got := resultsOf(report, "manifest")
	if !report.OK || len(got) != 2 || got[1].Endpoint != "https://feeds.example.com/v1/feeds" {
		t.Fatalf("%+v", got)
	}
	expect(t, got[0], `warned: line 3, column 7: unknown field "cache" [foreign-field]`, "Signpost ignores it")
	expect(t, got[1], "warned: it is odd [odd]", "docs/rules.md explains the rule odd")
	expect(t, probeOf(t, report, "/v2/media"), `skipped: it requires token with type "header", which this check cannot send`, "")
	expect(t, probeOf(t, report, "/proxy/v2"), "passed: ", "")
}

func TestCheckHost(t *testing.T) {
	const withPort = "https://feeds.example.com:8443/v1/endpoints-manifest"
	for _, test := range []struct {
		name, address string
		urls          []string
		want, hint    string
	}{
		{"all", address, []string{"https://feeds.example.com/a", "https://FEEDS.example.com./{{b}}"}, "passed: the URLs are on feeds.example.com", ""},
		{"below", address, []string{"https://media.feeds.example.com/a"}, "passed: the URLs are on feeds.example.com", ""},
		{"some", address, []string{"https://feeds.example.com/a", "https://cdn.example.net/a", "https://cdn.example.net/b"}, "passed: 1 of 3 URLs are on feeds.example.com", ""},
		{"another", address, []string{"https://10.0.0.7/a", "https://10.0.0.7/b", "https://cdn.example.net/a"},
			"failed: no URL is on feeds.example.com, but 2 of 3 URLs on 10.0.0.7: apps would call that host", "pass the Host header on"},
		{"spread", address, []string{"https://a.example.net/", "https://b.example.net/"}, "warned: no URL is on feeds.example.com", "pass the Host header on"},
		{"not below", withPort, []string{"https://evilfeeds.example.com/a"}, "failed: no URL is on feeds.example.com, but 1 of 1 URL on evilfeeds.example.com", "pass the Host header on"},
		{"open", address, []string{"https://{{host}}/a", "https://feeds.example.com/b"}, `failed: {{host}} is not replaced in 1 URL, such as "https://{{host}}/a"`, "signpost serve"},
		{"port", withPort, []string{"https://feeds.example.com/a"}, "passed: the URLs are on feeds.example.com, without the port 8443 of the address", ""},
		{"same port", withPort, []string{"https://feeds.example.com:8443/a"}, "passed: the URLs are on feeds.example.com", ""},
		{"nothing that parses", address, []string{"https://a b/"}, "warned: no URL is on", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, answer(200, manifestOf(test.urls...), jsonType), true)
			opts := network(t, map[string]*httptest.Server{asked + ":443": s, asked + ":8443": s})
			got := one(t, check(t, test.address, CheckOptions{Options: opts, SkipProbes: true}), "host")
			expect(t, got, test.want, test.hint)
			if test.name == "same port" && strings.Contains(got.Message, "without") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// ifHeader returns a handler that depends on whether a request has a header.
func ifHeader(name string, has, hasNot http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(name) != "" {
			has(w, r)
		} else {
			hasNot(w, r)
		}
	}
}

func aborts(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestCheckCORS(t *testing.T) {
	const header = "Access-Control-Allow-Origin: "
	manifest := func(headers ...string) http.HandlerFunc {
		return answer(200, manifestOf(), append(headers, jsonType)...)
	}
	reflect := func(headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			manifest(append(headers, header+r.Header.Get("Origin"))...)(w, r)
		}
	}
	const credentials = "Access-Control-Allow-Credentials: true"
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		want, hint string
	}{
		{"every origin", manifest(header + "*"), "passed: pages of every origin can read it", ""},
		{"one origin", manifest(header + "https://studio.example.com"), `passed: pages of "https://studio.example.com" can read it`, ""},
		{"reflected", reflect("Vary: Accept-Encoding, origin"), "passed: pages of every origin can read it", ""},
		{"reflected without Vary", reflect(), "warned: a cache would send it to other origins", "Vary: Origin"},
		{"reflected with credentials", reflect(credentials, "Vary: Origin"), "warned: with the visitor's credentials", "remove"},
		{"every origin with credentials", manifest(header+"*", credentials), "warned: which browsers reject", "remove"},
		{"none", manifest(), "warned: no Access-Control-Allow-Origin", "Access-Control-Allow-Origin: *"},
		{"two", manifest(header+"*", header+"*"), `failed: browsers reject: "*, *"`, "either the proxy or the service"},
		{"refused", ifHeader("Origin", answer(403, ""), manifest()), "failed: with an Origin header, the response is 403 Forbidden", "like any other"},
		{"cut off", ifHeader("Origin", aborts, manifest()), "failed: with an Origin header: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			expect(t, one(t, check(t, address, CheckOptions{Options: site(t, test.handler)}), "cors"), test.want, test.hint)
		})
	}
}

func TestCheckETag(t *testing.T) {
	const tag, changed = `ETag: W/"1"`, `ETag: "2"`
	full := func(tag string) http.HandlerFunc { return answer(200, manifestOf(), jsonType, tag) }
	honoured := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `W/"1"` {
			w.WriteHeader(http.StatusNotModified)
		} else {
			full(tag)(w, r)
		}
	}
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		want, hint string
	}{
		{"honoured", honoured, "passed: If-None-Match with the current ETag gets 304", ""},
		{"none", full("X: y"), "warned: no ETag header", "answer 304"},
		{"ignored", full(tag), "warned: If-None-Match with the current ETag gets 200 OK", "answer 304"},
		{"changes", ifHeader("If-None-Match", full(changed), full(tag)), `warned: the ETag was "W/\"1\"" and is "\"2\"" now`, "on every replica"},
		{"always 304", ifHeader("If-None-Match", answer(304, ""), full(tag)), "failed: If-None-Match with another ETag gets 304", "never sees a change"},
		{"error", ifHeader("If-None-Match", answer(500, ""), full(tag)), "failed: with If-None-Match, the response is 500", "answer 304"},
		{"cut off", ifHeader("If-None-Match", aborts, full(tag)), "failed: with If-None-Match: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			expect(t, one(t, check(t, address, CheckOptions{Options: site(t, test.handler)}), "etag"), test.want, test.hint)
		})
	}
}

func TestIgnore(t *testing.T) {
	f := newFeeds(endpoint("http://"+asked+"/v1/feeds"), endpoint("https://{{host}}/v1/list"))
	f.feed("/v1/list", "[]")
	opts := CheckOptions{Options: site(t, f.mux), Ignore: []string{"plain-http", "feed", "probe", "cors", "etag"}}
	var observed []Result
	opts.Observe = func(r Result) { observed = append(observed, r) }
	report := check(t, address, opts)
	if !report.OK || report.Ignored != 5 {
		t.Errorf("ok %v, %d ignored: %+v", report.OK, report.Ignored, report.Results)
	}
	expect(t, one(t, report, "feed"), "skipped: 1 result ignored", "")
	expect(t, one(t, report, "manifest"), "skipped: 1 result ignored", "")
	if fmt.Sprint(observed) != fmt.Sprint(report.Results) {
		t.Errorf("observed %v", observed)
	}
}
