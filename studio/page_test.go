package studio_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/testkit"
	"signpost/studio"
)

// controlsYAML has the four kinds of control, with and without defaults, in front of a feed service that echoes what it was sent.
const controlsYAML = `
versions:
  v1:
    endpoints:
      SERVICE/series/{{series_id}}/episodes:
        name: Episodes
        method: get
        mime_type: application/json
        context_obj: [{key: login.token, type: ctx, required: true, mapper: token}]
        modifiers:
          - {kind: text, id: q, name: Search text, key: q, label: Query, placeholder: Title or person}
          - {kind: number, id: page, name: Page, key: page, label: Page, defaultValue: 0, placeholder: From 0}
          - {kind: boolean, id: hd, name: HD, key: hd, label: HD only, defaultValue: false}
          - {kind: boolean, id: new, name: New, key: new, label: New only}
          - {kind: select, id: sort, name: Sort, key: sort, label: Sort by, defaultValue: title, options: [{value: newest, label: Newest first}, {value: title, label: By title}]}
      SERVICE/series: {name: Series, method: get, mime_type: application/json}
`

// TestPageFromControlsToAnswer does what a first-time visitor does.
func TestPageFromControlsToAnswer(t *testing.T) {
	t.Parallel()
	items := []signpost.ContextItem{{Key: "login.token", Type: signpost.ContextCtx, Required: true, Mapper: "token"}}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := contextkeys.FromContext(r.Context()).Text("login.token")
		query := r.URL.Query()
		query.Del("ctx")
		json.NewEncoder(w).Encode(map[string]string{"path": r.URL.Path, "query": query.Encode(), "token": token})
	})
	feed := answerWith(t, contextkeys.Middleware(items)(echo).ServeHTTP).URL + "/v1/series"
	text := strings.ReplaceAll(controlsYAML, "SERVICE/series", strings.Replace(feed, "127.0.0.1", "{{host}}", 1))
	_, address := serveFile(t, text, studio.Options{Host: "127.0.0.1"})
	p := openTab(t, address+published)

	// Each control has its default and its placeholder; 0 and false are defaults like any other, and unset is not
	// false.
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")
	for expression, want := range map[string]any{
		field("Query") + ".type":           "text",
		field("Query") + ".placeholder":    "Title or person",
		field("Query") + ".value":          "",
		field("Page") + ".type":            "number",
		field("Page") + ".value":           "0",
		field("Page") + ".placeholder":     "From 0",
		toggle("hd", "false") + ".checked": true,
		toggle("new", "") + ".checked":     true,
		field("Sort by") + ".type":         "select-one",
		field("Sort by") + ".value":        "title",
		field("Sort by") + ".textContent":  "Not setNewest firstBy title",
	} {
		testkit.Equal(t, expression, p.eval(expression), want)
	}

	// The URL follows each of them.
	p.typeInto(field("Query"), "a b&c")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=0&hd=false&sort=title")
	p.typeInto(field("Page"), "3")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=false&sort=title")
	p.click(toggle("hd", "true"))
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&sort=title")
	p.focus(toggle("new", ""))
	p.press(kb.ArrowRight)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=false&sort=title")
	p.press(kb.ArrowRight)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=true&sort=title")
	p.focus(field("Sort by"))
	p.press(kb.ArrowUp)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=true&sort=newest")

	// What is no number is not silently dropped from the request, and what a browser takes for one counts.
	keys := func(text string) {
		t.Helper()
		p.focus(field("Page"))
		p.eval(field("Page") + ".select()")
		for _, key := range text {
			p.press(string(key))
		}
	}
	keys("12e")
	p.waitText(".failure", `Modifier "page" takes a number`)
	p.wait(field("Page") + `.ariaInvalid === "true" && !document.querySelector("#copy-URL")`) // the URL lacks what the field shows
	keys(".5")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=.5&hd=true&new=true&sort=newest")

	// Reset restores the default, or clears the field if there is none.
	for _, label := range []string{"Reset Page", "Reset HD only", "Clear New only", "Clear Query"} {
		p.click(fmt.Sprintf(`document.querySelector('[aria-label=%s]')`, quoteJS(label)))
	}
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=newest")
	p.typeInto(field("Page"), "3")
	p.click(button("reset all"))
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")

	// Send moves the focus to a missing value, and marks its field.
	p.wait(field("series_id") + `.ariaInvalid !== "true"`)
	p.click(button("Send"))
	p.wait("document.activeElement === " + field("series_id"))
	p.wait(field("series_id") + `.ariaInvalid === "true"`)
	p.typeInto(field("series_id"), "7/ä")
	p.waitURL(feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=title")
	p.waitText("#copy-menu", "Fill in what is missing first.")
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.wait("document.activeElement === " + field("login.token"))
	p.waitText("#context .failure", "Fill in the required context key login.token.")
	p.wait(`document.body.innerText.split("required context key").length === 2`) // said once

	// The context key is sent under its alias, shown encoded and decoded, and masked.
	p.typeInto(field("login.token"), "s3cret")
	p.wait(field("login.token") + `.type === "password"`)
	want := feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=title&ctx=eyJ0b2tlbiI6InMzY3JldCJ9"
	p.waitURL(want)
	p.waitText("#ctx", "eyJ0b2tlbiI6InMzY3JldCJ9")
	p.waitText("#decoded", `"token": "s3cret"`)
	testkit.Equal(t, "problem", p.text("#feed-problem"), "")
	p.eval(`navigator.clipboard.writeText = (text) => { window.clip = text; return Promise.resolve(); }; 0`)
	p.click(`document.querySelector("#copy-menu summary")`)
	p.click(element("copy-curl"))
	p.wait(`window.clip === ` + quoteJS("curl -H 'Accept: application/json, */*;q=0.1' '"+want+"'"))
	p.waitText("#status", "Copied")
	p.click(element("copy-fetch"))
	p.wait(`window.clip.includes("page=0&hd=false&sort=title&ctx=")`) // & is no escape

	// The real service responds, and the response is next to the controls, above the fold.
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.waitText("#answer", "200")
	p.waitText("#answer .json", `"path": "/v1/series/7/ä/episodes"`, `"query": "hd=false\u0026page=0\u0026sort=title"`)
	p.waitText("#answer .json", `"token": "s3cret"`)
	p.wait(`(() => { const a = document.querySelector("#answer .json").getBoundingClientRect(), c = document.querySelector("#controls").getBoundingClientRect(); return a.left >= c.right && a.top < 420; })()`)

	// From now on, changes are sent automatically.
	p.typeInto(field("Page"), "4")
	p.waitText("#answer .json", `page=4`)
	p.click(element("tab-diff"))
	p.waitText("#answer .diff", "page=4")

	// Typed values survive a visit to another endpoint, and Back returns there.
	p.open("Series")
	p.waitURL(feed)
	p.waitText("#answer", "Press Send")
	p.eval("history.back()")
	p.waitURL(strings.Replace(want, "page=0", "page=4", 1))

	// A reload and a copied link show the same, but a link contains no context values.
	p.do(chromedp.Reload())
	p.waitURL(strings.Replace(want, "page=0", "page=4", 1))
	link := fmt.Sprint(p.eval("location.href"))
	if strings.Contains(link, "s3cret") || strings.Contains(link, "eyJ0") {
		t.Errorf("the link has the context value: %s", link)
	}
}

