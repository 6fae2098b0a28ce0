package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/client"
	"signpost/studio"
)

// The tests in this file are regression tests for problems of the first edition of the page.

// view opens a view by its link.
func (p *tab) view(name string) {
	p.t.Helper()
	p.click(fmt.Sprintf(`document.querySelector('.views a[href^="#/%s"]')`, name))
	p.wait(fmt.Sprintf(`document.querySelector(".frame.show-%s")`, name))
}

// TestPageSaysWhoseFeedItIs fills in a placeholder so that the feed belongs to another endpoint.
func TestPageSaysWhoseFeedItIs(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, overlapYAML)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Section")
	p.typeInto(field("section"), "media")
	p.waitText("#owner", `This feed belongs to Media: both cover the same part of the feed URL, and "Media" spells more of it out.`)
	p.waitText("#owner", "Apps send beta with it")
	p.wait(`!document.querySelector("#copy-URL") && document.querySelector("#send").ariaDisabled === "true"`)
	p.waitText("#answer-blank", "Nothing to send: this feed belongs to Media.")
	p.click(`document.querySelector("#send")`)
	p.waitText("#send-failure", `belongs to "Media"`)
	p.click(button("Open Media"))
	p.waitText("#endpoint-name", "Media")
	p.waitURL("https://localhost/v1/media")
	p.eval("history.back()")
	p.typeInto(field("section"), "news")
	p.wait(`!document.querySelector("#owner") && document.querySelector("#copy-URL")`)

	// A feed that wins says why, too.
	p.click(listed("Clips"))
	p.waitText("#lost", "Feeds here lose beta and alpha.")
	p.click(button("Show on the map"))
	p.waitText("#losses", "shadows Media and Section: its feeds lose beta and alpha.")
	p.click(`document.querySelector("#all-endpoints summary")`)
	p.typeInto(`document.querySelector("#feeds")`, "https://localhost/v1/media/7\nhttps://localhost/v1/news")
	p.click(button("Show"))
	p.waitText("#landings", "Not Section, which covers the same part of the URL but spells less of it out than Media: the feed loses alpha.")
	p.wait(`[...document.querySelectorAll(".landed")].some((l) => l.textContent.includes("https://localhost/v1/media/7") && l.closest(".spot").textContent.startsWith("Media"))`)
	// The match is updated when the state changes.
	p.register(serveText(t, `{"endpoints":{"https://localhost/v1/media/7":{"name":"Seven","method":"get","mime_type":"application/json"}}}`))
	p.waitText("#endpoint-name", "Seven")
	p.view("map")
	p.waitText("#landings", "Seven answers")
}

// TestPageInManyTabs opens more tabs than a browser opens connections; all of them work and agree.
func TestPageInManyTabs(t *testing.T) {
	t.Parallel()
	s, address := serveFile(t, feedsYAML)
	var tabs []*tab
	for range 8 {
		p := openTab(t, address)
		p.published()
		p.waitURL("https://localhost/v1/feeds?page=0&hd=false")
		tabs = append(tabs, p)
	}
	tabs[7].typeInto(field("Query"), "owl")
	tabs[7].waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
	show(s, strings.Replace(feedsYAML, "name: Feeds\n", "name: Films\n", 1))
	for _, p := range tabs {
		p.waitText("#endpoint-name", "Films")
	}

	// What is registered in one tab shows up in all of them.
	tabs[3].register(serveText(t, manifestJSON))
	tabs[3].waitText("#endpoint-name", "Ten")
	for _, p := range tabs {
		p.wait(`document.querySelectorAll(".service-row").length === 2`)
	}
	// Two tabs look at two deployments: host and features are those of a tab, and in its address.
	tabs[0].setHost("https://feeds.example.com/x")
	tabs[0].waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	tabs[7].click(button("geo-restriction"))
	tabs[7].waitText("#context", "signedDeviceInfoToken")
	tabs[7].waitText("#context", "from geo-restriction")
	tabs[7].waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
	tabs[0].wait(`!document.querySelector("#context").textContent.includes("signedDeviceInfoToken")`)
	tabs[7].do(chromedp.Reload())
	tabs[7].waitText("#context", "signedDeviceInfoToken")

	// The tab that holds the stream closes, and another one takes over.
	tabs[0].do(chromedp.Navigate("about:blank"))
	show(s, feedsYAML)
	for _, p := range tabs[1:3] {
		p.waitText("#endpoint-name", "Feeds")
	}
}

