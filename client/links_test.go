package client

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"signpost"
	"signpost/contextkeys"
)

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
	report := check(t, address, opts)
	var got []string
	for _, r := range resultsOf(report, "links") {
		got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %s\n%s", r.Status, r.Message, r.Hint), "https://feeds.example.com/", "BASE/"))
	}
	expected := []string{
		`failed no endpoint answers for 3 links at /entry/*/link, such as "BASE/v2/feeds/1": apps call them without context keys` + "\n" + `declare an endpoint whose URL is a prefix of it, or correct the link`,
		`failed no endpoint answers for "https://feeds.example.com:8443/v1/home", at /entry/5/web: apps call it without context keys` + "\n" + `correct the link: its scheme, port or user info is not that of "BASE/v1/home"`,
		`failed no endpoint answers for "https://me@feeds.example.com/v1/home", at /entry/6/user: apps call it without context keys` + "\n" + `correct the link: its scheme, port or user info is not that of "BASE/v1/home"`,
		`failed no endpoint answers for "https://partner.example.net/y", at /entry/9/partner: apps call it without context keys` + "\n" + `declare an endpoint whose URL is a prefix of it, or correct the link`,
		`failed no endpoint answers for "BASE/v3", at /entry/10/a~1b~0c/deep: apps call it without context keys` + "\n" + `declare an endpoint whose URL is a prefix of it, or correct the link`,
	}
	if strings.Join(got, "\n") != strings.Join(expected, "\n") {
		t.Errorf("got\n%s\n\nwant\n%s", strings.Join(got, "\n"), strings.Join(expected, "\n"))
	}

	// Manifests registered alongside answer for their own links.
	opts.Registered = []signpost.Manifest{signpost.NewManifest(endpoint("https://feeds.example.com/v2"), endpoint("https://feeds.example.com/v3"), endpoint("https://other.example.net/a"))}
	f.asked()
	report = check(t, address, opts)
	text := ""
	for _, r := range resultsOf(report, "links") {
		text += r.Message + "\n"
	}
	if strings.Contains(text, "/v2/") || strings.Contains(text, "/v3") || !strings.Contains(text, `no endpoint answers for "https://other.example.net/z"`) ||
		!strings.Contains(text, `"http://feeds.example.com/v1/home?page=2"`) {
		t.Errorf("got %s", text)
	}
	for _, call := range f.asked() {
		if call != "/v1/home" {
			t.Errorf("%s, a feed of another service, was called", call)
		}
	}
}

