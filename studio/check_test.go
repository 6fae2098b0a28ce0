package studio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/studio"
)

// check runs the checks of a source, and returns the outcome of each and whether all are fine.
func check(t *testing.T, address string, in object) (results map[string]string, ok bool) {
	t.Helper()
	res := testkit.Must(http.Post(address+"/api/check", "application/json", strings.NewReader(quoteJS(in))))(t)
	defer res.Body.Close()
	results = make(map[string]string)
	ended := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var line object
		testkit.OK(t, json.Unmarshal(lines.Bytes(), &line))
		if result, found := line["result"].(object); found {
			results[fmt.Sprint(result["check"], " ", result["endpoint"])] = fmt.Sprint(result["status"], ": ", result["message"])
		}
		if line["end"] == true {
			ended, ok = true, line["ok"] == true
		}
	}
	if !ended {
		t.Error("the answer has no end")
	}
	return results, ok
}

// TestCheckOfAFile checks that what was not sent over the network is not reported as working.
func TestCheckOfAFile(t *testing.T) {
	t.Parallel()
	local := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/broken" {
			w.Header().Set("Content-Type", "text/html")
		}
		w.Write([]byte("{}"))
	})
	_, address := serveFile(t, `versions: {v1: {endpoints: {"https://{{host}}/v1/good": {name: Good, method: get, mime_type: application/json},
"https://{{host}}/v1/broken": {name: Broken, method: get, mime_type: application/json}}}}`,
		studio.Options{Host: "feeds.example.com", SendTo: local.URL})
	const good, broken = "probe https://feeds.example.com/v1/good", "probe https://feeds.example.com/v1/broken"
	const notYet = "skipped: the file is not deployed yet"
	for send, want := range map[string]object{
		"origin": {"https ": notYet, "reachable ": notYet, "certificate ": notYet,
			"manifest ": "passed", "etag ": "passed", good: "passed", broken: "failed: 200 OK with Content-Type"},
		"sample": {"probe ": "skipped"}, // samples are no feeds
	} {
		results, ok := check(t, address, object{"source": "feeds.yaml", "version": "v1", "send": send, "to": local.URL})
		testkit.Equal(t, send+": ok", ok, send == "sample")
		for name, begin := range want {
			if !strings.HasPrefix(results[name], begin.(string)) {
				t.Errorf("%s: %s%s", send, name, results[name])
			}
		}
	}
}

// TestCheckTogether checks that everything else on the page counts in the findings of the manifest, except for what is
// published at its address.
func TestCheckTogether(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{Host: "127.0.0.1"})
	const hosts = "hosts: [127.0.0.1]\n"
	s.Show(snapshotOf(
		file("new.yaml", hosts+`versions: {v1: {endpoints: {"https://{{host}}/v1/feeds/new": {name: New, method: get, mime_type: application/json}}}}`),
		file("wide.yaml", "base_path: /wide\n"+hosts+`versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Wide, method: get, mime_type: application/json,
  context_obj: [{key: token, type: ctx, required: true}]}}}}`)))
	results, ok := check(t, address, object{"source": "new.yaml", "version": "v1", "send": "sample"})
	const url = "https://127.0.0.1/v1/feeds"
	want := fmt.Sprintf(`warned: feeds of "%s/new" lose context key "token"`, url)
	if got := results["manifest "+url+"/new"]; !ok || !strings.HasPrefix(got, want) {
		t.Errorf("%v: %v", ok, results)
	}

	s.Show(snapshotOf(file("feeds.yaml", `versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Feeds, method: get, mime_type: application/json}}}}`)))
	registered(t, address, serveText(t, `{"endpoints": {"https://127.0.0.1/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"}}}`))
	results, _ = check(t, address, object{"source": "feeds.yaml", "version": "v1", "send": "sample"})
	testkit.Equal(t, "beside its own address", results["manifest "], "passed: 1 endpoint, no findings")
}
