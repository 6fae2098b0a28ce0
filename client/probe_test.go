package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

func TestProbe(t *testing.T) {
	device := items(signpost.ContextItem{Key: "device", Type: signpost.ContextCtx})
	for _, test := range []struct {
		name       string
		handler    http.HandlerFunc
		change     func(*signpost.Endpoint)
		want, hint string
	}{
		{"fine", answer(200, "{}", jsonType+"; charset=utf-8"), mimeType("Application/JSON; x=y"), "passed: 200 OK, application/json", ""},
		{"not JSON, and meant so", answer(200, "a,b", "Content-Type: text/csv"), mimeType("text/csv"), "passed: 200 OK, text/csv", ""},
		{"no type declared", answer(200, "<x/>", "Content-Type: text/xml"), mimeType(""), "passed: 200 OK, text/xml", ""},
		{"no content", answer(204, ""), nil, "failed: the response is 204 No Content: there is no feed in it", "200 OK"},
		{"another JSON", answer(200, "{}", jsonType), mimeType(signpost.MIMEFeed),
			`warned: 200 OK with Content-Type "application/json", not "application/vnd+vendor.feed+json"`, "the same"},
		{"another type", answer(200, "<x/>", "Content-Type: text/xml"), nil, `failed: 200 OK with Content-Type "text/xml", not "application/json"`, "correct mime_type"},
		{"no type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "{}")
		}, nil,
			`failed: 200 OK without a Content-Type: it should be "application/json"`, "send Content-Type: application/json"},
		{"HTML that says JSON", answer(200, "<html>", jsonType), nil, `failed: 200 OK with Content-Type "application/json", but the body is HTML`, "instead of the feed"},
		{"text that says JSON", answer(200, "x", jsonType), nil, `failed: 200 OK with Content-Type "application/json", but the body is not JSON`, "instead of the feed"},
		{"nothing that says JSON", answer(200, " ", jsonType), nil, "failed: 200 OK with an empty body", "send the feed"},
		{"form", answer(200, "{}", jsonType), mimeType(signpost.MIMEForm),
			`warned: 200 OK with Content-Type "application/json"; mime_type is "application/x-www-form-urlencoded", which no response to a get request has`, "type of the response"},
		{"401", answer(401, "{}", jsonType), nil, "failed: the response is 401 Unauthorized", "the feature authentication"},
		{"401, optional key", answer(401, "{}", jsonType), device, "failed: 401", "declares as optional: device"},
		{"403, optional key", answer(403, "{}", jsonType), device, "failed: 403", "declares as optional: device"},
		{"400", answer(400, "{}", jsonType), nil, "failed: 400", "parameter that the manifest does not declare"},
		{"404", answer(404, "", ""), nil, "warned: the response is 404 Not Found, and no feed below it was reached", "an endpoint is a prefix"},
		{"404 of Signpost", answer(404, `{"manifests": ["/v1/endpoints-manifest"]}`, "Content-Type: application/problem+json"), nil,
			"failed: the response is 404 Not Found", "route only paths that end in /endpoints-manifest to Signpost"},
		{"410", answer(410, "", ""), nil, "failed: the response is 410 Gone", "correct the URL"},
		{"405", answer(405, "", ""), nil, "failed: 405", "method post"},
		{"406", answer(406, "", ""), nil, "failed: 406", "mime_type"},
		{"429", answer(429, "", ""), nil, "failed: 429", "later"},
		{"500", answer(500, "", ""), nil, "failed: the response is 500", "service's log"},
		{"418", answer(418, "", ""), nil, "failed: 418", "means by it"},
		{"redirect", answer(302, "", "Location: /sign-in?next=x"), nil, `failed: the response is 302 Found, to "http://`, "that it redirects to"},
		{"slow", nil, nil, "failed: no response within 10m0s", "allow more time"},
		{"truncated", cutOff, nil, "failed: the response is cut off", "limits of a proxy"},
		{"endless", endless, nil, "passed: 200 OK", ""},
		{"post", func(http.ResponseWriter, *http.Request) { t.Error("a post endpoint was called") }, post, "skipped: post endpoints are not called", ""},
		{"gone", nil, func(e *signpost.Endpoint) { e.URL = "http://127.0.0.1:1/x" }, "failed: nothing listens at 127.0.0.1:1", "start the service"},
		{"no port", nil, func(e *signpost.Endpoint) { e.URL = "http://127.0.0.1/x" }, "failed: ", "{{host}} has no port"},
		{"open host", nil, func(e *signpost.Endpoint) { e.URL = "http://{{host}}/x" }, "skipped: {{host}} is not replaced", ""},
		{"method in capitals", answer(200, "{}", jsonType), method("GET"), "passed: 200 OK", ""},
		{"method", nil, method("put"), `failed: it cannot be called: endpoint `, "correct the definition"},
		{"required in the body", nil, items(signpost.ContextItem{Key: "token", Type: signpost.ContextBodyParam, Required: true}), "failed: it cannot be called: ", "correct the definition"},
		{"default", nil, modifiers(signpost.Number(input("limit", "x"))), `failed: it cannot be called: modifier "limit" takes a number, not "x"`, "correct the definition"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := endpoint("https://{{host}}/x")
			if test.change != nil {
				test.change(&e)
			}
			f := newFeeds(e)
			if test.handler != nil {
				f.handle("/x", test.handler)
			}
			opts := CheckOptions{Options: network(t, nil)}
			opts.limit = 100_000
			if test.name == "slow" {
				opts.Options = stalling(opts.Options, "/x", false)
			}
			got := one(t, check(t, serve(t, f.mux, false).URL+"/v1/endpoints-manifest", opts), "probe")
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

// TestProbeRequest checks what the endpoints receive: defaults, parameters and, if allowed, context.
func TestProbeRequest(t *testing.T) {
	var mu sync.Mutex
	got := make(map[string]*http.Request)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got[r.Host+r.URL.EscapedPath()] = r
		answer(200, "{}", jsonType)(w, r)
	}), true)
	optional := signpost.ContextItem{Key: "device", Type: signpost.ContextCtx}
	f := newFeeds(
		endpoint("https://{{host}}/series/{{id}}/episodes", items(tokenItem, optional), modifiers(signpost.Number(input("limit", 20)), signpost.Text(input("q", nil)))),
		endpoint("https://partner.example.com/optional", items(optional)),
		endpoint("https://partner.example.com/required", items(tokenItem)),
		endpoint("https://feeds.example.com@partner.example.com/user", items(tokenItem)),
		endpoint("https://me@feeds.example.com/me", items(tokenItem)),
		endpoint("http://feeds.example.com/plain", items(tokenItem)),
	)
	f.mux.Handle("/series/", s.Config.Handler)
	opts := CheckOptions{Options: network(t, map[string]*httptest.Server{asked + ":443": serve(t, f.mux, true), "partner.example.com:443": s})}
	const own = "/series/{{id}}/episodes"
	expect(t, probeOf(t, check(t, address, opts), own), "skipped: it needs a value for {{id}}, token", "give a value for {{id}} and token")
	opts.Params = map[string]string{"id": "a/7"}
	expect(t, probeOf(t, check(t, address, opts), own), "skipped: it needs a value for token", "give a value for token")
	clear(got)
	opts.Context = map[string]string{"token": secret, "device": "d"}
	report := check(t, address, opts)
	expect(t, probeOf(t, report, own), "passed: ", "")
	expect(t, probeOf(t, report, "/optional"), "passed: ", "")
	for _, refused := range []string{"/required", "/user", "/me"} {
		expect(t, probeOf(t, report, refused), "skipped: it requires token, which is not sent because it is not on feeds.example.com", "")
	}
	expect(t, probeOf(t, report, "/plain"), "skipped: it requires token, which is not sent because it is plain http", "")
	if r := got["feeds.example.com/series/a%2F7/episodes"]; r == nil {
		t.Error("the endpoint was not called")
	} else {
		values, err := contextkeys.Decode(r.URL.Query().Get("ctx"))
		if token, _ := values.Text("token"); err != nil || token != secret || r.URL.Query().Get("limit") != "20" || r.URL.Query().Has("q") {
			t.Errorf("%s, %v", r.URL, err)
		}
	}
	if r := got["partner.example.com/optional"]; len(got) != 2 || r.URL.RawQuery != "" {
		t.Errorf("%d requests, the partner got %s", len(got), r.URL)
	}
}

