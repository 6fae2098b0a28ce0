package studio_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/client"
	"signpost/internal/testkit"
	"signpost/studio"
)

// TestPageAnswers holds the page to what really happened: what was sent, how often, and which bytes came back.
func TestPageAnswers(t *testing.T) {
	t.Parallel()
	const bytes = `{"entry":[{"id":1,"title":"A","series_id":9007199254740993,"n":[12345678901234567890,1.10,1e400,-0,"\u00e9\/"]}],"b":1,"a":2,"2":0,"1":0,"b":3}`
	var posted atomic.Int64
	hold, ended := make(chan struct{}), make(chan struct{}, 3)
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			select {
			case <-hold:
			case <-r.Context().Done():
			}
			io.WriteString(w, `{"entry":[`+strings.Repeat(`{"title":"x"},`, 19)+`{"title":"x"}]}`)
		case "/post":
			io.ReadAll(r.Body)
			posted.Add(1)
			<-r.Context().Done()
			ended <- struct{}{}
		case "/empty":
			w.Header().Del("Content-Type")
			w.WriteHeader(http.StatusNoContent)
		case "/error":
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusInternalServerError)
			io.WriteString(w, "one\ntwo")
		case "/moved":
			http.Redirect(w, r, "/here", http.StatusFound)
		case "/large":
			io.WriteString(w, `{"entry":[`)
			for range 2 * client.MaxAnswer / 1000 {
				io.WriteString(w, `{"title":"`+strings.Repeat("x", 1000)+`"},`)
			}
		default:
			bodies := map[string]string{"/bytes": bytes, "/bom": "\ufeff{\"entry\":[]}", "/array": "[]", "/invalid": `{"entry":[1,]}`}
			io.WriteString(w, bodies[r.URL.Path])
		}
	})
	text := "versions:\n  v1:\n    endpoints:\n"
	for _, path := range []string{"slow", "bytes", "series/{{series_id}}", "bom", "array", "empty", "invalid", "error", "moved", "large", "late"} {
		text += fmt.Sprintf("      \"%s/%s\": {name: \"Feed %[2]s\", method: get, mime_type: application/json, modifiers: [{kind: number, id: l, name: Limit, key: limit, label: Limit, defaultValue: 20}]}\n", feeds.URL, path)
	}
	text += "      " + feeds.URL + "/post: {name: Post, method: post, mime_type: application/json}\n"
	_, address := serveFile(t, text, studio.Options{Client: client.Options{Transport: lateTransport("/late")}})
	p := openTab(t, address+published)
	p.waitText("#endpoint-name", "Feed slow")

	// A control changes while a slow response is on its way: the response is judged by what was sent.
	p.eval(`document.querySelector("#auto").click()`)
	p.send()
	p.waitText("#answer-facts", "Waiting for")
	p.typeInto(field("Limit"), "5")
	p.waitText("#feed-url", "limit=5")
	close(hold)
	p.waitText("#answer-facts", "20 entries, as the limit says", "not the current values")
	p.send()
	p.waitText("#answer-facts", "20 entries", "more than the limit of 5")

	// Three clicks are one request, and it can be cancelled.
	p.open("Post")
	p.wait(`document.querySelector("#copy-URL")`)
	at, _ := p.eval(`(() => { const r = document.querySelector("#send").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`).([]any)
	for n := range 3 {
		p.do(chromedp.MouseClickXY(at[0].(float64), at[1].(float64), chromedp.ClickCount(n+1)))
	}
	testkit.Eventually(t, "the request arrives", func() bool { return posted.Load() > 0 })
	p.click(button("Cancel"))
	p.wait(`!document.querySelector("#cancel") && document.querySelector("#send").ariaDisabled !== "true"`)
	<-ended
	testkit.Equal(t, "requests for three clicks", posted.Load(), int64(1))

	// No digit of a response is changed, also where it is used elsewhere.
	send := func(name string) {
		t.Helper()
		p.open("Feed " + name)
		p.send()
	}
	send("bytes")
	p.waitText("#answer-facts", "1 entry")
	p.click(element("tab-text"))
	p.wait(`document.querySelector("#tab-panel .json")`)
	p.wait(`[...document.querySelectorAll(".json button[aria-expanded='false']")].map((b) => b.click()).length === 0`)
	shown := strings.NewReplacer("▾", "", "▸", "").Replace(p.text("#tab-panel .json"))
	testkit.Equal(t, "shown bytes", strings.Join(strings.Fields(shown), ""), bytes)

	// A button that says that it has copied does not move its neighbours.
	const place = `JSON.stringify(document.querySelector("#copy-body").getBoundingClientRect())`
	p.eval(`navigator.clipboard.writeText = () => Promise.resolve();
const later = setTimeout; window.setTimeout = (f, ms) => (ms === 1500 ? 0 : later(f, ms)); 0`) // it says so until the test has seen it
	before := p.eval(place)
	p.click(element("copy-body"))
	p.wait(`[...document.querySelectorAll("#copy-body span")].some((e) => e.textContent === "Copied" && e.checkVisibility({ visibilityProperty: true }))`)
	testkit.Equal(t, "place of the button", p.eval(place), before)
	p.click(element("tab-cards"))
	p.click(`document.querySelector("#cards button")`) // it leads to an endpoint with its values
	p.click(button("Open Feed series/{{series_id}}"))
	p.waitURL(feeds.URL + "/series/9007199254740993?limit=20")

	// Unusual responses.
	for _, unusual := range []struct{ path, selector, text string }{
		{"bom", "#answer .notes", "byte order mark"}, {"", "#tab-panel", "The feed has no entries."},
		{"array", "#tab-panel", "The feed has no entries."},
		{"empty", "#tab-panel", "The response has no body."}, {"", "#answer-facts .badge.good", "204"},
		{"invalid", "#answer .notes", "but the body is not JSON"}, {"", "#answer-facts .badge.bad", "200"},
		{"error", ".said", "one\ntwo"},
		{"late", "#answer-facts", "incomplete"}, {"", "#answer .notes", "The part that arrived is shown."}, {"", "#cards", "in time"},
		{"moved", "#answer .notes", "redirects to"},
	} {
		if unusual.path != "" {
			send(unusual.path)
		}
		p.waitText(unusual.selector, unusual.text)
	}
	send("large")
	p.waitText("#answer .notes", "The studio cut it there")
	p.waitText("#answer-facts", "the first 1")
	p.wait(`document.querySelectorAll("#cards li").length === 200`)
}

