package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signpost/client"
	"signpost/internal/testkit"
)

// TestCheckFlags checks that the flags of check have an effect. What check finds is tested in package client.
func TestCheckFlags(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/v1/endpoints-manifest": `{"endpoints": {
			"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"},
			"https://feeds.example.com/v1/series/{{id}}": {"name": "Series", "method": "get", "mime_type": "application/json"},
			"https://feeds.example.com/v1/odd": {"name": 5, "method": "GET", "cache": 1}}}`,
		"/v1/feeds":    `{"entry": [{"src": "https://feeds.example.com/v1/series/1"}, {"src": "https://feeds.example.com/v2/x"}, {"src": "https://sports.example.com/v1/y"}]}`,
		"/v1/series/1": `{"entry": []}`,
		"/v1/odd":      `{"entry": []}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer s.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.yaml":  "",
		"values.yaml": "params: {id: 9}\nendpoints: {'/v1/series/{{id}}': {params: {id: 1}}}\n",
		"entry.json":  `{"type": "object", "required": ["title"]}`,
		"feed.json":   `{"required": ["entry"], "properties": {"entry": {"items": {"$ref": "entry.json"}}}}`,
		"other.yaml":  "versions:\n  v2:\n    endpoints:\n      https://{{host}}/v2/x: {name: X, method: get, mime_type: application/json}\n",
		"sports.json": `{"endpoints": {"https://sports.example.com/v1": {"name": "Sports", "method": "get", "mime_type": "application/json"}}}`,
		"wide.json": `{"endpoints": {"https://feeds.example.com/v1": {"name": "All", "method": "get", "mime_type": "application/json",
			"context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`,
	} {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	const notFollowed = "skipped: it needs a value for {{id}}, and no link to it was followed " +
		"follow more links, or give a value for {{id}} (--follow, --param id=VALUE)"
	for _, test := range []struct {
		args, check, endpoint string
		want                  []string // results of the check for the endpoint, or how they begin
	}{
		{"--follow 0", "probe", "/series/{{id}}", []string{notFollowed}},
		{"--follow 0 --values DIR/empty.yaml", "probe", "/series/{{id}}", []string{"skipped: "}},
		{"--follow 0 --values DIR/values.yaml", "probe", "/series/{{id}}", []string{"passed: 200 OK"}},
		{"--follow 0 --values DIR/values.yaml --param id=7", "probe", "/series/{{id}}", []string{"passed: 200 OK"}}, // its own values count
		{"--follow 0 --param id=7", "probe", "/series/{{id}}", []string{"warned: the response is 404 Not Found"}},
		{"--feed-schema DIR/feed.json", "feed", "/v1/feeds", []string{"failed: /entry/0: missing property 'title' correct the feed, or the schema", "failed: /entry/1: ", "failed: /entry/2: "}},
		{"", "manifest", "/v1/odd", []string{"warned: endpoint has no mime_type", "warned: name must be text", `warned: method "GET"`, `warned: unknown field "cache"`}}, // somebody else's manifest is read leniently
		{"", "probe", "/v1/odd", []string{"passed: 200 OK"}},
		{"", "links", "/v1/feeds", []string{`failed: no endpoint answers for "https://feeds.example.com/v2/x", at /entry/1/src`}},
		{"--ignore links", "links", "", []string{"skipped: 1 result ignored"}},
		{"--registered DIR/other.yaml --registered DIR/sports.json", "links", "", []string{"passed: every link has an endpoint that answers for it: 3 links, 1 followed"}},
		{"--registered DIR/wide.json", "manifest", "/v1/feeds", []string{"warned: "}}, // overlap-drops-context
	} {
		args := strings.Fields(strings.ReplaceAll(test.args, "DIR", dir))
		out, errOut, _ := runCLI("", append([]string{"check", "https://feeds.example.com/v1/endpoints-manifest", "--send-to", s.URL, "--format", "json"}, args...)...)
		var report client.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%s: %v: %s%s", test.args, err, out, errOut)
		}
		var got []string
		for _, r := range report.Results {
			if r.Check == test.check && strings.HasSuffix(r.Endpoint, test.endpoint) {
				got = append(got, fmt.Sprintf("%s: %s %s", r.Status, r.Message, r.Hint))
			}
		}
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%q: %s of %s gives %q, want %q", test.args, test.check, test.endpoint, got, test.want)
		}
		if ignored := strings.HasSuffix(errOut, ", 1 ignored\n"); ignored != strings.Contains(test.args, "--ignore") {
			t.Errorf("%q: %s", test.args, errOut)
		}
	}
}