// TestProbePlainHTTP checks that context values are sent over plain http only to this machine, and not to lookalikes.
func TestProbePlainHTTP(t *testing.T) {
	for host, sent := range map[string]bool{
		"feeds.example.com": false, "10.0.0.1": false, "[2001:db8::1]": false, "localhost.example.com": false, "127.example.com": false,
		"127.8.9.10": true, "[::1]": true, "feeds.localhost": true,
	} {
		f := newFeeds(endpoint("https://{{host}}/x", items(tokenItem)))
		f.feed("/x", "{}")
		opts := CheckOptions{Context: map[string]string{"token": secret}, Options: network(t, map[string]*httptest.Server{host + ":80": serve(t, f.mux, false)})}
		got := one(t, check(t, "http://"+host+"/v1/endpoints-manifest", opts), "probe")
		if sent {
			expect(t, got, "passed: ", "")
		} else {
			expect(t, got, "skipped: it requires token, which is not sent because it is plain http", "")
		}
		if called := len(f.asked()) > 0; called != sent {
			t.Errorf("%s is called: %v", host, called)
		}
	}
}

// TestSendTo checks that requests for the service's own host go elsewhere, and no others do.
func TestSendTo(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://partner.example.com/x", items(signpost.ContextItem{Key: "token", Type: signpost.ContextCtx})))
	var got *http.Request
	f.handle("/v1/media", func(w http.ResponseWriter, r *http.Request) {
		got = r
		answer(200, `{"x": "BASE/"}`, jsonType)(w, r)
	})
	partner := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "partner.example.com" || r.URL.RawQuery != "" || r.Header.Get("X-Forwarded-Host") != "" {
			t.Errorf("the partner got %s %s %v", r.Host, r.URL, r.Header)
		}
		answer(200, "{}", jsonType)(w, r)
	}), true)
	local := serve(t, f.mux, false)
	sendTo, err := httpurl.ParseOrigin(local.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]*httptest.Server{"partner.example.com:443": partner, "staging.example.com:80": local}
	opts := CheckOptions{Options: network(t, servers), SendTo: sendTo, Context: map[string]string{"token": secret}}
	report := check(t, address, opts)
	for _, r := range resultsOf(report, "probe") {
		expect(t, r, "passed: ", "")
	}
	expect(t, one(t, report, "reachable"), "passed: "+sendTo.Host+" answers for feeds.example.com", "")
	expect(t, one(t, report, "certificate"), "skipped: requests are sent to http://"+sendTo.Host+" instead", "")
	if got.Host != asked || got.Header.Get("X-Forwarded-Host") != asked || got.Header.Get("X-Forwarded-Proto") != "https" || !got.URL.Query().Has("ctx") {
		t.Errorf("the service got %s %s %v", got.Host, got.URL, got.Header)
	}

	// A manifest with an explicit port is fetched from there.
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/endpoints-manifest", answer(200, manifestOf("https://127.0.0.1/v1/media"), jsonType))
	report = check(t, serve(t, mux, false).URL+"/v1/endpoints-manifest", CheckOptions{SendTo: sendTo})
	expect(t, one(t, report, "probe"), "passed: 200 OK", "")
	if got.Host != "127.0.0.1" {
		t.Errorf("the service got %s", got.Host)
	}

	// Context values are not sent over plain http to another machine.
	opts.SendTo, _ = httpurl.ParseOrigin("http://staging.example.com")
	got = nil
	expect(t, probeOf(t, check(t, address, opts), "/v1/media"), "skipped: it requires token, which is not sent because it is plain http", "")
	if got != nil {
		t.Errorf("the service got %s", got.URL)
	}
}