// TestPageSurvivesARestart stops the program while somebody types, and starts it again.
func TestPageSurvivesARestart(t *testing.T) {
	t.Parallel()
	manifest := serveText(t, strings.ReplaceAll(manifestJSON, `"context_obj":[]`,
		`"modifiers":[{"id":"l","name":"Limit","params":[{"key":"limit","ui":{"label":"Limit"},"schema":{"type":"number","default":20}}]}]`))
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	if err := os.WriteFile(path, []byte(feedsYAML), 0o644); err != nil {
		t.Fatal(err)
	}
	run := startProgram(t, path, "--listen", "127.0.0.1:0")
	p := openTab(t, run.address)
	p.waitText("#endpoint-name", "Feeds")
	p.published()
	p.setHost("feeds.example.com")
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.click(button("geo-restriction"))
	p.waitText("#context", "signedDeviceInfoToken")
	p.register(manifest)
	p.waitText("#endpoint-name", "Ten")
	p.waitURL("https://feeds.example.com/v1/10?limit=20")
	changed := strings.Replace(feedsYAML, "defaultValue: 0", "defaultValue: 7", 1)
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	p.waitText("#status", "was saved")

	run.stop()
	p.waitText("#offline", "The studio has stopped.")
	p.typeInto(field("Limit"), "77")
	p.waitText("#feed-problem", "out of date")
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(`document.querySelector("#palette")`, "https://localhost/v1/feeds") // nothing throws
	p.press(kb.Escape)
	p.wait(`document.querySelector("#send").ariaDisabled === "true"`)
	p.wait(`document.querySelector("#offline").getBoundingClientRect().bottom < innerHeight`)
	again := startProgram(t, path, "--listen", run.listen())
	if again.address != run.address {
		t.Fatalf("after the restart it listens on %s, not on %s", again.address, run.address)
	}
	p.wait(`!document.querySelector("#offline")`)
	p.waitText("#endpoint-name", "Ten")
	p.waitURL("https://feeds.example.com/v1/10?limit=77")
	p.wait(field("Limit") + `.value === "77"`)

	// The deployment settings survive, too.
	p.service(path)
	p.waitURL("https://feeds.example.com/v1/feeds?page=7&hd=false")
	p.waitText("#context", "signedDeviceInfoToken")
	p.view("changes")
	p.waitText("#changes-list", "default changed from 0 to 7")
	p.click(button("Accept"))
	p.waitText("#changes-none", "Nothing has changed.")
	again.stop()
}

// TestPageReloadsWhenItIsOld replaces the assets on the server while the page is open.
func TestPageReloadsWhenItIsOld(t *testing.T) {
	t.Parallel()
	s, address := serveFile(t, feedsYAML)
	p := openTab(t, address)
	p.published()
	p.waitURL("https://localhost/v1/feeds?page=0&hd=false")
	p.typeInto(field("Query"), "owl")
	p.waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
	// A late event may make the page reload right away, so the test compares when the document was loaded.
	loaded := fmt.Sprintf("performance.timeOrigin !== %v", p.eval("performance.timeOrigin"))
	p.eval("import('/store.js').then((m) => { m.state.server.build = 'older'; window.before = true; }); 0")
	p.wait("window.before || " + loaded)
	show(s, strings.Replace(feedsYAML, "name: Feeds\n", "name: Films\n", 1))
	p.wait(loaded)
	p.waitText("#endpoint-name", "Films")
	p.waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
}

