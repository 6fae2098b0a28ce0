package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/httpurl"
)

// quiet discards server logs about handlers that abort on purpose.
var quiet = log.New(io.Discard, "", 0)

// service is a plain http service on loopback, with a manifest of the endpoints that the test adds.
type service struct {
	*httptest.Server
	mux       *http.ServeMux
	endpoints []signpost.Endpoint
}

func newService(t *testing.T) *service {
	s := &service{mux: http.NewServeMux()}
	s.Server = serveHTTP(t, s.mux)
	s.mux.HandleFunc("/v1/endpoints-manifest", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(signpost.Manifest{Endpoints: s.endpoints})
	})
	return s
}

func (s *service) address() string { return s.URL + "/v1/endpoints-manifest" }

// add adds an endpoint, at a path of this service or at a URL, and returns its URL.
func (s *service) add(path string, change ...func(*signpost.Endpoint)) string {
	if strings.HasPrefix(path, "/") {
		path = s.URL + path
	}
	s.endpoints = append(s.endpoints, endpoint(path, append(change, func(e *signpost.Endpoint) { e.Name = path })...))
	return path
}

// probeOf returns the result of calling an endpoint.
func probeOf(t *testing.T, report Report, endpoint string) Result {
	t.Helper()
	for _, r := range report.Results {
		if r.Check == "probe" && r.Endpoint == endpoint {
			return r
		}
	}
	t.Fatalf("no result for %s: %+v", endpoint, report.Results)
	return Result{}
}

// resultsOf returns the results of a check.
func resultsOf(report Report, check string) []Result {
	return slices.DeleteFunc(slices.Clone(report.Results), func(r Result) bool { return r.Check != check })
}

func last(report Report, check string) Result {
	results := resultsOf(report, check)
	return results[len(results)-1]
}

var tokenItem = signpost.ContextItem{Key: "token", Type: signpost.ContextCtx, Required: true}

