package client

import (
	"strings"
	"testing"
)

// TestPrefix checks an endpoint whose own URL is not a feed: an endpoint is a prefix.
func TestPrefix(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/gallery"), endpoint("https://{{host}}/v1/show/{{id}}"))
	f.feed("/v1/home", `{"entry": ["BASE/v1/gallery/1", "BASE/v1/gallery/2"]}`)
	f.feed("/v1/gallery/{id}", `{}`)
	f.feed("/v1/show/7/episodes", `{}`)
	const gallery, show = "https://feeds.example.com/v1/gallery", "https://feeds.example.com/v1/show/{{id}}"
	opts := CheckOptions{Options: site(t, f.mux), Params: map[string]string{"id": "7"}}
	report := check(t, address, opts)
	expect(t, probeOf(t, report, gallery), `passed: 200 OK, application/json; reached as "https://feeds.example.com/v1/gallery/1", a link in https://feeds.example.com/v1/home; its own URL is not a feed: 404 Not Found`, "")
	expect(t, probeOf(t, report, show), "warned: the response is 404 Not Found, and no feed below it was reached", "name one below it")
	if !report.OK {
		t.Errorf("%+v", report)
	}

	// A feed of the endpoint can be named, by URL or path.
	for _, feed := range []string{"/v1/show/7/episodes", "https://feeds.example.com/v1/show/7/episodes"} {
		opts.Endpoints = map[string]Values{"/v1/show/{{id}}": {Feed: feed}}
		expect(t, probeOf(t, check(t, address, opts), show), "passed: 200 OK, application/json", "")
	}
	for feed, want := range map[string]string{
		"/v1/home/7":                          `skipped: "Feed 0" answers for the feed that is given for it`,
		"/v2/x":                               "skipped: no endpoint answers for the feed that is given for it",
		"https://other.example.com/v1/show/7": "failed: it cannot be called: feed ",
	} {
		opts.Endpoints = map[string]Values{show: {Feed: feed}}
		expect(t, probeOf(t, check(t, address, opts), show), want, "")
	}
}

// TestUncallableLinks checks links that no device can call: to this machine, to a private network, or without a host.
func TestUncallableLinks(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/home"), endpoint("https://{{host}}/v1/series/{{id}}"))
	f.feed("/v1/home", `{"entry": [{"a": "http://localhost:3000/v1/series/1"}, {"a": "http://localhost:3000/v1/series/2"}], "b": "http://10.0.0.7/x.json", "c": "https://box.local/v1/home",
		"d": "/v1/series/1", "image": "http://localhost/1.png", "id": "/v1/series/1", "e": "/tmp/x", "f": "//v1/x", "g": "/v1/poster.png", "h": "/v1/with spaces", "next": "BASE/v1/series/3"}`)
	f.feed("/v1/series/{id}", `{}`)
	report := check(t, address, CheckOptions{Options: site(t, f.mux)})
	var got []string
	for _, r := range resultsOf(report, "links") {
		got = append(got, string(r.Status)+" "+r.Message)
	}
	want := []string{
		`warned 2 links at /entry/*/a, such as "http://localhost:3000/v1/series/1", lead to a single machine or a private network: no device elsewhere can call them`,
		`warned "http://10.0.0.7/x.json", at /b, leads to a single machine or a private network: no device elsewhere can call it`,
		`warned "https://box.local/v1/home", at /c, leads to a single machine or a private network: no device elsewhere can call it`,
		`warned "/v1/series/1", at /d, is relative: apps cannot call it`,
		`warned "http://localhost/1.png", at /image, leads to a single machine or a private network: no device elsewhere can call it`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !report.OK {
		t.Error("these are warnings")
	}

	// A service on this machine may link to itself.
	s := withPort(t, f)
	for _, r := range resultsOf(check(t, s.URL+"/v1/endpoints-manifest", CheckOptions{}), "links") {
		if strings.Contains(r.Message, "single machine") {
			t.Errorf("%+v", r)
		}
	}
}

// TestOtherFieldNames checks that a manifest is only read from the field endpoints.
func TestOtherFieldNames(t *testing.T) {
	body := strings.Replace(manifestOf("https://feeds.example.com/v1/feeds"), "endpoints", "ENDPOINTS", 1)
	report := check(t, address, CheckOptions{Options: site(t, answer(200, body, jsonType))})
	expect(t, one(t, report, "manifest"), `failed: the response is not a manifest: manifest has no "endpoints" object`, "")
}