// TestPageSaysWhatIsWrong shows files and addresses that cannot be used, and links to what does not exist.
func TestPageSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	p := openTab(t, address)
	p.waitText("#empty", "Nothing is registered yet")
	for address, says := range map[string]string{
		"feeds": "does not start with https://", serveText(t, "<html>"): "not a manifest", serveText(t, `{"a":{}}`): "unknown-field",
		"http://127.0.0.1:1/v1/endpoints-manifest": "Nothing listens at 127.0.0.1:1.",
	} {
		p.register(address)
		p.waitText("#register-failure", says)
	}
	p.press(kb.Escape)
	p.wait(`!document.querySelector("dialog")`)

	// A file with errors, from the start.
	show(s, "versions: {v1: {endpoints: {https://a.example/x: {name: X, method: GET, mime_type: application/json}}}}")
	p.waitText("#notes", "it would not be served")
	p.waitText(".pane.endpoint .failure", `method "GET"`)
	p.waitText(".service-row", "1 problem")
	p.view("problems")
	p.waitText("#problems-summary", "1 error")
	p.waitText(".text mark", "GET")
	p.eval("history.back()")

	// Each error is at its control, and the other endpoints are as they will be.
	show(s, `versions: {v1: {endpoints: {
  "https://{{host}}/v1/a": {name: A, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Query},
    {kind: select, id: s, name: Sort, key: sort, label: Sort, defaultValue: newst, options: [{value: newest, label: New}]}]},
  "https://{{host}}/v1/b": {name: B, method: get, mime_type: application/json}}}}`)
	p.open("B")
	p.waitText("#answer-facts", "200")
	p.open("A")
	p.wait(`document.querySelector("[data-field='modifier:sort'] + .failure")?.textContent.includes("newst")`)
	show(s, "[")
	p.waitText("#endpoint-blank", "feeds.yaml has 1 error", "Fix the problems")
	p.eval(`location.hash = "#/preview"`)

	// A feed that does not respond. A file without a running service starts with sample data.
	const films = `versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json},
  "https://{{host}}/v1/films": {name: Films, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Query}],
  deprecated: {since: 2026-01-01, until: 2099-12-31, use: Movies, reason: über-slow}}}}}`
	show(s, films)
	p.waitURL("http://127.0.0.1:1/x")
	p.waitText("#answer-facts", "sample")
	p.choose("#data", "published")
	p.send()
	p.waitText("#send-failure", "Nothing listens at 127.0.0.1:1.", "Start the service")
	p.click(button("Use sample data"))
	p.waitText("#answer-facts", "sample")

	// The URL of the endpoint changes in the file, and links lead to what does not exist.
	p.open("Films")
	p.waitText("#deprecated", "Deprecated since 2026-01-01, works until 2099-12-31. Use Movies. Über-slow.")
	p.typeInto(field("Query"), "owl")
	p.waitURL("https://localhost/v1/films?q=owl")
	show(s, strings.Replace(films, "/v1/films", "/v1/movies", 1))
	p.waitText("#endpoint-blank", "This endpoint is gone", "feeds.yaml has no endpoint https://{{host}}/v1/films")
	p.click(button("Open Films"))
	p.waitURL("https://localhost/v1/movies?q=owl")
	p.wait(`decodeURIComponent(location.hash).includes("/v1/movies")`)
	p.eval(`location.hash = "#/preview?source=feeds.yaml&version=v7"`)
	p.waitText("#endpoint-blank", "There is no version v7")
	p.click(button("Show the first endpoint"))
	p.waitText("#endpoint-name", "X")

	// A broken file among several is seen, and its endpoints are listed beside those of the others.
	showFour(s)
	mark := func(id, text string) {
		t.Helper()
		p.wait(fmt.Sprintf(`document.querySelector(".service-row[data-source='%s'] .mark")?.textContent === %s`, id, quoteJS(text)))
	}
	mark("news.yaml", "1 change")
	mark("sports.yaml", "2 problems")
	p.service("news.yaml")
	p.wait(listed("News") + `.textContent.includes("changed")`)
	p.service("sports.yaml")
	p.waitText("#endpoint-name", "Matches")
	p.waitText(".pane.endpoint", "aplication/json")
	p.wait(listed("Collections")) // of the service that was shown before
	p.click(listed("News"))
	p.waitText(".title", "News")

	// A syntax error takes neither title nor switches away.
	p.service("feeds.yaml")
	p.waitText(".title", "Example feeds")
	show(s, "versions: [")
	p.waitText("#notes", "The file has errors.")
	p.waitText(".title", "Example feeds")
	p.waitText(".quiet-line", "parental-control")

	// An empty manifest is not told to add something to it.
	p.register(serveText(t, `{"endpoints":{}}`))
	p.waitText("#endpoint-blank", "This manifest has no endpoints.")

	// Nobody can say how a context key of an unknown type is sent.
	p.register(serveText(t, `{"endpoints":{"https://a.example/x":{"name":"X","method":"post","mime_type":"application/json",
"context_obj":[{"key":"a","type":"cookie"},{"key":"b","type":"ctx","required":true}]}}}`))
	p.waitText("body", "Not sent: Signpost does not know its type.")
}