func TestProbe(t *testing.T) {
	closed := serveHTTP(t, answer(200, ""))
	gone := closed.URL
	closed.Close()
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		change     func(*signpost.Endpoint)
		want, hint string
	}{
		{"fine", answer(200, "{}", jsonType+"; charset=utf-8"), nil, "passed: 200 OK, application/json", ""},
		{"feed", answer(200, "{}", "Content-Type: application/vnd+vendor.feed+json"), mimeType(signpost.MIMEFeed), "passed: 200 OK, application/vnd+vendor.feed+json", ""},
		{"declared with parameters", answer(200, "{}", jsonType), mimeType("Application/JSON; charset=utf-8"), "passed: ", ""},
		{"not JSON, and meant so", answer(200, "a,b", "Content-Type: text/csv"), mimeType("text/csv"), "passed: 200 OK, text/csv", ""},
		{"no content", answer(204, ""), nil, "failed: the response is 204 No Content: there is no feed in it", "200 OK"},
		{"another JSON", answer(200, "{}", jsonType), mimeType(signpost.MIMEFeed),
			`warned: 200 OK with Content-Type "application/json", not "application/vnd+vendor.feed+json"`, "the same"},
		{"another type", answer(200, "<x/>", "Content-Type: text/xml"), nil, `failed: 200 OK with Content-Type "text/xml", not "application/json"`, "correct mime_type"},
		{"HTML that says JSON", answer(200, "<html>", jsonType), nil, `failed: 200 OK with Content-Type "application/json", but the body is HTML`, "instead of the feed"},
		{"nothing that says JSON", answer(200, "", jsonType), nil, "failed: 200 OK with an empty body", "send the feed"},
		{"form", answer(200, "{}", jsonType), mimeType(signpost.MIMEForm), `warned: 200 OK with Content-Type "application/json"; mime_type is "application/x-www-form-urlencoded", which no response to a get request has`, "type of the response"},
		{"401", answer(401, "{}", jsonType), nil, "failed: the response is 401 Unauthorized", "the feature authentication"},
		{"401, optional key", answer(401, "{}", jsonType), items(signpost.ContextItem{Key: "device", Type: signpost.ContextCtx}), "failed: 401", "declares as optional: device"},
		{"403, optional key", answer(403, "{}", jsonType), items(signpost.ContextItem{Key: "device", Type: signpost.ContextCtx}), "failed: 403", "declares as optional: device"},
		{"403", answer(403, "{}", jsonType), nil, "failed: the response is 403 Forbidden", "make it public"},
		{"400", answer(400, "{}", jsonType), nil, "failed: 400", "parameter that the manifest does not declare"},
		{"404", answer(404, "", ""), nil, "warned: the response is 404 Not Found, and no feed below it was reached", "an endpoint is a prefix"},
		{"404 of Signpost", answer(404, `{"manifests": ["/v1/endpoints-manifest"]}`, "Content-Type: application/problem+json"), nil,
			"failed: the response is 404 Not Found", "route only paths that end in /endpoints-manifest to Signpost"},
		{"410", answer(410, "", ""), nil, "failed: the response is 410 Gone", "correct the URL"},
		{"500", answer(500, "", ""), nil, "failed: the response is 500", "service's log"},
		{"405", answer(405, "", ""), nil, "failed: 405", "method post"},
		{"406", answer(406, "", ""), nil, "failed: 406", "mime_type"},
		{"429", answer(429, "", ""), nil, "failed: 429", "later"},
		{"503", answer(503, "", ""), nil, "failed: the response is 503 Service Unavailable", "service's log"},
		{"418", answer(418, "", ""), nil, "failed: 418", "means by it"},
		{"redirect", answer(302, "", "Location: /sign-in?next=x"), nil, `failed: the response is 302 Found, to "http://`, "that it redirects to"},
		{"slow", nil, nil, "failed: no response within 1h0m0s", "allow more time"},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		}, nil, "failed: the response is cut off", "limits of a proxy"},
		{"endless", endless, nil, "passed: 200 OK", ""},
		{"post", func(http.ResponseWriter, *http.Request) { t.Error("a post endpoint was called") }, post, "skipped: post endpoints are not called", ""},
		{"gone", nil, func(e *signpost.Endpoint) { e.URL = gone + "/x" }, "failed: nothing listens at", "start the service"},
		{"no port", nil, func(e *signpost.Endpoint) { e.URL = "https://127.0.0.1/x" }, "failed: ", "{{host}} has no port"},
		{"open host", nil, func(e *signpost.Endpoint) { e.URL = "https://{{host}}/x" }, "skipped: {{host}} is not replaced", ""},
		{"no type declared", answer(200, "<x/>", "Content-Type: text/xml"), mimeType(""), "passed: 200 OK, text/xml", ""},
		{"method in capitals", answer(200, "{}", jsonType), func(e *signpost.Endpoint) { e.Method = "GET" }, "passed: 200 OK", ""},
		{"method", nil, func(e *signpost.Endpoint) { e.Method = "put" }, `failed: it cannot be called: endpoint `, "correct the definition"},
		{"required in the body", nil, items(signpost.ContextItem{Key: "token", Type: signpost.ContextBodyParam, Required: true}), "failed: it cannot be called: ", "correct the definition"},
		{"default", nil, modifiers(signpost.Number(input("limit", "x"))), `failed: it cannot be called: modifier "limit" takes a number, not "x"`, "correct the definition"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			if test.handler != nil {
				s.mux.HandleFunc("GET /x", test.handler)
			}
			change := test.change
			if change == nil {
				change = func(*signpost.Endpoint) {}
			}
			s.add("/x", change)
			opts := CheckOptions{Options: Options{Timeout: time.Hour, Transport: http.DefaultTransport, limit: 100_000}}
			if test.name == "slow" {
				opts.Options = stalling(opts.Options, "/x", false)
			}
			got := one(t, check(t, s.address(), opts), "probe")
			expect(t, got, test.want, test.hint)
			if optional := strings.HasSuffix(test.name, "optional key"); optional != (got.Cause == causeOptionalValues) || optional != slices.Equal(got.ContextKeys, []string{"device"}) {
				t.Errorf("%+v", got)
			}
			if test.name == "gone" && strings.Contains(got.Hint, "has no port") {
				t.Errorf("the URL has a port, but %+v", got)
			}
		})
	}
}

