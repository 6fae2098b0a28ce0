package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/httpurl"
)

// lines returns the results of checks as text, with their hints if they failed, and without the host of the service.
func lines(report Report, statuses ...Status) (all []string) {
	base := strings.TrimSuffix(report.Address, "/v1/endpoints-manifest")
	for _, r := range report.Results {
		if slices.Contains(statuses, r.Status) {
			all = append(all, strings.ReplaceAll(fmt.Sprintf("%s %s %s: %s\n%s", r.Check, r.Status, r.Endpoint, r.Message, r.Hint), base, "BASE"))
		}
	}
	return all
}

// TestCheckFindsWhatIsBroken checks a service with one dead link, one endpoint with JSON of the wrong shape, and one endpoint
// that is only reachable through a link. The check names exactly these, however the service is reached.
func TestCheckFindsWhatIsBroken(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/feeds"), endpoint("https://{{host}}/v1/list"), endpoint("https://{{host}}/v1/series/{{series_id}}", items(tokenItem)))
	f.feed("/v1/feeds", `{"entry": [
		{"title": "One", "content": {"src": "BASE/v1/series/1"}, "image": "BASE/img/1.jpg"},
		{"title": "Nine", "content": {"src": "BASE/v1/series/9"}},
		{"title": "Elsewhere", "link": "https://www.example.org/about"}]}`)
	f.feed("/v1/list", `[{"title": "One"}]`)
	series := answer(200, `{"entry": []}`, jsonType, "Access-Control-Allow-Origin: *", "Cache-Control: private")
	f.handle("/v1/series/1", contextkeys.Middleware([]signpost.ContextItem{tokenItem})(series).ServeHTTP)
	plain := serve(t, f.mux, false)
	sendTo, err := httpurl.ParseOrigin(plain.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, way := range map[string]struct {
		address string
		opts    CheckOptions
	}{
		"plain http": {plain.URL + "/v1/endpoints-manifest", CheckOptions{}},
		"TLS":        {address, CheckOptions{Options: site(t, f.mux)}},
		"send to":    {address, CheckOptions{Options: network(t, nil), SendTo: sendTo}},
	} {
		t.Run(name, func(t *testing.T) {
			f.asked()
			way.opts.Context = map[string]string{"token": secret}
			report := check(t, way.address, way.opts)
			want := []string{
				"feed failed BASE/v1/list: the body is JSON, but an array, not an object\nsend a JSON object, such as {\"entry\": []}",
				"links failed BASE/v1/feeds: \"BASE/v1/series/9\", at /entry/1/content/src, does not work: the response is 404 Not Found\ncorrect the link, or publish what it leads to",
			}
			if diff := cmp.Diff(want, lines(report, Failed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			expect(t, probeOf(t, report, "/{{series_id}}"), `passed: 200 OK, application/json; reached as "`, "")
			expect(t, one(t, report, "feed-cors"), "passed: pages of every origin can read 3 feeds", "")
			expect(t, one(t, report, "feed-cache"), "passed: no feed that requires a context key is marked public", "")
			calls := f.asked()
			if slices.Sort(calls); len(slices.Compact(slices.Clone(calls))) != len(calls) {
				t.Errorf("a URL was requested twice: %q", calls)
			}
		})
	}
}

// TestFollowLoops checks that pages, nested feeds and loops terminate, and that no URL is requested twice.
func TestFollowLoops(t *testing.T) {
	f := newFeeds(
		endpoint("https://{{host}}/v1/feeds", modifiers(signpost.Number(input("limit", 20)))),
		endpoint("https://{{host}}/v1/series/{{id}}"),
		endpoint("https://{{host}}/v1/series/{{id}}/episodes"),
	)
	f.handle("/v1/feeds", func(w http.ResponseWriter, r *http.Request) {
		page := r.URL.Query().Get("page")
		next := map[string]string{"": "2", "2": "3", "3": "2"}[page] // 3 goes back to 2
		text := fmt.Sprintf(`{"next": "%[1]s/v1/feeds?page=%[2]s#top", "self": "%[1]s/v1/feeds", "entry": [{"src": "%[1]s/v1/series/%[2]s"}]}`, base(r), next)
		answer(200, text, jsonType)(w, r)
	})
	for _, id := range []string{"2", "3"} {
		f.feed("/v1/series/"+id, `{"first": "BASE/v1/feeds", "again": "BASE/v1/series/`+id+`?", "episodes": "BASE/v1/series/`+id+`/episodes"}`)
		f.feed("/v1/series/"+id+"/episodes", `{"up": "BASE/v1/series/`+id+`"}`)
	}
	report := check(t, address, CheckOptions{Options: site(t, f.mux)})
	want := []string{
		"/v1/feeds?limit=20",               // the endpoint
		"/v1/feeds?page=2", "/v1/series/2", // its links
		"/v1/feeds?page=3", "/v1/series/2/episodes", "/v1/series/3", // their links
		"/v1/series/3/episodes",
	}
	if diff := cmp.Diff(want, sortLevels(f.asked(), 1, 2, 3, 1)); diff != "" {
		t.Errorf("requested (-want +got):\n%s", diff)
	}
	expect(t, one(t, report, "links"), "passed: 7 links, each with an endpoint that answers for it; 6 followed", "")
	for _, r := range resultsOf(report, "probe") {
		expect(t, r, "passed: ", "")
	}
}

// sortLevels sorts the calls of each level, whose order is arbitrary.
func sortLevels(calls []string, sizes ...int) []string {
	var out []string
	for _, n := range sizes {
		n = min(n, len(calls))
		out, calls = append(out, slices.Sorted(slices.Values(calls[:n]))...), calls[n:]
	}
	return append(out, calls...)
}

// TestFollowBreadth checks that every endpoint is reached before a second link of another one is called.
func TestFollowBreadth(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/feeds"), endpoint("https://{{host}}/v1/item/{{id}}"), endpoint("https://{{host}}/v1/show/{{id}}"),
		endpoint("https://{{host}}/v1/person/{{id}}"))
	var entries []string
	for i := range 30 {
		entries = append(entries, fmt.Sprintf(`"BASE/v1/item/%d"`, i))
	}
	f.feed("/v1/feeds", `{"entry": [`+strings.Join(entries, ",")+`, "BASE/v1/show/1"]}`)
	f.feed("/v1/item/{id}", `{"by": "BASE/v1/person/1"}`)
	f.feed("/v1/show/{id}", `{}`)
	f.feed("/v1/person/{id}", `{}`)
	opts := CheckOptions{Options: site(t, f.mux), Follow: 2}
	report := check(t, address, opts)
	if got := sortLevels(f.asked(), 1, 2); fmt.Sprint(got) != "[/v1/feeds /v1/item/0 /v1/show/1]" {
		t.Errorf("requested %q", got)
	}
	expect(t, probeOf(t, report, "/v1/person/{{id}}"), "skipped: it needs a value for {{id}}, and no link to it was followed", "follow more links, or give a value for {{id}}")
	expect(t, one(t, report, "links"), "passed: 32 links, each with an endpoint that answers for it; 2 followed, 30 not", "")

	opts.Follow = -1
	report = check(t, address, opts)
	if got := f.asked(); fmt.Sprint(got) != "[/v1/feeds]" {
		t.Errorf("requested %q", got)
	}
	expect(t, probeOf(t, report, "/v1/show/{{id}}"), "skipped: it needs a value for {{id}}, and no link to it was followed", "")
	expect(t, probeOf(t, report, "/v1/person/{{id}}"), "skipped: it needs a value for {{id}}, and no link leads to it", "give a value for {{id}}")

	opts.Follow = 0
	check(t, address, opts)
	if got := f.asked(); len(got) != 1+DefaultFollow {
		t.Errorf("requested %q", got)
	}
}

// TestFollowStops checks that a canceled check does not blame links.
func TestFollowStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFeeds(endpoint("https://{{host}}/v1/feeds"))
	f.feed("/v1/feeds", `{"next": "BASE/v1/feeds/2", "template": "BASE/v1/feeds/{{id}}"}`)
	f.handle("/v1/feeds/2", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	report, err := Check(ctx, address, CheckOptions{Options: site(t, f.mux)})
	if got := one(t, report, "links").Message; err != nil || got != "2 links, each with an endpoint that answers for it; 1 followed" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestLinks checks which links have an endpoint, and what is reported about the others.
func TestLinks(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/feeds", items(tokenItem)), endpoint("https://{{host}}/v1/home"), endpoint("https://partner.example.net/x/{{id}}"),
		endpoint("https://{{host}}/v1/upload", post))
	f.feed("/v1/home", `{"entry": [
		{"link": "BASE/v2/feeds/1"}, {"link": "BASE/v2/feeds/2"}, {"link": "BASE/v1/feeds"}, {"link": "BASE/v2/feeds/1"},
		{"link": "http://feeds.example.com/v1/home?page=2"}, {"web": "https://feeds.example.com:8443/v1/home"},
		{"user": "https://me@feeds.example.com/v1/home"}, {"post": "BASE/v1/upload/1"},
		{"poster": "BASE/img/1.PNG?w=100", "video": "BASE/v/1.m3u8"},
		{"partner": "https://partner.example.net/y", "other": "https://other.example.net/z", "text": "see https://feeds.example.com/v9 for more"},
		{"template": "BASE/v1/home/{{id}}", "a/b~c": {"relative": "/v2/x", "mailto": "mailto:a@feeds.example.com", "deep": "BASE/v3"}}]}`)
	opts := CheckOptions{Options: site(t, f.mux), Ignore: []string{"probe"}}
	const declare, near = "declare an endpoint whose URL is a prefix of it, or correct the link", `correct the link: its scheme, port or user info is not that of "BASE/v1/home"`
	want := []string{
		`links failed BASE/v1/home: no endpoint answers for 3 links at /entry/*/link, such as "BASE/v2/feeds/1": apps call them without context keys` + "\n" + declare,
		`links failed BASE/v1/home: no endpoint answers for "BASE:8443/v1/home", at /entry/5/web: apps call it without context keys` + "\n" + near,
		`links failed BASE/v1/home: no endpoint answers for "https://me@feeds.example.com/v1/home", at /entry/6/user: apps call it without context keys` + "\n" + near,
		`links failed BASE/v1/home: no endpoint answers for "https://partner.example.net/y", at /entry/9/partner: apps call it without context keys` + "\n" + declare,
		`links failed BASE/v1/home: no endpoint answers for "BASE/v3", at /entry/10/a~1b~0c/deep: apps call it without context keys` + "\n" + declare,
	}
	if diff := cmp.Diff(want, lines(check(t, address, opts), Failed)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// Manifests registered alongside answer for their own links.
	opts.Registered = []signpost.Manifest{signpost.NewManifest(endpoint("https://feeds.example.com/v2"), endpoint("https://feeds.example.com/v3"), endpoint("https://other.example.net/a"))}
	f.asked()
	got := strings.Join(lines(check(t, address, opts), Failed), "\n")
	if strings.Contains(got, "/v2/") || strings.Contains(got, "/v3") || !strings.Contains(got, `no endpoint answers for "https://other.example.net/z"`) ||
		!strings.Contains(got, `"http://feeds.example.com/v1/home?page=2"`) {
		t.Errorf("got %s", got)
	}
	if calls := f.asked(); !slices.Equal(calls, []string{"/v1/home"}) {
		t.Errorf("%q were called: feeds of another service", calls)
	}
}

// TestDeadLinks covers all the ways in which links can fail.
func TestDeadLinks(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/x/{{id}}"))
	f.feed("/v1/home", `{"a": "BASE/v1/x/gone", "b": "BASE/v1/x/moved", "c": "BASE/v1/x/cut", "d": "BASE/v1/x/html", "e": "BASE/v1/x/null", "f": "BASE/v1/x/none",
		"g": "BASE/v1/x/login", "h": "BASE/v1/x/%zz", "i": "BASE/v1/x/huge", "j": "BASE/v1/x/error", "k": "BASE/v1/x/slow"}`)
	f.handle("/v1/x/gone", answer(410, ""))
	f.handle("/v1/x/moved", answer(302, "", "Location: https://elsewhere.example/"))
	f.handle("/v1/x/cut", cutOff)
	f.handle("/v1/x/html", answer(200, "<html>", jsonType))
	f.feed("/v1/x/null", "null")
	f.handle("/v1/x/none", answer(204, ""))
	f.handle("/v1/x/login", answer(401, "{}", jsonType))
	f.feed("/v1/x/huge", `{"x": "`+strings.Repeat("x", 10000)+`"}`)
	f.feed("/v1/x/error", `{"error": "no such thing", "code": 404}`)
	opts := CheckOptions{Options: stalling(site(t, f.mux), "/v1/x/slow", false), Ignore: []string{"cors", "etag", "feed-cors"}}
	opts.limit = 10000
	var got []string
	for _, line := range lines(check(t, address, opts), Failed, Warned) {
		line, _, _ = strings.Cut(line, "\n")
		got = append(got, line)
	}
	want := []string{
		`probe failed BASE/v1/x/{{id}}: 200 OK with Content-Type "application/json", but the body is HTML; reached as "BASE/v1/x/html", a link in BASE/v1/home`,
		`probe failed BASE/v1/x/{{id}}: as "BASE/v1/x/none": the response is 204 No Content: there is no feed in it`,
		`feed failed BASE/v1/x/{{id}}: as "BASE/v1/x/null": the body is JSON, but null, not an object`,
		`feed warned BASE/v1/x/{{id}}: as "BASE/v1/x/huge": the feed is larger than 4 MiB, so it is not checked`,
		`feed failed BASE/v1/x/{{id}}: as "BASE/v1/x/error": the body is an error message, not a feed`,
		`links failed BASE/v1/home: "BASE/v1/x/gone", at /a, does not work: the response is 410 Gone`,
		`links failed BASE/v1/home: "BASE/v1/x/moved", at /b, does not work: the response is 302 Found, to "https://elsewhere.example/"`,
		`links failed BASE/v1/home: "BASE/v1/x/cut", at /c, does not work: the response is cut off`,
		`links failed BASE/v1/home: "BASE/v1/x/login", at /g, does not work: the response is 401 Unauthorized`,
		`links failed BASE/v1/home: "BASE/v1/x/slow", at /k, does not work: no response within 10m0s`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyBadLinks checks that only some of many links are named, and the others counted.
func TestManyBadLinks(t *testing.T) {
	for more, want := range map[int][2]string{
		0: {"failed: no endpoint answers for", "failed: does not work: the response is 404"},
		1: {"failed: 1 more kind of links that apps cannot call as they should", "failed: 1 more link does not work"},
		2: {"failed: 2 more kinds of links that apps cannot call as they should", "failed: 2 more links do not work"},
	} {
		f := newFeeds(endpoint("https://{{host}}/v1/home"))
		var fields []string
		for i := range maxLinkResults + more {
			fields = append(fields, fmt.Sprintf(`"dead%d": "BASE/v1/home/%[1]d", "orphan%[1]d": "BASE/v2/%[1]d"`, i))
		}
		f.feed("/v1/home", "{"+strings.Join(fields, ", ")+"}")
		got := resultsOf(check(t, address, CheckOptions{Options: site(t, f.mux), Follow: 2 * maxLinkResults}), "links")
		kinds := maxLinkResults + min(1, more)
		if len(got) != 2*kinds {
			t.Fatalf("%d results for %d more", len(got), more)
		}
		expect(t, got[kinds-1], want[0], "")
		expect(t, got[2*kinds-1], want[1], "")
	}
}

// TestPrefix checks an endpoint whose own URL is not a feed: an endpoint is a prefix.
func TestPrefix(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/gallery"), endpoint("https://{{host}}/v1/show/{{id}}"))
	f.feed("/v1/home", `{"entry": ["BASE/v1/gallery/1", "BASE/v1/gallery/2"]}`)
	f.feed("/v1/gallery/{id}", `{}`)
	f.feed("/v1/show/7/episodes", `{}`)
	const show = "https://feeds.example.com/v1/show/{{id}}"
	opts := CheckOptions{Options: site(t, f.mux), Params: map[string]string{"id": "7"}}
	report := check(t, address, opts)
	expect(t, probeOf(t, report, "/v1/gallery"), `passed: 200 OK, application/json; reached as "https://feeds.example.com/v1/gallery/1", a link in https://feeds.example.com/v1/home; its own URL is not a feed: 404 Not Found`, "")
	expect(t, probeOf(t, report, show), "warned: the response is 404 Not Found, and no feed below it was reached", "name one below it")
	if !report.OK {
		t.Errorf("%+v", report)
	}
	for feed, want := range map[string]string{ // a feed of the endpoint can be named, by URL or path
		"/v1/show/7/episodes":                          "passed: 200 OK, application/json",
		"https://feeds.example.com/v1/show/7/episodes": "passed: 200 OK, application/json",
		"/v1/home/7":                          `skipped: "Feed 0" answers for the feed that is given for it`,
		"/v2/x":                               "skipped: no endpoint answers for the feed that is given for it",
		"https://other.example.com/v1/show/7": "failed: it cannot be called: feed ",
	} {
		opts.Endpoints = map[string]Values{"/v1/show/{{id}}": {Feed: feed}}
		expect(t, probeOf(t, check(t, address, opts), show), want, "")
	}
}

// TestUncallableLinks checks links that no device can call: to this machine, to a private network, or without a host.
func TestUncallableLinks(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/series/{{id}}"))
	f.feed("/v1/home", `{"entry": [{"a": "http://localhost:3000/v1/series/1"}, {"a": "http://localhost:3000/v1/series/2"}], "b": "http://10.0.0.7/x.json", "c": "https://box.local/v1/home",
		"d": "/v1/series/1", "image": "http://localhost/1.png", "id": "/v1/series/1", "e": "/tmp/x", "f": "//v1/x", "g": "/v1/poster.png", "h": "/v1/with spaces", "next": "BASE/v1/series/3"}`)
	f.feed("/v1/series/{id}", `{}`)
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Ignore: []string{"cors", "etag"}})
	const ownHost = "\nmake the service write links with the host that it is called by"
	want := []string{
		`links warned BASE/v1/home: 2 links at /entry/*/a, such as "http://localhost:3000/v1/series/1", lead to a single machine or a private network: no device elsewhere can call them` + ownHost,
		`links warned BASE/v1/home: "http://10.0.0.7/x.json", at /b, leads to a single machine or a private network: no device elsewhere can call it` + ownHost,
		`links warned BASE/v1/home: "https://box.local/v1/home", at /c, leads to a single machine or a private network: no device elsewhere can call it` + ownHost,
		`links warned BASE/v1/home: "/v1/series/1", at /d, is relative: apps cannot call it` + "\nwrite the whole URL, with scheme and host",
		`links warned BASE/v1/home: "http://localhost/1.png", at /image, leads to a single machine or a private network: no device elsewhere can call it` + ownHost,
	}
	if diff := cmp.Diff(want, lines(report, Failed, Warned)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A service on this machine may link to itself.
	report = check(t, serve(t, f.mux, false).URL+"/v1/endpoints-manifest", CheckOptions{})
	if got := strings.Join(lines(report, Failed, Warned), "\n"); strings.Contains(got, "single machine") {
		t.Error(got)
	}
}

// TestFollowKeepsSecrets checks that links that repeat what was sent are followed but never shown.
func TestFollowKeepsSecrets(t *testing.T) {
	stranger := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("another host got %s", r.URL) }), false)
	f := newFeeds(endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://{{host}}/v1/open/{{id}}"), endpoint(stranger.URL+"/{{id}}", items(tokenItem)),
		endpoint("https://{{host}}/v1/mine/{{id}}", items(tokenItem)))
	encoded, err := contextkeys.Encode([]signpost.ContextItem{tokenItem}, map[string]any{"token": secret})
	if err != nil {
		t.Fatal(err)
	}
	f.feed("/v1/media", `{"a": "BASE/v1/open/`+secret+`", "b": "BASE/v1/gone/`+encoded+`", "c": "BASE/v2/x?token=`+secret+`", "`+secret+`": "BASE/v3",
		"d": "`+stranger.URL+`/7", "e": "BASE/v1/open/1?sig=abc", "f": "BASE/v1/mine/1?ctx=`+encoded+`", "g": "BASE/v4/s3cr3t%2Dtoken"}`)
	f.handle("/v1/open/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("ctx") {
			t.Errorf("an endpoint without context keys got %s", r.URL)
		}
		answer(404, "")(w, r)
	})
	f.handle("/v1/mine/{id}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL+"/?"+r.URL.RawQuery, http.StatusFound)
	})
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Context: map[string]string{"token": secret}, FeedSchema: func(any) []Violation {
		return []Violation{{"/" + secret, "pattern", secret + " does not match"}, {"/a", "format", secret + " is not a date"}}
	}})
	got := strings.Join(lines(report, Failed, Warned, Passed, Skipped), "\n")
	for _, form := range []string{encoded, "s3cr3t", "sig=", "ctx="} {
		if strings.Contains(strings.ToLower(got), strings.ToLower(form)) {
			t.Errorf("%q occurs in\n%s", form, got)
		}
	}
	for _, want := range []string{
		`no endpoint answers for "BASE/v2/x", at /c`,
		`no endpoint answers for "BASE/v3", at a place that repeats a context value`,
		`no endpoint answers for a link that repeats a context value, at /b`,
		`a link that repeats a context value, at /a, does not work`,
		`"BASE/v1/mine/1", at /f, does not work: the response is 302 Found, to another host`,
		`/a violates "format" of the schema`, `a place that repeats a context value violates "pattern" of the schema`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from\n%s", want, got)
		}
	}
}