func TestPageRegistersAndUpdates(t *testing.T) {
	t.Parallel()
	const manifest = `{"endpoints":{"https://feeds.example.com/v2/films":{"name":"Films","method":"get","mime_type":"application/json",
"context_obj":[{"key":"token","type":"ctx","required":true}],
"modifiers":[{"id":"limit","name":"Page size","params":[{"key":"limit","ui":{"label":"Limit"},"schema":{"type":"number","default":20}}]}]}}}`
	var text atomic.Value
	var slow, down atomic.Bool
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	text.Store(manifest)
	server := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		if slow.Load() {
			asked <- struct{}{}
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		io.WriteString(w, text.Load().(string))
	})
	_, address := serveFile(t, feedsYAML)
	p := openTab(t, address+published)
	p.waitText("#endpoint-name", "Feeds")
	p.register(server.URL + "/v2/endpoints-manifest")
	p.waitText("#endpoint-name", "Films")
	p.waitText("#status", "Registered: 1 endpoint.")
	p.waitText("#notes", "https addresses only")
	p.waitURL("https://feeds.example.com/v2/films?limit=20")
	p.typeInto(field("token"), "s3cret")

	update := func(found string) {
		t.Helper()
		p.click(button("Update"))
		p.waitText("#status", "Updated:")
		p.waitText("#updated", found)
	}
	update("nothing has changed")
	text.Store(strings.NewReplacer(`"get"`, `"post"`, `20`, `50`).Replace(manifest))
	update("1 breaking change, 1 other")
	update("1 breaking change, 1 other") // a second update does not hide the changes that the first one found
	p.view("changes")
	p.waitText("#changes-list", `method changed from "get" to "post"`)
	p.waitText("#changes-list li", "breaking") // first
	p.waitText("#changes-list", `default changed from 20 to 50`)
	p.eval("history.back()")
	p.waitText(".address-bar", "POST")
	p.wait(field("token") + `.value === "s3cret"`)
	p.waitURL("https://feeds.example.com/v2/films?limit=50&ctx=eyJ0b2tlbiI6InMzY3JldCJ9")
	p.view("changes")
	p.click(button("Accept"))
	p.waitText("#changes-none", "Nothing has changed.")

	// A feed belongs to the endpoint with the longest matching URL among all registered ones.
	p.search("https://localhost/v1/feeds/7?q=owl")
	p.waitText("#palette-list", "The endpoint that answers for")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Feeds")
	p.wait(field("Query") + `.value === "owl"`)

	// A value typed for one service is not used for another, and the page says why.
	p.wait(field("token") + `.value === ""`)
	p.waitText("#context", "was entered for https://feeds.example.com")

	// A failed update belongs to one service, and says why.
	id := server.URL + "/v2/endpoints-manifest"
	p.service(id)
	down.Store(true)
	p.click(button("Update"))
	p.waitText("#source-failure", "500")
	p.service("feeds.yaml")
	p.wait(`!document.querySelector("#source-failure")`)
	down.Store(false)

	// Removed during an update, it stays away.
	p.service(id)
	slow.Store(true)
	p.click(button("Update"))
	<-asked
	p.click(button("Remove"))
	p.waitText("#status", "Removed.")
	p.waitText("#endpoint-name", "Feeds")
	close(hold)
	p.wait(`document.querySelectorAll(".service-row").length === 1`)
	testkit.Equal(t, "registered", sourceIDs(t, address), []string{"feeds.yaml"})
}

