package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"signpost"
	"signpost/internal/httpurl"
)

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
	calls := f.asked()
	want := []string{
		"/v1/feeds?limit=20",               // the endpoint
		"/v1/feeds?page=2", "/v1/series/2", // its links
		"/v1/feeds?page=3", "/v1/series/2/episodes", "/v1/series/3", // their links
		"/v1/series/3/episodes",
	}
	if got := sortLevels(calls, 1, 2, 3, 1); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requested %q, want %q", got, want)
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
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/person/{{id}}"), "skipped: it needs a value for {{id}}, and no link to it was followed", "follow more links, or give a value for {{id}}")
	expect(t, one(t, report, "links"), "passed: 32 links, each with an endpoint that answers for it; 2 followed, 30 not", "")

	opts.Follow = -1
	report = check(t, address, opts)
	if got := f.asked(); fmt.Sprint(got) != "[/v1/feeds]" {
		t.Errorf("requested %q", got)
	}
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/show/{{id}}"), "skipped: it needs a value for {{id}}, and no link to it was followed", "")
	expect(t, probeOf(t, report, "https://feeds.example.com/v1/person/{{id}}"), "skipped: it needs a value for {{id}}, and no link leads to it", "give a value for {{id}}")

	opts.Follow = 0
	check(t, address, opts)
	if got := f.asked(); len(got) != 1+DefaultFollow {
		t.Errorf("requested %q", got)
	}
}

// TestFollowCrowded checks that more links than there is memory for are reported.
func TestFollowCrowded(t *testing.T) {
	f := newFeeds(endpoint("https://{{host}}/v1/feeds"))
	f.feed("/v1/feeds", `{"entry": ["BASE/v1/feeds", "BASE/v1/feeds"]}`)
	u, _ := httpurl.ParseAddress(address)
	c := &checker{opts: CheckOptions{Options: site(t, f.mux)}, address: u, maxProbes: 9, maxKept: 3 * maxPointer}
	report := c.check(t.Context())
	expect(t, one(t, report, "links"), "passed: 1 link, with an endpoint that answers for it; 0 followed; further links were not checked", "")
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
	if err != nil {
		t.Fatal(err)
	}
	expect(t, one(t, report, "links"), "passed: 2 links, each with an endpoint that answers for it; 1 followed", "")
	if got := one(t, report, "links").Message; strings.Contains(got, "not") {
		t.Errorf("a link with a placeholder is counted: %s", got)
	}
}