func TestProbeSkipsAll(t *testing.T) {
	s := newService(t)
	s.mux.HandleFunc("/x", func(http.ResponseWriter, *http.Request) { t.Error("an endpoint was called") })
	s.add("/x")
	expect(t, one(t, check(t, s.address(), CheckOptions{SkipProbes: true}), "probe"), "skipped: the endpoints are not called", "")
}

// TestProbeRequest checks what the endpoints receive: defaults, parameters and, if allowed, context.
func TestProbeRequest(t *testing.T) {
	got := make(chan *http.Request, 10)
	record := func(w http.ResponseWriter, r *http.Request) {
		got <- r
		answer(200, "{}", jsonType)(w, r)
	}
	partner := serveHTTP(t, http.HandlerFunc(record))
	partnerURL := strings.Replace(partner.URL, "127.0.0.1", "localhost", 1) // another host

	optional := signpost.ContextItem{Key: "device", Type: signpost.ContextCtx}
	s := newService(t)
	s.mux.HandleFunc("/series/", record)
	own := s.add("/series/{{id}}/episodes", items(tokenItem, optional), modifiers(signpost.Number(input("limit", 20)), signpost.Text(input("q", nil))))
	theirs := s.add(partnerURL+"/optional", items(optional))
	refused := s.add(partnerURL+"/required", items(tokenItem))
	asUser := s.add(strings.Replace(partnerURL, "localhost", "127.0.0.1@localhost", 1)+"/user", items(tokenItem))
	withUser := s.add(strings.Replace(s.URL, "127.0.0.1", "me@127.0.0.1", 1)+"/user", items(tokenItem))
	clear := s.add("http://feeds.example.com/x", items(tokenItem))

	opts := CheckOptions{}
	report := check(t, s.address(), opts)
	expect(t, probeOf(t, report, own), "skipped: it needs a value for {{id}}, token", "give a value for {{id}} and token")
	opts.Params = map[string]string{"id": "a/7"}
	report = check(t, s.address(), opts)
	expect(t, probeOf(t, report, own), "skipped: it needs a value for token", "give a value for token")
	for len(got) > 0 {
		<-got
	}

	opts.Context = map[string]string{"token": secret, "device": "d"}
	report = check(t, s.address(), opts)
	expect(t, probeOf(t, report, own), "passed: ", "")
	expect(t, probeOf(t, report, theirs), "passed: ", "")
	expect(t, probeOf(t, report, refused), "skipped: it requires token, which is not sent because it is not on 127.0.0.1", "")
	expect(t, probeOf(t, report, asUser), "skipped: it requires token, which is not sent because it is not on 127.0.0.1", "")
	expect(t, probeOf(t, report, withUser), "skipped: it requires token, which is not sent because it is not on 127.0.0.1", "")
	expect(t, probeOf(t, report, clear), "skipped: it requires token, which is not sent", "")
	close(got)
	for r := range got {
		switch r.URL.Path {
		case "/series/a/7/episodes":
			values, err := contextkeys.Decode(r.URL.Query().Get("ctx"))
			token, _ := values.Text("token")
			if err != nil || token != secret || r.URL.Query().Get("limit") != "20" || r.URL.Query().Has("q") || r.URL.EscapedPath() != "/series/a%2F7/episodes" {
				t.Errorf("%s, %v", r.URL, err)
			}
		case "/optional":
			if r.URL.RawQuery != "" {
				t.Errorf("the partner got %s", r.URL)
			}
		default:
			t.Errorf("%s was called", r.URL)
		}
	}
}