// TestDeadLinks covers all the ways in which links can fail.
func TestDeadLinks(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/x/{{id}}"))
	elsewhere := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("a redirect was followed") }))
	f.feed("/v1/home", `{"a": "BASE/v1/x/gone", "b": "BASE/v1/x/moved", "c": "BASE/v1/x/cut", "d": "BASE/v1/x/html", "e": "BASE/v1/x/null", "f": "BASE/v1/x/none",
		"g": "BASE/v1/x/login", "h": "BASE/v1/x/%zz", "i": "BASE/v1/x/huge", "j": "BASE/v1/x/error"}`)
	f.handle("/v1/x/gone", answer(410, ""))
	f.handle("/v1/x/moved", answer(302, "", "Location: "+elsewhere.URL))
	f.handle("/v1/x/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	f.handle("/v1/x/html", answer(200, "<html>", jsonType))
	f.feed("/v1/x/null", "null")
	f.handle("/v1/x/none", answer(204, ""))
	f.handle("/v1/x/login", answer(401, "{}", jsonType))
	f.handle("/v1/x/huge", func(w http.ResponseWriter, r *http.Request) {
		answer(200, `{"x": "`+strings.Repeat("x", 10000)+`"}`, jsonType)(w, r)
	})
	f.feed("/v1/x/error", `{"error": "no such thing", "code": 404}`)
	opts := CheckOptions{Options: site(t, f.mux)}
	opts.limit = 10000
	report := check(t, address, opts)
	wants := map[string][]string{
		"links": {
			`failed: "https://feeds.example.com/v1/x/gone", at /a, does not work: the response is 410 Gone`,
			`failed: "https://feeds.example.com/v1/x/moved", at /b, does not work: the response is 302 Found, to "` + elsewhere.URL,
			`failed: "https://feeds.example.com/v1/x/cut", at /c, does not work: the response is cut off`,
			`failed: "https://feeds.example.com/v1/x/login", at /g, does not work: the response is 401 Unauthorized`,
		},
		"probe": {
			`passed: 200 OK, application/json`,
			`failed: 200 OK with Content-Type "application/json", but the body is HTML; reached as "https://feeds.example.com/v1/x/html"`,
			`failed: as "https://feeds.example.com/v1/x/none": the response is 204 No Content: there is no feed in it`,
		},
		"feed": {
			`failed: as "https://feeds.example.com/v1/x/null": the body is JSON, but null, not an object`,
			`warned: as "https://feeds.example.com/v1/x/huge": the feed is larger than 4 MiB, so it is not checked`,
			`failed: as "https://feeds.example.com/v1/x/error": the body is an error message, not a feed`,
		},
	}
	for name, want := range wants {
		got := resultsOf(report, name)
		if len(got) != len(want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, r := range got {
			expect(t, r, want[i], "")
		}
	}
}

// TestManyBadLinks checks that only some of many links are named, and the others counted.
func TestManyBadLinks(t *testing.T) {
	for more, want := range map[int][2]string{
		0: {"", ""},
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
		if more == 0 {
			if len(got) != 2*maxLinkResults {
				t.Errorf("%d results", len(got))
			}
			continue
		}
		if len(got) != 2*maxLinkResults+2 {
			t.Fatalf("%d results for %d more", len(got), more)
		}
		expect(t, got[maxLinkResults], want[0], "declare endpoints for them")
		expect(t, got[len(got)-1], want[1], "what they lead to")
	}
}

func TestSlowLink(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"))
	f.feed("/v1/home", `{"next": "BASE/v1/home/slow"}`)
	opts := CheckOptions{Options: stalling(site(t, f.mux), "/v1/home/slow", false)}
	expect(t, one(t, check(t, address, opts), "links"), `failed: "https://feeds.example.com/v1/home/slow", at /next, does not work: no response within 10m0s`, "allow more time")
}

// TestFollowKeepsSecrets checks that links that repeat what was sent are followed but never shown.
func TestFollowKeepsSecrets(t *testing.T) {
	stranger := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("another host got %s", r.URL) }))
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
	opts := CheckOptions{Options: site(t, f.mux), Context: map[string]string{"token": secret}, FeedSchema: func(any) []Violation {
		return []Violation{{"/" + secret, "pattern", secret + " does not match"}, {"/a", "format", secret + " is not a date"}}
	}}
	report := check(t, address, opts)
	text := ""
	for _, r := range report.Results {
		text += fmt.Sprintf("%s %s %s %s %s\n", r.Status, r.Check, r.Endpoint, r.Message, r.Hint)
	}
	for _, form := range []string{secret, encoded, "s3cr3t", "sig=", "ctx="} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			t.Errorf("%q occurs in\n%s", form, text)
		}
	}
	for _, want := range []string{
		`no endpoint answers for "https://feeds.example.com/v2/x", at /c`,
		`no endpoint answers for "https://feeds.example.com/v3", at a place that repeats a context value`,
		`no endpoint answers for a link that repeats a context value, at /b`,
		`a link that repeats a context value, at /a, does not work`,
		`"https://feeds.example.com/v1/mine/1", at /f, does not work: the response is 302 Found, to another host`,
		`/a violates "format" of the schema`, `a place that repeats a context value violates "pattern" of the schema`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from\n%s", want, text)
		}
	}
}