func TestProbeUnusedValues(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/series/{{series_id}}", items(tokenItem)))
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Params: map[string]string{"serie_id": "7"}, Context: map[string]string{"xyz": secret, "tokn": secret},
		Endpoints: map[string]Values{"/serie/{{series_id}}": {}}})
	results := resultsOf(report, "probe")
	if len(results) != 5 {
		t.Fatalf("%+v", results)
	}
	expect(t, results[0], "warned: a value is given for the placeholder {{serie_id}}, which no endpoint has", `did you mean "series_id"?`)
	expect(t, results[1], `warned: a value is given for the context key "tokn", which no endpoint declares`, `did you mean "token"?`)
	expect(t, results[2], `warned: a value is given for the context key "xyz"`, "remove it")
	expect(t, results[3], `warned: values are given for the endpoint "/serie/{{series_id}}", which the manifest does not have`, `did you mean "/series/{{series_id}}"?`)
}

// TestValues checks that endpoints with the same placeholder and the same key get their own values, and values that are not
// strings as JSON.
func TestValues(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/series/{{id}}"), endpoint("https://{{host}}/v1/shows/{{id}}", items(tokenItem)), endpoint("https://{{host}}/v1/people/{{id}}", items(tokenItem)),
		endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://{{host}}/v1/live", items(tokenItem)))
	object := `{"id":7,"tokens":["` + secret + `"]}`
	for path, want := range map[string]string{"/v1/series/1": "", "/v1/shows/2": `"general"`, "/v1/people/3": `"own"`, "/v1/media": object} {
		f.handle(path, func(w http.ResponseWriter, r *http.Request) {
			values, _ := contextkeys.Decode(r.URL.Query().Get("ctx"))
			if token, _ := values.JSON("token"); string(token) != want {
				t.Errorf("%s got the token %s, want %s", path, token, want)
			}
			answer(200, `{"link": "https://feeds.example.com/v9/`+secret+`"}`, jsonType)(w, r)
		})
	}
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Ignore: []string{"links"}, Params: map[string]string{"id": "1"}, Context: map[string]string{"token": "general"}, Endpoints: map[string]Values{
		"/v1/shows/{{id}}":                           {Params: map[string]string{"id": "2"}},
		"https://feeds.example.com/v1/people/{{id}}": {Params: map[string]string{"id": "3"}, Context: map[string]string{"token": "own"}},
		"/v1/media": {ContextJSON: map[string]json.RawMessage{"token": json.RawMessage(object)}},
		"/v1/live":  {ContextJSON: map[string]json.RawMessage{"token": json.RawMessage("null")}},
	}})
	results := resultsOf(report, "probe")
	for _, r := range results[:4] {
		expect(t, r, "passed: ", "")
	}
	expect(t, results[4], "skipped: it needs a value for token", "")
}