// TestPageForgetsAnswers gets long answers from six endpoints: the page keeps 4 MiB of them, the newest.
// Send on change is off: it gets again what is forgotten.
func TestPageForgetsAnswers(t *testing.T) {
	t.Parallel()
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"entry":[{"title":"Of %s","text":%q}]}`, r.URL.Path, strings.Repeat("x", 900<<10))
	})
	names := []string{"a", "b", "c", "d", "e", "f"}
	text := "versions:\n  v1:\n    endpoints:\n"
	for _, name := range names {
		text += fmt.Sprintf("      %s/%s: {name: Feed %[2]s, method: get, mime_type: application/json}\n", feeds.URL, name)
	}
	_, address := serveFile(t, text)
	p := openTab(t, address+published)
	p.click(element("auto"))
	for _, name := range names {
		p.open("Feed " + name)
		p.waitURL(feeds.URL + "/" + name)
		p.send()
		p.waitText("#cards", "Of /"+name)
	}
	kept := ""
	for _, name := range names {
		p.open("Feed " + name)
		if p.eval(`document.querySelector("#cards") !== null`) == true {
			kept += name
		}
	}
	testkit.Equal(t, "kept answers", kept, "cdef")
}

// lateTransport answers requests for a path with a body that does not end in time.
func lateTransport(path string) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path != path {
			return http.DefaultTransport.RoundTrip(req)
		}
		body := io.MultiReader(strings.NewReader(`{"entry":[{"title":"in time"},`), iotest.ErrReader(context.DeadlineExceeded))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body), Request: req}, nil
	})
}

// TestPageWithSlowPictures types while sixty pictures are loading.
func TestPageWithSlowPictures(t *testing.T) {
	t.Parallel()
	var loading atomic.Int64
	hold := make(chan struct{})
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".png") {
			if loading.Add(1) > 3 {
				t.Error("more than 3 pictures are loaded at a time")
			}
			defer loading.Add(-1)
			select {
			case <-hold:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusTeapot)
			return
		}
		var entries []string
		for i := range 60 {
			entries = append(entries, fmt.Sprintf(`{"title":"x","image":"http://%s/%d.png"}`, r.Host, i))
		}
		fmt.Fprintf(w, `{"entry":[%s]}`, strings.Join(entries, ","))
	})
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+feeds.URL+"/x: {name: X, method: get, mime_type: application/json, modifiers: [{kind: number, id: l, name: L, key: limit, label: Limit, defaultValue: 20}]}}}}")
	p := openTab(t, address+published)
	p.waitURL(feeds.URL + "/x?limit=20")
	p.emulate(2560, 1300, 1, "light")
	p.send()
	p.wait(`document.querySelectorAll("#cards img").length === 60`)
	testkit.Eventually(t, "three pictures are loading", func() bool { return loading.Load() == 3 })
	p.eval(`document.querySelector("#auto").click()`)
	p.typeInto(field("Limit"), "7")
	p.waitURL(feeds.URL + "/x?limit=7")
	close(hold)
	p.wait(`[...document.querySelectorAll("#cards .failed")].some((e) => e.textContent.startsWith("Picture not loaded: The answer is 418"))`) // and why
}

// TestPageSendsElsewhere reaches a feed service on this machine before it is deployed, and one whose port {{host}} lacks.
func TestPageSendsElsewhere(t *testing.T) {
	t.Parallel()
	local := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/endpoints-manifest") {
			fmt.Fprint(w, `{"endpoints":{"https://127.0.0.1/v1/shows":{"name":"Shows","method":"get","mime_type":"application/json"},
"https://127.0.0.1/v1/series/{{id}}":{"name":"Series","method":"get","mime_type":"application/json"}}}`)
			return
		}
		fmt.Fprintf(w, `{"title":%q,"entry":[{"title":"For %s","content":"https://127.0.0.1/v1/series/2"}]}`, r.URL.RawQuery, r.Host)
	})
	_, address := serveFile(t, feedsYAML, studio.Options{Host: "feeds.example.com"})
	p := openTab(t, address+published)
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.typeInto(field("token"), "for the real one")
	p.choose("#data", "origin")
	p.wait(`document.activeElement.id === "send-to"`)
	p.typeInto(element("send-to"), "localhost")
	p.press(kb.Enter)
	p.waitText("#deployment-failure", "is not an origin")
	p.typeInto(element("send-to"), local.URL)
	p.press(kb.Enter)
	p.wait(`!document.querySelector("#deployment-failure") && document.querySelector("#send-to").value === ` + quoteJS(local.URL))
	p.waitText("#context", "was entered for https://feeds.example.com")
	p.typeInto(field("token"), "x")
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false&ctx=eyJ0IjoieCJ9")
	p.click(element("send"))
	p.waitText("#cards", "For feeds.example.com")

	// From then on, changing a control changes the feed.
	p.typeInto(field("Query"), "owl")
	p.click(element("tab-text"))
	p.waitText("#tab-panel", "q=owl")

	p.register(local.URL + "/v1/endpoints-manifest")
	p.waitText("#endpoint-name", "Shows")
	p.choose("#data", "published")
	p.waitText("#answer-blank", "feed URLs have no port")
	p.click(element("other-port"))
	p.waitText("#answer-blank", "Press Send to call "+local.URL)
	p.send()
	p.click(element("tab-cards"))
	p.waitText("#cards", "For 127.0.0.1")

	// Cards without pictures reserve no space for them, and any URL of an entry can be followed.
	p.wait(`!document.querySelector("#cards .picture").checkVisibility()`)
	p.click(`document.querySelector("#cards button")`)
	p.click(button("Follow the link"))
	p.waitText("#endpoint-name", "Series")
	p.wait(field("id") + `.value === "2"`)
}
