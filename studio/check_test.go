package studio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"signpost/studio"
)

// check runs the checks of a source, and returns the outcome of each and whether all are fine.
func check(t *testing.T, address string, in object) (results map[string]string, ok bool) {
	t.Helper()
	res, err := http.Post(address+"/api/check", "application/json", strings.NewReader(quoteJS(in)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	results = make(map[string]string)
	ended := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var line object
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
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
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/broken" {
			w.Header().Set("Content-Type", "text/html")
		}
		w.Write([]byte("{}"))
	})
	s, address := serve(t, studio.Options{Host: "feeds.example.com", SendTo: local.URL})
	show(s, `versions: {v1: {endpoints: {"https://{{host}}/v1/good": {name: Good, method: get, mime_type: application/json}, "https://{{host}}/v1/broken": {name: Broken, method: get, mime_type: application/json}}}}`)
	results, ok := check(t, address, object{"source": "feeds.yaml", "version": "v1", "send": "origin"})
	for _, name := range []string{"https ", "reachable ", "certificate "} {
		if !strings.HasPrefix(results[name], "skipped: the file is not deployed yet") {
			t.Errorf("%s%s", name, results[name])
		}
	}
	if !strings.HasPrefix(results["manifest "], "passed") || !strings.HasPrefix(results["etag "], "passed") {
		t.Errorf("manifest %s, etag %s", results["manifest "], results["etag "])
	}
	if ok || !strings.HasPrefix(results["probe https://feeds.example.com/v1/broken"], "failed") {
		t.Errorf("ok %v, %v", ok, results)
	}
	// Samples are no feeds.
	results, _ = check(t, address, object{"source": "feeds.yaml", "version": "v1", "send": "sample"})
	for name, got := range results {
		if strings.HasPrefix(name, "probe") && !strings.HasPrefix(got, "skipped") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