// TestValuesOfAnotherEndpoint checks that an endpoint is not called with values that make its feed that of another one.
// An app would send the context keys of the other one.
func TestValuesOfAnotherEndpoint(t *testing.T) {
	for _, link := range []string{"", "https://feeds.example.com/v1/teams/7"} {
		f := newFeeds(endpoint("https://{{host}}/v1/teams/{{id}}", items(tokenItem)), endpoint("https://{{host}}/v1/teams/kids"))
		f.handle("/v1/teams/{id}", func(w http.ResponseWriter, r *http.Request) {
			if r.PathValue("id") == "kids" && r.URL.Query().Has("ctx") {
				t.Error("the feed of the other endpoint gets the token")
			}
			answer(200, `{"link": "`+link+`"}`, jsonType)(w, r)
		})
		report := check(t, address, CheckOptions{Options: site(t, f.mux), Params: map[string]string{"id": "kids"}, Context: map[string]string{"token": secret}})
		results := resultsOf(report, "probe")
		if link == "" {
			expect(t, results[0], `skipped: with the given values, "Feed 1" answers for its feed, and no link leads to it`, "give another value for {{id}}")
		} else {
			expect(t, results[0], "passed: 200 OK, application/json; reached as", "")
		}
		expect(t, results[1], "passed: ", "")
	}
}

// TestProbeKeepsSecrets uses services that repeat the context in every part of a response that a result may quote.
func TestProbeKeepsSecrets(t *testing.T) {
	const value = `S3cr3t/t"ken é`
	hijack := func(format string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				fmt.Fprintf(conn, format, value)
				conn.Close()
			}
		}
	}
	echo := map[string]http.HandlerFunc{
		"/query": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere?"+r.URL.RawQuery, http.StatusFound)
		},
		"/path":      answer(302, "", "Location: /"+url.PathEscape(value)),
		"/user":      answer(302, "", "Location: http://"+url.PathEscape(value)+"@localhost/"),
		"/broken":    answer(302, "", "Location: http://a b/"+value),
		"/type":      answer(200, value, "Content-Type: text/"+value),
		"/json":      answer(200, "{}", "Content-Type: "+value+"+json"),
		"/html":      answer(200, value, "Content-Type: text/html"),
		"/401":       answer(401, value),
		"/malformed": hijack("HTTP/1.1 %s\r\n\r\n"),
		"/reason":    hijack("HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n"),
	}
	f := newFeeds()
	for path, handler := range echo {
		f.handle(path, handler)
		f.manifest.Endpoints = append(f.manifest.Endpoints, endpoint("https://{{host}}"+path, items(tokenItem)))
	}
	f.manifest.Endpoints = append(f.manifest.Endpoints, endpoint("https://{{host}}/required", items(tokenItem, signpost.ContextItem{Key: "body", Type: signpost.ContextBodyParam, Required: true})))
	report := check(t, serve(t, f.mux, false).URL+"/v1/endpoints-manifest", CheckOptions{Context: map[string]string{"token": value, "unused": value}})
	encoded, err := contextkeys.Encode([]signpost.ContextItem{tokenItem}, map[string]any{"token": value})
	if err != nil {
		t.Fatal(err)
	}
	results := resultsOf(report, "probe")
	for _, r := range results {
		text := strings.ToLower(r.Endpoint + r.Message + r.Hint)
		if strings.Contains(text, "s3cr3t") || strings.Contains(text, strings.ToLower(encoded)) || strings.Contains(text, "ctx=") || r.Status == Passed {
			t.Errorf("%+v", r)
		}
	}
	if len(results) != len(echo)+2 {
		t.Errorf("%d results", len(results))
	}
	expect(t, probeOf(t, report, "/query"), "failed: the response is 302 Found, to another URL on the same host", "")
	expect(t, probeOf(t, report, "/user"), "failed: the response is 302 Found, to another host", "")
	expect(t, probeOf(t, report, "/type"), `failed: 200 OK with another Content-Type, not "application/json"`, "")
	expect(t, probeOf(t, report, "/html"), `failed: 200 OK with Content-Type "text/html", not "application/json"`, "")
	expect(t, probeOf(t, report, "/401"), "failed: the response is 401 Unauthorized", "the value for token is still valid")
}

