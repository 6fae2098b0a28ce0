package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"signpost/contextkeys"
)

func TestFeedCache(t *testing.T) {
	for header, want := range map[string]string{
		"":                          "passed: ",
		"private, max-age=60":       "passed: ",
		"no-store":                  "passed: ",
		"max-age=60, Public":        "failed: Cache-Control has public or s-maxage, so shared caches keep feeds that require a context key: https://feeds.example.com/v1/media",
		"s-maxage = 60":             "failed: ",
		`x="public"`:                "passed: ",
		"private, S-MaxAge=0":       "failed: ",
		"public-ish":                "passed: ",
		"max-age=60,,public , x=1 ": "failed: ",
	} {
		f := newFeeds(endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://{{host}}/v1/open"))
		f.feed("/v1/media", "{}", "Cache-Control: "+header)
		f.feed("/v1/open", "{}", "Cache-Control: public")
		report := check(t, address, CheckOptions{Options: site(t, f.mux), Context: map[string]string{"token": secret}})
		expect(t, one(t, report, "feed-cache"), want, "")
	}
}

func TestFeedCORS(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/a"), endpoint("https://{{host}}/b"), endpoint("https://{{host}}/c"), endpoint("https://{{host}}/d"))
	const allow = "Access-Control-Allow-Origin"
	f.handle("/a", func(w http.ResponseWriter, r *http.Request) { // reflects the origin, as many frameworks do
		w.Header().Set(allow, r.Header.Get("Origin"))
		answer(200, "{}", jsonType)(w, r)
	})
	f.handle("/b", answer(200, "{}", jsonType))
	f.handle("/c", answer(200, "{}", jsonType, allow+": https://www.example.com"))
	f.handle("/d", answer(200, "{}", jsonType, allow+": *", allow+": *"))
	report := check(t, address, CheckOptions{Options: site(t, f.mux)})
	got := resultsOf(report, "feed-cors")
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	expect(t, got[0], "failed: Access-Control-Allow-Origin has more than one value, which browsers reject, in 1 of 4 feeds: https://feeds.example.com/d", "either the proxy or the service")
	expect(t, got[1], "warned: pages of other origins cannot read 2 of 4 feeds: https://feeds.example.com/b, https://feeds.example.com/c", "Access-Control-Allow-Origin: *")
}

// TestValues checks that endpoints with the same placeholder and the same key get their own values.
func TestValues(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/series/{{id}}"), endpoint("https://{{host}}/v1/shows/{{id}}", items(tokenItem)), endpoint("https://{{host}}/v1/people/{{id}}", items(tokenItem)))
	for _, path := range []string{"/v1/series/1", "/v1/shows/2", "/v1/people/3"} {
		f.handle(path, func(w http.ResponseWriter, r *http.Request) {
			values, _ := contextkeys.Decode(r.URL.Query().Get("ctx"))
			token, _ := values.Text("token")
			answer(200, fmt.Sprintf(`{"%s": %q}`, r.URL.Path, token), jsonType)(w, r)
			if want := map[string]string{"/v1/shows/2": "general", "/v1/people/3": "own"}[r.URL.Path]; token != want {
				t.Errorf("%s got the token %q, want %q", r.URL.Path, token, want)
			}
		})
	}
	opts := CheckOptions{Options: site(t, f.mux), Params: map[string]string{"id": "1"}, Context: map[string]string{"token": "general"}, Endpoints: map[string]Values{
		"/v1/shows/{{id}}":                           {Params: map[string]string{"id": "2"}},
		"https://feeds.example.com/v1/people/{{id}}": {Params: map[string]string{"id": "3"}, Context: map[string]string{"token": "own"}},
		"/v1/show/{{id}}":                            {Params: map[string]string{"id": "4"}},
	}}
	report := check(t, address, opts)
	results := resultsOf(report, "probe")
	expect(t, results[0], `warned: values are given for the endpoint "/v1/show/{{id}}", which the manifest does not have`, `did you mean "/v1/shows/{{id}}"?`)
	for _, r := range results[1:] {
		expect(t, r, "passed: ", "")
	}
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

// TestJSONValues checks that values other than strings are sent as JSON, and are as secret as strings.
func TestJSONValues(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/media", items(tokenItem)), endpoint("https://{{host}}/v1/live", items(tokenItem)))
	sent := ""
	f.handle("/v1/media", func(w http.ResponseWriter, r *http.Request) {
		values, _ := contextkeys.Decode(r.URL.Query().Get("ctx"))
		raw, _ := values.JSON("token")
		sent = string(raw)
		answer(200, `{"link": "https://feeds.example.com/v9/`+secret+`"}`, jsonType)(w, r)
	})
	value := `{"id":7,"tokens":["` + secret + `"]}`
	report := check(t, address, CheckOptions{Options: site(t, f.mux), Context: map[string]string{"token": "general"}, Endpoints: map[string]Values{
		"/v1/media": {ContextJSON: map[string]json.RawMessage{"token": json.RawMessage(value)}},
		"/v1/live":  {ContextJSON: map[string]json.RawMessage{"token": json.RawMessage("null")}},
	}})
	if sent != value {
		t.Errorf("the token is %s, want %s", sent, value)
	}
	results := resultsOf(report, "probe")
	expect(t, results[0], "passed: ", "")
	expect(t, results[1], "skipped: it needs a value for token", "")
	for _, r := range report.Results {
		if strings.Contains(r.Message+r.Hint, secret) {
			t.Errorf("a result shows the secret: %+v", r)
		}
	}
}

func TestIgnore(t *testing.T) {
	f := newFeeds(endpoint("http://{{host}}/v1/feeds"), endpoint("https://{{host}}/v1/list"))
	f.feed("/v1/list", "[]")
	opts := CheckOptions{Options: site(t, f.mux), Ignore: []string{"plain-http", "feed", "probe", "cors", "etag"}}
	var observed []Result
	opts.Observe = func(r Result) { observed = append(observed, r) }
	report := check(t, address, opts)
	if !report.OK || report.Ignored != 5 {
		t.Errorf("ok %v, %d ignored: %v", report.OK, report.Ignored, failures(report))
	}
	expect(t, one(t, report, "feed"), "skipped: 1 result ignored", "")
	expect(t, one(t, report, "manifest"), "skipped: 1 result ignored", "")
	if fmt.Sprint(observed) != fmt.Sprint(report.Results) {
		t.Errorf("observed %v", observed)
	}
}

func TestFeedSchema(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/a"), endpoint("https://{{host}}/b"))
	f.feed("/a", `{"entry": [1.0]}`)
	f.feed("/b", `{}`)
	opts := CheckOptions{Options: site(t, f.mux), FeedSchema: func(v any) []Violation {
		entry, ok := v.(map[string]any)["entry"].([]any)
		if !ok {
			return []Violation{{"", "required", `missing property "entry"`}}
		}
		if entry[0] != json.Number("1.0") {
			t.Errorf("numbers are %T", entry[0])
		}
		return nil
	}}
	report := check(t, address, opts)
	expect(t, one(t, report, "feed"), `failed: the feed: missing property "entry"`, "correct the feed, or the schema")
	f.feed("/b/", `{}`)
	opts.FeedSchema = func(any) []Violation { return nil }
	expect(t, one(t, check(t, address, opts), "feed"), "passed: 2 feeds, valid against the schema", "")
	opts.FeedSchema = func(any) []Violation { return make([]Violation, 25) }
	got := resultsOf(check(t, address, opts), "feed")
	if len(got) != 2*(maxViolations+1) {
		t.Errorf("%d results", len(got))
	}
	expect(t, got[maxViolations], "failed: 15 more violations of the schema", "")
}