// TestPageSaysWhoseFeedItIs fills in a placeholder so that the feed belongs to another endpoint.
func TestPageSaysWhoseFeedItIs(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, overlapYAML)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Section")
	p.typeInto(field("section"), "media")
	p.waitText("#owner", `This feed belongs to Media: this endpoint covers as much of the feed URL but spells less of it out.`)
	p.waitText("#owner", "Apps send beta with it")
	p.wait(`!document.querySelector("#copy-URL") && document.querySelector("#send").ariaDisabled === "true"`)
	p.waitText("#answer-blank", "Nothing to send: this feed belongs to Media.")
	p.click(element("send"))
	p.waitText("#send-failure", `belongs to "Media"`)
	p.click(button("Open Media"))
	p.waitText("#endpoint-name", "Media")
	p.waitText("#feed-url", "https://localhost/v1/media?ctx=")
	p.eval("history.back()")
	p.typeInto(field("section"), "news")
	p.wait(`!document.querySelector("#owner") && document.querySelector("#copy-URL")`)

	// A feed that wins says why, too.
	p.open("Clips")
	p.waitText("#lost", "Feeds here lose beta and alpha.")
	p.click(button("Show on the map"))
	p.waitText("#losses", "shadows Media and Section: its feeds lose beta and alpha.")
	p.typeInto(element("feed"), "https://localhost/v1/media/7")
	p.waitText("#landing", "Not Section, which covers as much of the feed URL but spells less of it out: the feed loses alpha.")
	p.wait(`document.querySelector(".node.wins").textContent.startsWith("Media")`)
	// The match is updated when the state changes.
	registered(t, address, serveText(t, `{"endpoints":{"https://localhost/v1/media/7":{"name":"Seven","method":"get","mime_type":"application/json"}}}`))
	p.waitText("#landing", "Seven answers")
}