// TestPageNumbers checks that an invalid number is not silently dropped from a request, and that whatever browsers
// accept counts as a number.
func TestPageNumbers(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"query":%q}`, r.URL.RawQuery)
	}))
	t.Cleanup(feeds.Close)
	endpoint := feeds.URL + "/x: {name: X, method: get, mime_type: application/json, modifiers: [{kind: number, id: n, name: N, key: n, label: Number, defaultValue: 1}]}"
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+endpoint+"}}, v2: {endpoints: {"+endpoint+"}}}")
	p := openTab(t, address)
	p.waitURL(feeds.URL + "/x?n=1")
	p.published()
	typeKeys := func(text string) {
		p.focus(field("Number"))
		p.eval(field("Number") + ".select()")
		for _, key := range text {
			p.press(string(key))
		}
		p.waitText(".failure", "This is not a number.")
	}
	for _, text := range []string{"12e", "-"} {
		typeKeys(text)
		p.wait(field("Number") + `.ariaInvalid === "true"`)
		p.waitText("#feed-problem", "Number is not a number.")
		p.wait(`!document.querySelector("#copy-URL")`) // the URL lacks what the field shows
		p.click(`document.querySelector("#send")`)
		p.wait("document.activeElement === " + field("Number"))
	}
	// Elsewhere, and back again, the field has a number.
	fine := `!document.querySelector(".failure") && document.querySelector("#copy-URL") && ` + field("Number") + ".value === "
	p.choose("#version", "v2")
	p.wait(fine + `"1"`)
	p.choose("#version", "v1")
	p.wait(fine + `"12"`)
	typeKeys("13e")
	p.view("map")
	p.view("preview")
	p.wait(fine + `"13"`)
	typeKeys("14e")
	p.click(`document.querySelector('[aria-label="Reset Number"]')`)
	p.wait(fine + `"1"`)
	typeKeys("12e")
	if n := sent.Load(); n != 0 {
		t.Errorf("%d requests were sent without the parameter", n)
	}
	p.click(`document.querySelector('[aria-label="Reset Number"]')`)
	p.wait(field("Number") + `.value === "1" && !document.querySelector(".failure")`)
	p.focus(field("Number"))
	p.eval(field("Number") + ".select()")
	p.press(".")
	p.press("5")
	p.waitURL(feeds.URL + "/x?n=.5")
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)) // just after typing
	p.waitText("#answer", `n=.5`)
}

// TestPageSendsOnce clicks three times, and cancels.
func TestPageSendsOnce(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	hold := make(chan struct{})
	ended := make(chan struct{}, 10)
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		io.ReadAll(r.Body)
		if strings.HasPrefix(r.URL.Path, "/slow") {
			select {
			case <-hold:
			case <-r.Context().Done():
				ended <- struct{}{}
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"entry":[]}`)
	}))
	t.Cleanup(feeds.Close)
	t.Cleanup(func() { close(hold) })
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+feeds.URL+"/fast: {name: Fast, method: post, mime_type: application/json}, "+
		feeds.URL+"/slow: {name: Slow, method: get, mime_type: application/json}}}}")
	p := openTab(t, address)
	p.emulate(1440, 900, 1, "light")
	p.published()
	for i, name := range []string{"Fast", "Slow"} {
		p.click(listed(name))
		p.waitText("#endpoint-name", name)
		p.wait(`document.querySelector("#copy-URL")`)
		at, _ := p.eval(`(() => { const r = document.querySelector("#send").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`).([]any)
		for n := range 3 {
			p.do(chromedp.MouseClickXY(at[0].(float64), at[1].(float64), chromedp.ClickCount(n+1)))
		}
		if name == "Fast" {
			p.waitText("#answer", "200")
		}
		if n := sent.Load(); n != int64(i+1) {
			t.Errorf("three clicks on %s: %d requests in total, want %d", name, n, i+1)
		}
	}
	p.click(button("Cancel"))
	p.wait(`!document.querySelector("#cancel") && document.querySelector("#send").ariaDisabled !== "true"`)
	select {
	case <-ended:
	case <-time.After(waitTime):
		t.Error("the request was not cancelled")
	}
}

