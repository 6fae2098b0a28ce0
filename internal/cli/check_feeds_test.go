package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"signpost"
	"signpost/client"
	"signpost/contextkeys"
	"signpost/server"
)

const secretToken = "open-sesame-4711"

// feedService is a feed service with one dead link, one endpoint with JSON of the wrong shape, and endpoints that are
// only reachable through links. Its links use the forwarded host.
func feedService(t *testing.T) (s *httptest.Server, calls func() []string) {
	t.Helper()
	token := signpost.ContextItem{Key: "token", Type: signpost.ContextCtx, Required: true}
	e := func(path string, items ...signpost.ContextItem) signpost.Endpoint {
		return signpost.Endpoint{URL: "https://{{host}}" + path, Name: path, Method: signpost.MethodGet, MIMEType: signpost.MIMEJSON, ContextObj: items}
	}
	template, err := signpost.Compile(signpost.NewManifest(e("/v1/feeds"), e("/v1/list"), e("/v1/series/{{id}}", token), e("/v1/show/{{id}}")))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := server.New(server.Options{}, server.Service{Versions: map[string]*signpost.Template{"v1": template}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	mux := http.NewServeMux()
	mux.Handle("/v1/endpoints-manifest", manifest)
	feed := func(path, text string, items ...signpost.ContextItem) {
		mux.Handle("GET "+path, contextkeys.Middleware(items)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, r.Host+r.URL.Path)
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprint(w, strings.ReplaceAll(text, "BASE", "https://"+r.Host))
		})))
	}
	feed("/v1/feeds", `{"entry": [{"src": "BASE/v1/series/1"}, {"src": "BASE/v1/series/9"}, {"src": "BASE/v1/show/2"}, {"next": "BASE/v1/feeds"}]}`)
	feed("/v1/list", `["one"]`)
	feed("/v1/series/1", `{"entry": [], "token": "`+secretToken+`"}`, token)
	feed("/v1/show/{id}", `{"entry": []}`)
	s = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := asked
		asked = nil
		return all
	}
}

