package client

import (
	"encoding/json"
	"net/http"
	"testing"
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