// TestPageInManyTabs opens several tabs. All of them agree. One that cannot be seen does without a stream of events, since a
// browser opens six connections to a host.
func TestPageInManyTabs(t *testing.T) {
	t.Parallel()
	var streams atomic.Int64
	s, address := serve(t, studio.Options{}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/events" {
				streams.Add(1)
				defer streams.Add(-1)
			}
			next.ServeHTTP(w, r)
		})
	})
	show(s, feedsYAML)
	var tabs [3]*tab
	for i := range tabs {
		tabs[i] = openTab(t, address+published)
		tabs[i].waitURL("https://localhost/v1/feeds?page=0&hd=false")
	}
	tabs[2].typeInto(field("Query"), "owl")
	tabs[2].waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
	tabs[1].register(serveText(t, manifestJSON))
	tabs[1].waitText("#endpoint-name", "Ten")
	show(s, strings.Replace(feedsYAML, "name: Feeds\n", "name: Films\n", 1))
	for _, p := range tabs {
		p.wait(`document.querySelectorAll(".service-row").length === 2`)
		p.wait(listed("Films"))
	}
	hide := func(hidden bool) {
		tabs[1].eval(fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %v, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`, hidden))
	}
	hide(true)
	testkit.Eventually(t, "a stream ends", func() bool { return streams.Load() == 2 })

	// Two tabs look at two deployments: host and features are those of a tab, and in its address.
	tabs[0].setHost("https://feeds.example.com/x")
	tabs[0].waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	// The second click comes before the server knows of the first, and a reload before the address does.
	tabs[2].eval(button("authentication") + ".click()," + button("geo-restriction") + ".click()")
	tabs[2].waitText("#context", "signedDeviceInfoToken", "from geo-restriction")
	tabs[2].waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
	tabs[0].wait(`!document.querySelector("#context").textContent.includes("signedDeviceInfoToken")`)
	tabs[2].do(chromedp.Reload())
	tabs[2].wait(`document.querySelectorAll("[role=switch][aria-checked=true]").length === 2`)
	tabs[2].waitText("#context", "signedDeviceInfoToken")

	show(s, feedsYAML)
	tabs[2].wait(listed("Feeds"))
	tabs[1].wait(listed("Films"))
	hide(false)
	tabs[1].wait(listed("Feeds"))

	// A tab that chose no deployment still has that of the studio.
	tabs[1].service("feeds.yaml")
	tabs[1].waitURL("https://localhost/v1/feeds?page=0&hd=false")
	tabs[1].wait(`!document.querySelector("#context").textContent.includes("signedDeviceInfoToken")`)

	// A page that is older than its server loads itself again.
	p := tabs[2]
	loaded := fmt.Sprintf("performance.timeOrigin !== %v", p.eval("performance.timeOrigin"))
	p.eval(`(() => {
  const real = fetch;
  fetch = async (...request) => new Response((await (await real(...request)).text()).replace(/"build":"\w+"/, '"build":"newer"'));
})()`)
	show(s, strings.Replace(feedsYAML, "name: Feeds\n", "name: Movies\n", 1))
	p.wait(loaded)
	p.waitText("#endpoint-name", "Movies")
	p.waitURL("https://localhost/v1/feeds?q=owl&page=0&hd=false")
}