func TestCheckFlags(t *testing.T) {
	t.Parallel()
	s, calls := feedService(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	run := func(args ...string) (client.Report, string) {
		t.Helper()
		out, errOut, _ := runCLI("", append([]string{"check", "https://feeds.example.com/v1/endpoints-manifest", "--send-to", s.URL, "--format", "json"}, args...)...)
		var report client.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v: %s%s", err, out, errOut)
		}
		return report, errOut
	}
	find := func(report client.Report, check, endpoint string) string {
		var all []string
		for _, r := range report.Results {
			if r.Check == check && strings.HasSuffix(r.Endpoint, endpoint) {
				all = append(all, strings.TrimSpace(fmt.Sprintf("%s: %s %s", r.Status, r.Message, r.Hint)))
			}
		}
		return strings.Join(all, "\n")
	}

	t.Run("follow", func(t *testing.T) {
		calls()
		report, _ := run("--follow", "0")
		if got := len(calls()); got != 2 {
			t.Errorf("%d calls", got)
		}
		if got := find(report, "probe", "/show/{{id}}"); got != "skipped: it needs a value for {{id}}, and no link to it was followed follow more links with --follow, or try again with --param id=VALUE" {
			t.Error(got)
		}
	})
	t.Run("values", func(t *testing.T) {
		values := file("values.yaml", "params: {id: 9}\ncontext:\n  token: "+secretToken+"\nendpoints:\n  /v1/series/{{id}}: {params: {id: 1}}\n  https://feeds.example.com/v1/show/{{id}}:\n    params:\n      id: 2\n")
		report, errOut := run("--values", values, "--follow", "0")
		for _, endpoint := range []string{"/series/{{id}}", "/show/{{id}}"} {
			if got := find(report, "probe", endpoint); got != "passed: 200 OK, application/json" {
				t.Errorf("%s: %s%s", endpoint, got, errOut)
			}
		}
		report, _ = run("--values", values, "--param", "id=7", "--follow", "0")
		if got := find(report, "probe", "/series/{{id}}"); got != "passed: 200 OK, application/json" {
			t.Errorf("an endpoint's own values do not take precedence: %s", got)
		}
	})
	t.Run("feed schema", func(t *testing.T) {
		file("entry.json", `{"type": "object", "required": ["title"]}`)
		schema := file("feed.json", `{"type": "object", "required": ["entry"], "properties": {"entry": {"items": {"$ref": "entry.json"}}, "next": {"oneOf": [{"type": "string"}, {"type": "null"}]}}}`)
		report, errOut := run("--feed-schema", schema, "--follow", "0")
		if got := find(report, "feed", "/v1/feeds"); !strings.HasPrefix(got, "failed: /entry/0: missing property 'title' correct the feed, or the schema\nfailed: /entry/1: ") {
			t.Errorf("%s%s", got, errOut)
		}
	})
	t.Run("ignore", func(t *testing.T) {
		report, errOut := run("--ignore", "feed,links")
		if !report.OK || !strings.HasSuffix(errOut, ", 1 ignored\n") {
			t.Errorf("%v %s", report.OK, errOut)
		}
	})
	t.Run("imperfect manifest", func(t *testing.T) {
		imperfect := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"endpoints": {"https://feeds.example.com/a": {"name": 5, "method": "GET", "modifiers": null, "cache": 1, "context_obj": [{"key": "k", "type": "ctx", "required": "no"}]},
				"https://feeds.example.com/b": {"name": "B", "method": "get", "mime_type": "application/json", "context_obj": [{"key": "k", "type": "header"}]}}}`)
		}))
		defer imperfect.Close()
		report, errOut := run("--send-to", imperfect.URL)
		got := make(map[client.Status]int)
		for _, r := range report.Results {
			if r.Check == "manifest" {
				got[r.Status]++
			}
		}
		if !report.OK || got[client.Warned] != 7 || len(got) != 1 {
			t.Errorf("%+v%s", report.Results, errOut)
		}
		for _, endpoint := range []string{"/a", "/b"} {
			if got := find(report, "probe", endpoint); got != "passed: 200 OK, application/json" {
				t.Errorf("%s: %s", endpoint, got)
			}
		}
	})
	t.Run("registered", func(t *testing.T) {
		feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if strings.HasSuffix(r.URL.Path, "endpoints-manifest") {
				fmt.Fprint(w, `{"endpoints": {"https://feeds.example.com/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"}}}`)
				return
			}
			fmt.Fprint(w, `{"other": "https://feeds.example.com/v2/x", "third": "https://sports.example.com/v1/y"}`)
		}))
		defer feeds.Close()
		definition := file("other.yaml", "versions:\n  v2:\n    endpoints:\n      https://{{host}}/v2/x: {name: X, method: get, mime_type: application/json}\n")
		manifest := file("sports.json", `{"endpoints": {"https://sports.example.com/v1": {"name": "Sports", "method": "get", "mime_type": "application/json"}}}`)
		args := []string{"check", "https://feeds.example.com/v1/endpoints-manifest", "--send-to", feeds.URL, "--format", "json"}
		out, _, _ := runCLI("", args...)
		if !strings.Contains(out, `no endpoint answers for \"https://feeds.example.com/v2/x\", at /other`) || strings.Contains(out, "sports") {
			t.Errorf("alone: %s", out)
		}
		if !strings.Contains(out, "if another service in the studio has one, name that with --registered") {
			t.Errorf("no hint: %s", out)
		}
		out, errOut, _ := runCLI("", append(args, "--registered", definition, "--registered", manifest)...)
		if !strings.Contains(out, "2 links, each with an endpoint that answers for it; 0 followed") {
			t.Errorf("with others: %s%s", out, errOut)
		}
		wide := file("wide.json", `{"endpoints": {"https://feeds.example.com/v1": {"name": "All", "method": "get", "mime_type": "application/json", "context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`)
		if out, _, _ := runCLI("", append(args, "--registered", wide)...); !strings.Contains(out, "[overlap-drops-context]") {
			t.Errorf("an overlap is not reported: %s", out)
		}
	})
}
