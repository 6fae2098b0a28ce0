package studio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"signpost/contextkeys"
	"signpost/studio"
)

// check runs the checks of a source, and returns the outcome of each and whether all are fine.
func check(t *testing.T, address string, in object) (results map[string]string, ok bool) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(address+"/api/check", "application/json", strings.NewReader(string(body)))
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
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/broken" {
			w.Header().Set("Content-Type", "text/html")
		}
		w.Write([]byte("{}"))
	}))
	t.Cleanup(local.Close)
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

// TestPageMarksWarnings checks that a run with warnings is not marked as fine, and that another version is not marked.
func TestPageMarksWarnings(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, `versions: {v1: {endpoints: {
  "https://{{host}}/v1/a": {name: A, method: post, mime_type: application/json, context_obj: [{key: k, type: ctx}]},
  "https://{{host}}/v1/a/b": {name: B, method: post, mime_type: application/json}}}, v2: {endpoints: {
  "https://{{host}}/v2/a": {name: Other, method: post, mime_type: application/json}}}}`)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "A")
	p.view("check")
	p.click(`document.querySelector("#run-check")`)
	p.waitText("#check-status", "1 warned")
	p.wait(`document.querySelector('.views a[href^="#/check"] .badge').textContent === "1"`)
	p.choose("#version", "v2")
	p.wait(`!document.querySelector('.views a[href^="#/check"] .badge')`)
}

// TestPageChecksWithWhatIsFilledIn runs the checks of the real program with values, another number of links and a schema.
func TestPageChecksWithWhatIsFilledIn(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "private")
		switch r.URL.Path {
		case "/v1/shows":
			fmt.Fprint(w, `{"entry":[{"link":"https://feeds.example.com/v1/series/7"}]}`)
		case "/v1/media":
			values, _ := contextkeys.Decode(r.URL.Query().Get("ctx"))
			token, _ := values.Text("token")
			profile, _ := values.JSON("profile")
			if token != "s3cret" || string(profile) != `{"id":7}` {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprint(w, `{"entry":[]}`)
		default:
			fmt.Fprint(w, `{"entry":7}`)
		}
	}))
	t.Cleanup(service.Close)
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	text := `versions: {v1: {endpoints: {
  "https://{{host}}/v1/shows": {name: Shows, method: get, mime_type: application/json},
  "https://{{host}}/v1/series/{{id}}": {name: Series, method: get, mime_type: application/json},
  "https://{{host}}/v1/media": {name: Media, method: get, mime_type: application/json, context_obj: [{key: token, type: ctx, required: true}, {key: profile, type: ctx}]}}}}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run := startProgram(t, path, "--listen", "127.0.0.1:0", "--host", "feeds.example.com", "--send-to", service.URL)
	p := openTab(t, run.address)
	p.waitText("#endpoint-name", "Shows")
	row := func(status, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#results li")].some((l) => l.querySelector(".badge").textContent === %s && l.innerText.replace(/\s+/g, " ").includes(%s))`, quoteJS(status), quoteJS(text))
	}
	runChecks := func() {
		p.click(`document.querySelector("#run-check")`)
		p.waitText("#check-status", "passed")
	}
	p.view("check")
	p.waitText(".view-head", "calls its feeds on "+service.URL)
	runChecks()
	p.wait(row("passed", `probe 200 OK, application/json; reached as "https://feeds.example.com/v1/series/7"`)) // by a link
	p.wait(row("skipped", "probe it needs a value for token"))

	p.click(`document.querySelector('.views a[href^="#/preview"]')`)
	p.click(listed("Media"))
	p.typeInto(field("token"), "s3cret")
	p.eval(`(() => { const type = document.querySelector("[aria-label='Type of profile']"); type.value = "json"; type.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.typeInto(field("profile"), `{"id":7}`)
	p.waitText("#decoded", `"id": 7`)
	p.view("check")
	p.click(`document.querySelector("#check-options summary")`)
	p.typeInto(`document.querySelector("#follow")`, "0")
	p.press(kb.Tab)
	runChecks()
	p.wait(row("passed", "https://feeds.example.com/v1/media"))
	p.wait(row("skipped", "probe it needs a value for {{id}}"))

	choose := func(text string) {
		p.eval(fmt.Sprintf(`(() => { const files = new DataTransfer(); files.items.add(new File([%s], "feed.schema.json"));
  const input = document.querySelector("#schema"); input.files = files.files; input.dispatchEvent(new Event("change", { bubbles: true })); })()`, quoteJS(text)))
		p.wait(`[...document.querySelectorAll("#check-options button")].some((b) => b.textContent === "Remove")`)
	}
	choose(`{"properties": {"entry": {"type": "array", "minItems": 1}}}`)
	runChecks()
	p.wait(row("failed", "/entry"))
	choose(`{"type": 7}`)
	p.click(`document.querySelector("#run-check")`)
	p.waitText("#check-failure", `"feed.schema.json" is not a JSON Schema`)
	choose(`{"$ref": "file:///etc/passwd"}`)
	p.click(`document.querySelector("#run-check")`)
	p.waitText("#check-failure", `file:///etc/passwd`)
	p.click(button("Remove"))
	runChecks()
	p.wait(`!document.querySelector("#check-failure") && ` + row("passed", "feed"))
	if got := p.text("#results"); strings.Contains(got, "s3cret") || strings.Contains(got, "eyJ0b2tlbiI6") {
		t.Error("the results have a context value")
	}
	run.stop()
}
