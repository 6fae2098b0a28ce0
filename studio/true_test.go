package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"signpost/definition"
	"signpost/studio"
)

// The tests in this file hold the page to what really happened: what was sent, and which bytes came back.

// serveFeed starts a feed service, and a studio with one endpoint of it per path. It returns the origin of the service.
func serveFeed(t *testing.T, handler http.HandlerFunc, paths ...string) (p *tab, s *studio.Studio, origin string) {
	t.Helper()
	feeds := httptest.NewServer(handler)
	t.Cleanup(feeds.Close)
	text := "versions:\n  v1:\n    endpoints:\n"
	for _, path := range paths {
		text += fmt.Sprintf("      %s%s: {name: Feed %s, method: get, mime_type: application/json, modifiers: [{kind: number, id: l, name: Limit, key: limit, label: Limit, defaultValue: 20}]}\n",
			feeds.URL, path, strings.Trim(path, "/"))
	}
	s, address := serveFile(t, text)
	p = openTab(t, address)
	p.waitText("#endpoint-name", "Feed "+strings.Trim(paths[0], "/"))
	p.published()
	return p, s, feeds.URL
}

// TestPageJudgesByWhatWasSent changes a control while a slow response is on its way.
func TestPageJudgesByWhatWasSent(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	p, _, _ := serveFeed(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("limit") == "20" {
			<-hold
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"entry":[`+strings.Repeat(`{"title":"x"},`, 19)+`{"title":"x"}]}`)
	}, "/x")
	p.eval(`document.querySelector("#auto").click()`)
	p.click(`document.querySelector("#send")`)
	p.waitText("#answer-facts", "Waiting for")
	p.typeInto(field("Limit"), "5")
	p.waitText("#feed-url", "limit=5")
	close(hold)
	p.waitText("#answer-facts", "20 entries, as the limit says")
	p.waitText("#answer-facts", "not the current values")
	p.wait(`!document.querySelector("#complaints")`)
}

// TestPageShowsTheBytes checks that no digit of a response is changed, also where it is used elsewhere.
func TestPageShowsTheBytes(t *testing.T) {
	t.Parallel()
	const body = `{"entry":[{"id":1,"title":"A","series_id":9007199254740993,"n":[12345678901234567890,1.10,1e400,-0,"\u00e9\/"]}],"b":1,"a":2,"2":0,"1":0,"b":3}`
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}))
	t.Cleanup(feeds.Close)
	_, address := serveFile(t, "versions: {v1: {endpoints: {\""+feeds.URL+"/x\": {name: X, method: get, mime_type: application/json}, \""+
		feeds.URL+"/series/{{series_id}}\": {name: Series, method: get, mime_type: application/json}}}}")
	p := openTab(t, address)
	p.waitText("#endpoint-name", "X")
	p.published()
	p.click(`document.querySelector("#send")`)
	p.waitText("#answer-facts", "1 entry")
	p.click(`document.querySelector("#tab-text")`)
	p.wait(`document.querySelector("#tab-panel .json")`)
	p.wait(`[...document.querySelectorAll(".json button[aria-expanded='false']")].map((b) => b.click()).length === 0`)
	if got := strings.Join(strings.Fields(strings.NewReplacer("▾", "", "▸", "").Replace(p.text("#tab-panel .json"))), ""); got != body {
		t.Errorf("the page shows\n%s\nnot\n%s", got, body)
	}
	// A placeholder offers values out of the answer of another endpoint.
	p.click(listed("Series"))
	p.click(button("9007199254740993"))
	p.waitURL(feeds.URL + "/series/9007199254740993")
}

// TestPageWithSlowPictures types while sixty pictures are loading.
func TestPageWithSlowPictures(t *testing.T) {
	t.Parallel()
	var loading, most atomic.Int64
	hold := make(chan struct{})
	p, _, origin := serveFeed(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".png") {
			for n := loading.Add(1); ; {
				if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
					break
				}
			}
			defer loading.Add(-1)
			select {
			case <-hold:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		var entries []string
		for i := range 60 {
			entries = append(entries, fmt.Sprintf(`{"title":"x","image":"http://%s/%d.png"}`, r.Host, i))
		}
		fmt.Fprintf(w, `{"entry":[%s]}`, strings.Join(entries, ","))
	}, "/x")
	p.emulate(2560, 1300, 1, "light")
	p.click(`document.querySelector("#send")`)
	p.wait(`document.querySelectorAll("#cards img").length === 60`)
	for loading.Load() < 3 {
		p.eval("0")
	}
	p.eval(`document.querySelector("#auto").click()`)
	p.typeInto(field("Limit"), "7")
	p.waitURL(origin + "/x?limit=7")
	if n := most.Load(); n != 3 {
		t.Errorf("%d pictures were loaded at a time, not 3", n)
	}
	close(hold)
	p.waitText("#cards .failed", "Picture not loaded: The answer is 418") // and why
}

// TestPageSaysWhatIsGone changes the URL of the endpoint that is shown, and opens links to what does not exist.
func TestPageSaysWhatIsGone(t *testing.T) {
	t.Parallel()
	const text = "versions: {v1: {endpoints: {\"https://{{host}}/v1/first\": {name: First, method: get, mime_type: application/json}, \"https://{{host}}/v1/films\": {name: Films, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Query}]}}}}"
	s, address := serveFile(t, text)
	p := openTab(t, address)
	p.click(listed("Films"))
	p.typeInto(field("Query"), "owl")
	p.waitURL("https://localhost/v1/films?q=owl")
	show(s, strings.Replace(text, "/v1/films", "/v1/movies", 1))
	p.waitText("#endpoint-blank", "This endpoint is gone")
	p.waitText("#endpoint-blank", "feeds.yaml has no endpoint https://{{host}}/v1/films")
	p.click(button("Open Films"))
	p.waitURL("https://localhost/v1/movies?q=owl")
	p.wait(`decodeURIComponent(location.hash).includes("/v1/movies")`)
	p.eval(`location.hash = "#/preview?source=feeds.yaml&version=v7"`)
	p.waitText("#endpoint-blank", "There is no version v7")
	p.click(button("Show v1"))
	p.waitText("#endpoint-name", "First")
}

// TestPageShowsABrokenFile has a broken file among several: it is seen, and said once.
func TestPageShowsABrokenFile(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	showFour(s)
	p := openTab(t, address)
	mark := func(id, text string) {
		t.Helper()
		p.wait(fmt.Sprintf(`document.querySelector(".service-row[data-source='%s'] .mark")?.textContent === %s`, id, quoteJS(text)))
	}
	mark("news.yaml", "1 change")
	mark("sports.yaml", "2 problems")
	p.service("sports.yaml")
	p.waitText("#endpoint-blank", "Sports has 2 errors")

	// A syntax error takes neither title nor switches away.
	p.service("feeds.yaml")
	p.waitText(".title", "Example feeds")
	s.SetFiles(studio.File{Definition: definition.Parse("feeds.yaml", []byte("versions: [")), Text: []byte("versions: [")})
	p.waitText("#notes", "The file has errors.")
	p.waitText(".title", "Example feeds")
	p.waitText(".quiet-line", "parental-control")
}

// TestPageAnswers shows unusual responses.
func TestPageAnswers(t *testing.T) {
	t.Parallel()
	p, _, origin := serveFeed(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/bom":
			io.WriteString(w, "\ufeff{\"entry\":[]}")
		case "/array":
			io.WriteString(w, "[]")
		case "/empty":
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNoContent)
		case "/invalid":
			io.WriteString(w, `{"entry":[1,]}`)
		case "/error":
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusInternalServerError)
			io.WriteString(w, "one\ntwo")
		case "/moved":
			http.Redirect(w, r, "/here?"+r.URL.RawQuery, http.StatusFound)
		case "/here":
			fmt.Fprintf(w, `{"entry":[{"title":%q}]}`, r.URL.RawQuery)
		}
	}, "/bom", "/array", "/empty", "/invalid", "/error", "/moved")
	send := func(name string) {
		t.Helper()
		p.click(listed("Feed " + name))
		p.waitURL(origin + "/" + name + "?limit=20")
		p.click(`document.querySelector("#send")`)
	}
	send("bom")
	p.waitText("#answer .notes", "byte order mark")
	p.waitText("#tab-panel", "The feed has no entries.")
	send("array")
	p.waitText("#complaints", "The feed is a JSON array.")
	send("empty")
	p.waitText("#tab-panel", "The response has no body.")
	p.wait(`document.querySelector("#answer-facts .badge.good")?.textContent === "204"`)
	send("invalid")
	p.waitText("#answer .notes", "but the body is not JSON")
	p.wait(`document.querySelector("#answer-facts .badge.bad")?.textContent === "200"`)
	send("error")
	p.wait(`document.querySelector(".said")?.textContent === "one\ntwo"`)
	send("moved")
	p.waitText("#answer .notes", "redirects to")
	p.click(`document.querySelector("#follow")`)
	p.waitText("#cards", "limit=20")
}

// TestPageWritesItsAddressSeldom types fast: the address changes once a second at most, and a reload loses nothing.
func TestPageWritesItsAddressSeldom(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#answer-facts", "20 entries")
	p.eval(`window.writes = 0; window.began = performance.now(); const replace = history.replaceState.bind(history);
history.replaceState = (...args) => { window.writes++; replace(...args); }; 0`)
	p.focus(field("Search"))
	for range 30 {
		p.press("o")
	}
	p.waitText("#feed-url", strings.Repeat("o", 30))
	if got := p.eval(`window.writes <= 1 + Math.ceil((performance.now() - window.began) / 1000)`); got != true {
		t.Errorf("the address was written %v times", p.eval("window.writes"))
	}
	p.press("w")
	p.wait(field("Search") + `.value.endsWith("w")`)
	p.press(kb.F5)
	p.eval("location.reload()")
	p.wait(field("Search") + fmt.Sprintf(`?.value === %s`, quoteJS(strings.Repeat("o", 30)+"w")))
}

// TestPageRemovesDuringUpdate removes an address while it is updated: it stays away.
func TestPageRemovesDuringUpdate(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() {
			asked <- struct{}{}
			<-hold
		}
		io.WriteString(w, manifestJSON)
	}))
	t.Cleanup(server.Close)
	_, address := serveFile(t, feedsYAML)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feeds")
	p.register(server.URL + "/v1/endpoints-manifest")
	p.waitText("#endpoint-name", "Ten")
	slow.Store(true)
	p.click(button("Update"))
	<-asked
	p.click(button("Remove"))
	p.waitText("#status", "Removed.")
	close(hold)
	p.wait(`!document.querySelector("#endpoints").textContent.includes("127.0.0.1") && document.querySelectorAll(".service-row").length === 1`)
	_, state := ask(t, address+"/api/state", nil)
	if got := state["order"].([]any); len(got) != 1 {
		t.Errorf("registered: %v", got)
	}
}