// TestProbesRunConcurrently checks the limit of concurrent calls, and that a slow one does not hold up the others.
func TestProbesRunConcurrently(t *testing.T) {
	const all = 2*maxCalls + 4
	var running, most atomic.Int32
	together := make(chan struct{}) // closed when the maximum number is running
	var once sync.Once
	f := newFeeds()
	f.handle("/x/", func(w http.ResponseWriter, r *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == maxCalls {
			once.Do(func() { close(together) })
		}
		select {
		case <-together:
		case <-time.After(5 * time.Minute):
			t.Error("the endpoints are not called concurrently")
		}
		answer(200, "{}", jsonType)(w, r)
	})
	for i := range all {
		f.manifest.Endpoints = append(f.manifest.Endpoints, endpoint(fmt.Sprintf("https://{{host}}/x/%d", i)))
	}
	var progress, want []int
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Progress: func(done, total int) {
		progress, want = append(progress, done), append(want, len(want))
		if total != all {
			t.Errorf("the total is %d", total)
		}
	}})
	if got := most.Load(); got != maxCalls || !slices.Equal(progress, want) || len(want) != all+1 {
		t.Errorf("%d concurrent calls, progress %v", got, progress)
	}
	for i, r := range resultsOf(report, "probe") {
		if !strings.HasSuffix(r.Endpoint, fmt.Sprintf("/x/%d", i)) || r.Status != Passed {
			t.Errorf("result %d is %+v", i, r)
		}
	}
}

// TestLimits checks how many endpoints are called, and how much memory links take.
func TestLimits(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/a"), endpoint("https://{{host}}/b"), endpoint("https://{{host}}/c"), endpoint("https://{{host}}/d"))
	for _, path := range []string{"/a", "/b", "/c", "/d"} {
		f.feed(path, `{"entry": ["BASE/a", "BASE/a"]}`)
	}
	u, _ := httpurl.ParseAddress(address)
	c := &checker{opts: CheckOptions{Options: site(t, f.mux)}, address: u, maxProbes: 2, maxKept: 3 * maxPointer}
	report := c.check(t.Context())
	if calls := f.asked(); len(calls) != 2 {
		t.Errorf("requested %q", calls)
	}
	expect(t, resultsOf(report, "probe")[2], "skipped: 2 more endpoints: only 2 are called", "")
	expect(t, one(t, report, "links"), "passed: 1 link, with an endpoint that answers for it; 0 followed; further links were not checked", "")
	c.opts.SkipProbes, c.results = true, nil
	expect(t, one(t, c.check(t.Context()), "probe"), "skipped: the endpoints are not called", "")
	if calls := f.asked(); len(calls) != 0 {
		t.Errorf("requested %q", calls)
	}
}

// TestProbeStop checks that a canceled check ends soon, whatever the endpoints do.
func TestProbeStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFeeds()
	f.handle("/x/", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	for i := range 50 {
		f.manifest.Endpoints = append(f.manifest.Endpoints, endpoint(fmt.Sprintf("https://{{host}}/x/%d", i)))
	}
	report, err := Check(ctx, address, CheckOptions{Options: site(t, f.mux)})
	if err != nil || report.OK {
		t.Errorf("%+v, %v", report, err)
	}
	expect(t, probeOf(t, report, "/x/49"), "failed: the request was canceled", "")
}