// TestProbePlainHTTP checks that context values are sent over plain http only to this machine, and not to lookalikes.
func TestProbePlainHTTP(t *testing.T) {
	for host, sent := range map[string]bool{
		"feeds.example.com": false, "192.0.2.7": false, "10.0.0.1": false, "[2001:db8::1]": false, "localhost.example.com": false, "127.example.com": false,
		"127.0.0.1": true, "127.8.9.10": true, "[::1]": true, "localhost": true, "feeds.localhost": true,
	} {
		t.Run(host, func(t *testing.T) {
			got := make(chan bool, 1)
			s := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/x" {
					got <- r.URL.Query().Has("ctx")
				}
				body, _ := json.Marshal(signpost.Manifest{Endpoints: []signpost.Endpoint{endpoint("http://"+host+"/x", items(tokenItem))}})
				answer(200, string(body), jsonType)(w, r)
			}))
			opts := CheckOptions{Context: map[string]string{"token": secret}}
			opts.Transport = network(t, nil, map[string]*httptest.Server{host + ":80": s})
			report := check(t, "http://"+host+"/v1/endpoints-manifest", opts)
			if sent {
				expect(t, one(t, report, "probe"), "passed: ", "")
			} else {
				expect(t, one(t, report, "probe"), "skipped: it requires token, which is not sent because it is plain http", "")
			}
			if called := len(got) > 0; called != sent || called && !<-got {
				t.Errorf("called %v", called)
			}
		})
	}
}

func TestProbeUnusedValues(t *testing.T) {
	s := newService(t)
	s.add("/series/{{series_id}}", items(tokenItem))
	report := check(t, s.address(), CheckOptions{Params: map[string]string{"serie_id": "7"}, Context: map[string]string{"xyz": secret, "tokn": secret}})
	var results []Result
	for _, r := range report.Results {
		if r.Check == "probe" && r.Endpoint == "" {
			results = append(results, r)
		}
	}
	if len(results) != 3 {
		t.Fatalf("%+v", results)
	}
	expect(t, results[0], "warned: a value is given for the placeholder {{serie_id}}, which no endpoint has", `did you mean "series_id"?`)
	expect(t, results[1], `warned: a value is given for the context key "tokn", which no endpoint declares`, `did you mean "token"?`)
	expect(t, results[2], `warned: a value is given for the context key "xyz"`, "remove it")
}

// TestProbeKeepsSecrets uses services that repeat the context in every part of a response that a result may quote.
func TestProbeKeepsSecrets(t *testing.T) {
	const value = `S3cr3t/t"ken é`
	s := newService(t)
	echo := map[string]func(w http.ResponseWriter, r *http.Request){
		"/query": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere?"+r.URL.RawQuery, http.StatusFound)
		},
		"/path": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+url.PathEscape(value), http.StatusFound)
		},
		"/ctx": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+r.URL.Query().Get("ctx"), http.StatusFound)
		},
		"/user": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+url.PathEscape(value)+"@localhost/")
			w.WriteHeader(302)
		},
		"/type": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/"+value)
			io.WriteString(w, value)
		},
		"/json": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", value+"+json")
			io.WriteString(w, "{}")
		},
		"/html": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, value)
		},
		"/broken": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://a b/"+value)
			w.WriteHeader(302)
		},
		"/401": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401); io.WriteString(w, value) },
		"/malformed": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(conn, "HTTP/1.1 %s %s\r\n\r\n", value, r.URL.Query().Get("ctx"))
				conn.Close()
			}
		},
		"/reason": func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", value)
				conn.Close()
			}
		},
	}
	for path, handler := range echo {
		s.mux.HandleFunc(path, handler)
		s.add(path, items(tokenItem))
	}
	s.add("http://127.0.0.1:1/refused", items(tokenItem))
	s.add(s.URL+"/required", items(tokenItem, signpost.ContextItem{Key: "body", Type: signpost.ContextBodyParam, Required: true}))
	report := check(t, s.address(), CheckOptions{Context: map[string]string{"token": value, "unused": value}})
	encoded, err := contextkeys.Encode([]signpost.ContextItem{tokenItem}, map[string]any{"token": value})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range report.Results {
		if r.Check != "probe" {
			continue
		}
		seen++
		text := strings.ToLower(r.Endpoint + r.Message + r.Hint)
		for _, form := range []string{"s3cr3t", encoded, "ctx="} {
			if strings.Contains(text, strings.ToLower(form)) {
				t.Errorf("a result shows the secret: %+v", r)
			}
		}
		if r.Status == Passed {
			t.Errorf("%+v", r)
		}
	}
	expect(t, probeOf(t, report, s.URL+"/query"), "failed: the response is 302 Found, to another URL on the same host", "")
	expect(t, probeOf(t, report, s.URL+"/user"), "failed: the response is 302 Found, to another host", "")
	expect(t, probeOf(t, report, s.URL+"/type"), `failed: 200 OK with another Content-Type, not "application/json"`, "")
	expect(t, probeOf(t, report, s.URL+"/html"), `failed: 200 OK with Content-Type "text/html", not "application/json"`, "")
	expect(t, probeOf(t, report, s.URL+"/401"), "failed: the response is 401 Unauthorized", "the value for token is still valid")
	if seen != len(echo)+3 {
		t.Errorf("%d results", seen)
	}
}