// TestPageSendsToLocalService reaches a feed service on this machine before it is deployed.
func TestPageSendsToLocalService(t *testing.T) {
	t.Parallel()
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"title":%q,"entry":[{"title":"For %s"}]}`, r.URL.RawQuery, r.Host)
	}))
	t.Cleanup(local.Close)
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, feedsYAML)
	p := openTab(t, address)
	p.published()
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.typeInto(field("token"), "for the real one")
	p.choose("#data", "origin")
	p.wait(`document.activeElement.id === "send-to"`)
	p.typeInto(`document.querySelector("#send-to")`, "localhost")
	p.press(kb.Enter)
	p.waitText("#deployment-failure", "is not an origin")
	p.typeInto(`document.querySelector("#send-to")`, local.URL)
	p.press(kb.Enter)
	p.wait(`!document.querySelector("#deployment-failure") && document.querySelector("#send-to").value === ` + quoteJS(local.URL))
	p.waitText("#context", "was entered for https://feeds.example.com")
	p.typeInto(field("token"), "x")
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false&ctx=eyJ0IjoieCJ9")
	p.click(`document.querySelector("#send")`)
	p.waitText("#cards", "For feeds.example.com")

	// From then on, changing a control changes the feed.
	p.typeInto(field("Query"), "owl")
	p.click(`document.querySelector("#tab-text")`)
	p.waitText("#tab-panel", "q=owl")
}

// TestPageKeepsThingsApart checks that the state of one manifest does not leak into another.
func TestPageKeepsThingsApart(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		io.WriteString(w, manifestJSON)
	}))
	t.Cleanup(server.Close)
	var many strings.Builder
	many.WriteString("versions:\n")
	for _, v := range []string{"v1", "v2"} {
		fmt.Fprintf(&many, "  %s:\n    endpoints:\n", v)
		for i := range 60 {
			fmt.Fprintf(&many, "      https://{{host}}/%s/e%d?id={{entry_id}}: {name: Endpoint %d, method: get, mime_type: application/json}\n", v, i, i)
		}
	}
	_, address := serveFile(t, many.String())
	p := openTab(t, address)
	p.wait(`document.querySelectorAll("#endpoints .endpoint-row").length === 60`)

	// Switching versions keeps the endpoint, and placeholders in the query are marked.
	p.click(listed("Endpoint 7"))
	p.waitText("#feed-url .open", "{{entry_id}}")
	p.choose("#version", "v2")
	p.waitURL("https://localhost/v2/e7?id={{entry_id}}")
	p.click(`document.querySelector("#feed-url button.open")`)
	p.wait("document.activeElement === " + field("entry_id"))
	p.typeInto(field("entry_id"), "a b")
	p.waitURL("https://localhost/v2/e7?id=a%20b")

	// The filter, and a failure, belong to one manifest.
	p.typeInto(`document.querySelector("#filter")`, "endpoint 5")
	p.wait(`document.querySelectorAll("#endpoints .endpoint-row").length === 11`)
	p.register(server.URL + "/v1/endpoints-manifest")
	p.waitText("#endpoint-name", "Ten")
	p.wait(`document.querySelectorAll("#endpoints .endpoint-row").length === 2`)
	down.Store(true)
	p.click(button("Update"))
	p.waitText("#update-failure", "500")
	p.waitText("#source-failure", "500")
	p.service("feeds.yaml")
	p.wait(`!document.querySelector("#source-failure")`)
	p.wait(`document.querySelectorAll("#endpoints .endpoint-row").length === 60`)

	// The tree is a single tab stop, so the endpoint is close.
	stops := p.eval(`[...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.closest(".preview")).length`).(float64)
	if stops > 30 {
		t.Errorf("%v tab stops before the endpoint", stops)
	}
}

// TestPageWithEndlessFeeds gets a body of 55 MB, and one that never ends.
func TestPageWithEndlessFeeds(t *testing.T) {
	t.Parallel()
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		line := []byte(`{"title":"` + strings.Repeat("x", 1000) + `"},`)
		io.WriteString(w, `{"entry":[`)
		for n := 0; r.URL.Path == "/endless" || n < 55<<20; n += len(line) {
			if r.URL.Path == "/endless" {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(50 * time.Millisecond):
				}
				w.Write(line[:10])
				w.(http.Flusher).Flush()
				continue
			}
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(feeds.Close)
	s, address := serve(t, studio.Options{Client: client.Options{Timeout: 1500 * time.Millisecond}})
	show(s, "versions: {v1: {endpoints: {"+feeds.URL+"/large: {name: Large, method: get, mime_type: application/json}, "+feeds.URL+"/endless: {name: Endless, method: get, mime_type: application/json}}}}")
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Large")
	p.published()
	p.wait(`document.querySelector("#copy-URL")`)
	p.click(`document.querySelector("#send")`)
	p.waitText("#answer", "200")
	p.waitText("#answer .notes", "The studio cut it there")
	p.waitText("#answer-facts", "the first 1")
	p.wait(`document.querySelectorAll("#cards li").length === 200`)
	p.click(`document.querySelector("#tab-text")`)
	p.waitText("#tab-panel", `"entry"`)
	p.click(listed("Endless"))
	p.wait(`document.querySelector("#copy-URL")`)
	p.click(`document.querySelector("#send")`)
	p.waitText("#answer-facts", "Waiting for")
	p.waitText("#answer-facts", "incomplete")
	p.waitText("#answer .notes", "The part that arrived is shown.")
	p.waitText("#tab-panel", `"entry"`)
}

// TestPageComparesWithGit shows the changes since a commit.
func TestPageComparesWithGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "feeds.yaml")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write(feedsYAML)
	git("add", "feeds.yaml")
	git("commit", "-qm", "one")
	write(strings.Replace(feedsYAML, "defaultValue: 0", "defaultValue: 9", 1))
	run := startProgramIn(t, dir, "feeds.yaml", "--listen", "127.0.0.1:0")
	p := openTab(t, run.address+"#/changes?base=git")
	p.wait(`document.querySelector("#revision")`)
	p.typeInto(`document.querySelector("#revision")`, "nothing")
	p.press(kb.Enter)
	p.waitText("#changes-failure", "nothing")
	p.typeInto(`document.querySelector("#revision")`, "HEAD")
	p.press(kb.Enter)
	p.waitText("#changes-list", "default changed from 0 to 9")
	p.wait(`location.hash.includes("of=HEAD")`)
}

// TestPageAppliesFixes fixes the file from the page.
func TestPageAppliesFixes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	broken := strings.Replace(feedsYAML, "method: get\n", "method: GET # as in HTTP\n", 1)
	if err := os.WriteFile(path, []byte(broken), 0o640); err != nil {
		t.Fatal(err)
	}
	run := startProgram(t, path, "--listen", "127.0.0.1:0")
	p := openTab(t, run.address+"#/problems")
	p.waitText("#problems-list", `method "GET"`)
	p.click(button("Apply"))
	p.wait(`!document.querySelector("#problems-list").textContent.includes("GET")`)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != strings.Replace(broken, "GET", "get", 1) {
		t.Errorf("after the fix, the file is (error %v):\n%s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode of the file is %v, %v", info.Mode(), err)
	}
}