// TestProbesRunConcurrently checks the limit of concurrent calls, and that a slow one does not hold up the others.
func TestProbesRunConcurrently(t *testing.T) {
	const limit, all = maxCalls, 20
	var running, most atomic.Int32
	together := make(chan struct{}) // closed when the maximum number is running
	var once sync.Once
	s := newService(t)
	s.mux.HandleFunc("/x/", func(w http.ResponseWriter, r *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == limit {
			once.Do(func() { close(together) })
		}
		select {
		case <-together:
		case <-time.After(5 * time.Minute):
			t.Error("the endpoints are not called concurrently")
		}
		answer(200, "{}", jsonType)(w, r)
	})
	var urls []string
	for i := range all {
		urls = append(urls, s.add(fmt.Sprintf("/x/%d", i)))
	}
	var progress []int
	report := check(t, s.address(), CheckOptions{Progress: func(done, total int) {
		if total != all {
			t.Errorf("the total is %d", total)
		}
		progress = append(progress, done)
	}})
	if got := most.Load(); got != limit {
		t.Errorf("%d concurrent calls, want %d", got, limit)
	}
	for i, done := range progress {
		if done != i {
			t.Errorf("progress %v", progress)
			break
		}
	}
	if len(progress) != all+1 {
		t.Errorf("progress %v", progress)
	}
	for i, r := range resultsOf(report, "probe") {
		if r.Endpoint != urls[i] || r.Status != Passed {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

func TestProbeLimit(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/a"), endpoint("https://{{host}}/b"), endpoint("https://{{host}}/c"), endpoint("https://{{host}}/d"))
	u, _ := httpurl.ParseAddress(address)
	c := &checker{opts: CheckOptions{Options: site(t, f.mux)}, address: u, maxProbes: 2}
	for _, path := range []string{"/a", "/b", "/c", "/d"} {
		f.feed(path, "{}")
	}
	report := c.check(t.Context())
	if calls := f.asked(); len(calls) != 2 {
		t.Errorf("requested %q", calls)
	}
	expect(t, last(report, "probe"), "skipped: 2 more endpoints: only 2 are called", "")
}

// TestProbeStop checks that a canceled check ends soon, whatever the endpoints do.
func TestProbeStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newService(t)
	s.mux.HandleFunc("/x/", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	for i := range 50 {
		s.add(fmt.Sprintf("/x/%d", i))
	}
	report, err := Check(ctx, s.address(), CheckOptions{Options: Options{Timeout: time.Hour}})
	if err != nil || report.OK {
		t.Errorf("%+v, %v", report, err)
	}
	expect(t, last(report, "probe"), "failed: the request was canceled", "")
}
