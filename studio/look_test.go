package studio_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/internal/testkit"
	"signpost/studio"
)

// npmFile returns a file of an npm package that make installs. Without it, the test is skipped.
func npmFile(t *testing.T, name, notTested string) string {
	t.Helper()
	path := filepath.Join("../bin/npm/node_modules", name)
	if _, err := os.Stat(path); err != nil {
		testkit.Missing(t, name, notTested)
	}
	return path
}

// TestTypes checks the scripts of the page with the TypeScript compiler; their types are in comments.
func TestTypes(t *testing.T) {
	t.Parallel()
	compiler := npmFile(t, "typescript/bin/tsc", "THE TYPES OF THE STUDIO PAGE")
	if out, err := exec.Command("node", compiler, "--project", "jsconfig.json").CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// views lists every view, for riskyYAML, with what is there when it shows something.
var views = func() []view {
	const preview, collections = "#/preview?source=feeds.yaml", "&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections"
	return []view{
		{"list", ".endpoint-row", preview},
		{"endpoint", "#lost", preview + collections + "%2Fmedia&pane=endpoint&m.limit=6"},
		{"text", "#tab-panel .json", preview + collections + "&pane=endpoint&tab=text&m.limit=6"},
		{"headers", "#tab-panel .headers", preview + collections + "&pane=endpoint&tab=headers&m.limit=6"},
		{"map", ".landing", "#/map?feed=https://feeds.example.com/v1/collections/media-archive/7"},
		{"problems", ".text mark", "#/problems?source=feeds.yaml"},
		{"changes", "#changes-list", "#/changes?base=version&of=v2&version=v1&source=feeds.yaml"},
		{"check", "#results", "#/check?send=sample"},
		{"answer", "#cards [class*='tint-']", preview + collections + "&pane=endpoint&m.limit=6"},
	}
}()

type view struct{ name, shows, hash string }

// openView goes to a view in a tab that shows riskyYAML, and waits until it shows something.
func (p *tab) openView(v view) {
	p.t.Helper()
	p.eval("location.hash = " + quoteJS(v.hash))
	if v.name == "check" {
		p.click(element("run-check"))
		p.waitText("#check-status", "passed")
	}
	p.wait(fmt.Sprintf("document.querySelector(%s) && %s", quoteJS(v.shows), settled))
}

// settled is true when nothing is on its way, and the pictures in view are there.
const settled = `!document.querySelector(".composing, .waiting, .waits") && [...document.querySelectorAll(".picture img")].every((i) => !i.checkVisibility() ||
  i.naturalWidth > 0 || i.classList.contains("broken") || i.getBoundingClientRect().top > innerHeight || i.getBoundingClientRect().bottom < 0)`

// axe runs axe-core on the page, and reports its violations.
func (p *tab) axe(where string) {
	p.t.Helper()
	p.eval(`window.found = undefined; axe.run(document, { resultTypes: ["violations"], preload: false }).then((r) => {
  window.found = r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")).join("\n");
}, (e) => { window.found = String(e); }); 0`)
	p.wait("window.found !== undefined")
	testkit.Equal(p.t, where, p.eval("window.found"), any(""))
}

// openForAxe opens a page into which the test brings axe-core.
func openForAxe(t *testing.T, address string) *tab {
	t.Helper()
	script := testkit.Must(os.ReadFile(npmFile(t, "axe-core/axe.min.js", "THE STUDIO PAGE WITH AXE")))(t)
	p := openTab(t, "about:blank")
	testkit.Must(chromedp.Call(p.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}))(t)
	p.do(chromedp.Navigate(address))
	p.eval(string(script) + "; 0")
	return p
}

// looks are the windows that every view must fit in. Zoomed to 400 %, a window of 1280 by 1024 is 320 by 256.
var looks = []struct {
	width, height int64
	scheme        string
}{{1440, 900, "light"}, {768, 900, "forced"}, {320, 256, "dark"}}

// TestPageFits looks for content wider than the window in every view at every width, for things that stay in view and leave
// no room, and runs axe-core on the views, each in another window.
func TestPageFits(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, riskyYAML, studio.Options{Host: "feeds.example.com"})
	p := openForAxe(t, address)
	for i, view := range views {
		p.openView(view)
		for _, look := range looks {
			p.emulate(look.width, look.height, 1, look.scheme)
			p.checkOverflow(fmt.Sprintf("%s at %d, %s", view.name, look.width, look.scheme))
		}
		testkit.Equal(t, view.name+": sticky and more than a third of a small window", p.eval(`[...document.querySelectorAll("body *")].filter((e) =>
  e.getBoundingClientRect().height > innerHeight / 3 && /sticky|fixed/.test(getComputedStyle(e).position) && e.checkVisibility() && !e.matches(".skip")).map((e) => e.className).join()`), "")
		if look := looks[i%len(looks)]; !slices.Contains([]string{"list", "text", "headers"}, view.name) { // much is as in another view
			p.emulate(look.width, look.height, 1, look.scheme)
			p.axe(view.name)
		}
	}
	p.emulate(1440, 900, 1, "light")
	p.click(`document.querySelector("#cards button")`)
	p.wait(element("picked"))
	p.search("limit")
	p.wait(`document.querySelector("#palette-list li")`)
	p.axe("a picked entry and the palette")
}

// TestPageFailuresForAxe runs axe-core on empty and failed states.
func TestPageFailuresForAxe(t *testing.T) {
	t.Parallel()
	var stopped atomic.Bool
	s, address := serve(t, studio.Options{}, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if stopped.Load() {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	})
	p := openForAxe(t, address)
	p.waitText("#empty", "Nothing is registered yet")
	p.axe("nothing registered")
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")
	p.waitURL("http://127.0.0.1:1/x")
	p.choose("#data", "published")
	p.send()
	p.waitText("#send-failure", "Nothing listens")
	p.register("http://127.0.0.1:1/v1/endpoints-manifest")
	p.waitText("#register-failure", "Nothing listens")
	stopped.Store(true)
	p.eval(`document.dispatchEvent(new Event("visibilitychange"))`) // connects again
	p.waitText("#offline", "The studio has stopped.")
	p.axe("a failed request, a failed registration, and stopped")
}

// TestPageServicesForAxe runs axe-core on several services, one of which has errors, also where the list is a screen of its
// own: the link that skips to the content leads somewhere there.
func TestPageServicesForAxe(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	showFour(s)
	p := openForAxe(t, address+"#/preview?source=sports.yaml")
	p.waitText("#notes", "The file has errors")
	p.axe("errors")
	p.emulate(320, 900, 1, "light")
	p.axe("the list")
	p.focus(element("skip"))
	p.press(kb.Enter)
	p.wait(`document.activeElement.id === "main"`)
	p.view("problems")
	p.axe("a choice of services")
}

// TestPageOnAPhone walks through the screens, and back: also from an opened link, where there is no history, and from the
// palette. A tablet starts with a feed.
func TestPageOnAPhone(t *testing.T) {
	t.Parallel()
	p := openTab(t, "about:blank")
	p.emulate(768, 900, 1, "light")
	p.do(chromedp.Navigate(serveExample(t)))
	p.waitText("#answer-facts", "20 entries")
	p.wait(`[...document.querySelectorAll("#cards .picture")].filter((i) => i.checkVisibility() && i.getBoundingClientRect().top < innerHeight).length >= 4`)

	p.emulate(390, 844, 1, "light")
	visible := func(selector string, want bool) {
		t.Helper()
		p.wait(fmt.Sprintf("document.querySelector(%s)?.checkVisibility() === %v", quoteJS(selector), want))
	}
	p.click(button("‹ Endpoints")) // there is no step back to it
	visible(".sidebar", true)
	visible(".pane.endpoint", false)
	p.click(listed("Collections"))
	visible(".pane.endpoint", true)
	visible(".sidebar", false)
	p.typeInto(field("Limit"), "3")
	p.waitText(".back-to", "back to 20")
	p.waitText("#answer-facts", "3 entries, as the limit says")
	p.eval("history.back()")
	visible(".sidebar", true)
	p.view("map")
	p.search("kids")
	p.press(kb.Enter)
	visible(".pane.endpoint", true)
	p.click(button("‹ Endpoints")) // and not to the map
	visible(".sidebar", true)
	p.eval(`location.hash = "#/preview?source=example.yaml&version=v7&pane=endpoint"`)
	p.waitText("#endpoint-blank", "There is no version v7")
	p.click(button("‹ Endpoints"))
	visible(".sidebar", true)

	// One Escape closes the palette, whatever is in it.
	p.search("lang")
	p.wait(`document.querySelector("#palette-list li")`)
	p.press(kb.Escape)
	p.wait(`!document.querySelector("dialog")`)
}

// TestPageRemembers shows earlier responses and keeps the selected entry; its address changes once a second at most, and
// a reload loses nothing.
func TestPageRemembers(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#answer-facts", "20 entries")
	p.click(`document.querySelectorAll("#cards button")[1]`)
	picked := p.text("#picked strong")
	p.typeInto(field("Limit"), "6")
	p.waitText("#answer-facts", "6 entries")
	p.waitText("#picked strong", picked)
	p.click(button("Close"))
	p.wait(`!document.querySelector("#picked") && document.activeElement === document.querySelectorAll("#cards button")[1]`)
	p.typeInto(field("Search"), "island")
	p.waitText("#history", "Limit 6, Search island, ")
	p.eval(`(() => { const e = document.querySelector("#history"); e.selectedIndex = e.options.length - 1; e.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.waitText("#answer-facts", "20 entries", "not the current values")

	p.eval(`window.writes = 0; window.began = performance.now(); const replace = history.replaceState.bind(history);
history.replaceState = (...args) => { window.writes++; replace(...args); }; 0`)
	p.typeInto(field("Search"), "")
	for range 30 {
		p.press("o")
	}
	p.waitText("#feed-url", strings.Repeat("o", 30))
	testkit.Equal(t, "few writes", p.eval(`window.writes <= 1 + Math.ceil((performance.now() - window.began) / 1000)`), true)
	p.press("w")
	p.wait(field("Search") + `.value.endsWith("w")`)
	p.eval("location.reload()")
	p.wait(field("Search") + fmt.Sprintf(`?.value === %s`, quoteJS(strings.Repeat("o", 30)+"w")))
}

// TestPageByKeyboard uses only the keyboard, also that of a Mac: find an endpoint, change a control, send, read the response.
func TestPageByKeyboard(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#answer-facts", "20 entries")
	p.press(kb.Tab)
	p.wait(`document.activeElement.id === "skip"`)
	p.press(kb.Enter)
	p.wait(`document.activeElement.id === "main"`)
	until := func(expression string) {
		t.Helper()
		for range 60 {
			if p.eval("Boolean("+expression+")") == true {
				return
			}
			p.press(kb.Tab)
		}
		t.Fatalf("60 presses of Tab do not reach %s", expression)
	}
	until(`document.activeElement.matches(".endpoint-row")`)
	p.press(kb.ArrowDown)
	p.press(kb.ArrowDown)
	p.wait(`document.activeElement.textContent.includes("Episodes")`)
	p.press(kb.End)
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Kids")
	p.wait(`document.activeElement.textContent.includes("Kids")`)
	p.waitText("#feed-url", "/v1/kids")
	p.waitText("#answer-facts", "20 entries") // nothing on the page moves any more
	until("document.activeElement === " + field("Limit"))
	p.eval("document.activeElement.select()")
	p.press("4")
	p.waitText("#feed-url", "limit=4")
	p.waitText("#answer-facts", "4 entries")
	until(`document.activeElement.id === "tab-cards"`)
	p.press(kb.Tab)
	p.press(kb.Enter)
	p.waitText("#tab-panel .json", `"title": "Kids"`)

	// The palette: a key of an endpoint leads to it.
	p.search("released_from")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Collections")
	p.wait(`location.hash.includes("version=v2")`)
	p.wait(`document.activeElement.id === "endpoint-name"`)

	// A dialog gives the focus back to where it was, however it is left.
	for _, leave := range []func(){func() { p.press(kb.Escape) }, func() { p.click(button("Close")) }} {
		p.focus(element("data"))
		p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		p.wait(`document.activeElement.id === "palette"`)
		leave()
		p.wait(`!document.querySelector("dialog") && document.activeElement.id === "data"`)
		p.focus(element("register-button"))
		p.press(kb.Enter)
		p.wait(`document.activeElement.id === "address"`)
		leave()
		p.wait(`!document.querySelector("dialog") && document.activeElement.id === "register-button"`)
	}

	// Every stop has a visible focus.
	p.eval("document.activeElement.blur(); window.unseen = []; document.querySelector('#skip').focus()")
	for range 30 {
		p.press(kb.Tab)
		p.eval(`(() => { const e = document.activeElement; if (e === document.body) return; const s = getComputedStyle(e), t = getComputedStyle(e.nextElementSibling ?? e);
  if (s.outlineStyle === "none" && t.outlineStyle === "none") window.unseen.push(e.outerHTML.slice(0, 200)); })()`)
	}
	testkit.Equal(t, "no visible focus", p.eval(`window.unseen.join("\n")`), "")
	testkit.Equal(t, "duplicate ids", p.eval(`[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`), "")

	p.waitText("#goto", "Ctrl K")
	agent := fmt.Sprint(p.eval("navigator.userAgent"))
	testkit.Must(chromedp.Call(p.ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, Platform: "MacIntel"}))(t)
	p.do(chromedp.Reload())
	p.waitText("#goto", "⌘ K")
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierMeta))
	p.wait(`document.activeElement.id === "palette"`)
}

// manyYAML is a definition with n endpoints, the last of which loses the key of the one around it.
func manyYAML(n int) string {
	var text strings.Builder
	text.WriteString("versions:\n  v1:\n    endpoints:\n")
	for i := range n {
		fmt.Fprintf(&text, "      https://{{host}}/v1/section%d/feed%04d: {name: Feed %d, method: get, mime_type: application/json, context_obj: [{key: key.%d, type: ctx}]}\n", i%70, i, i, i%9)
	}
	fmt.Fprintf(&text, "      https://{{host}}/v1/section0/feed0000/last: {name: Last, method: get, mime_type: application/json}\n")
	return text.String()
}

// TestPageReachesEveryEndpoint scrolls, filters and jumps in lists that are longer than what is laid out at once.
func TestPageReachesEveryEndpoint(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, manyYAML(700))
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feed 0")
	rows := `document.querySelectorAll("#endpoints .endpoint-row").length`
	testkit.Equal(t, "few rows are laid out at once", p.eval(rows+" <= 200"), true)
	p.waitText(".sidebar .more-rows", "more")

	// The list continues where it is scrolled to, and by keyboard.
	p.eval(`document.querySelector(".sidebar .more-rows").scrollIntoView()`)
	p.wait(rows + " === 200")
	p.focus(`document.querySelector("#endpoints .endpoint-row")`)
	for laidOut := 300; laidOut <= 700; laidOut += 100 {
		p.press(kb.End)
		p.wait(fmt.Sprintf("%s === %d", rows, laidOut))
	}
	p.press(kb.End)
	p.wait(rows + ` === 701 && !document.querySelector(".sidebar .more-rows") && document.activeElement.textContent.includes("Last")`)

	// A filter starts at the top again, and an endpoint opened from elsewhere is in the list.
	p.typeInto(element("filter"), "section12/")
	p.wait(rows + " === 10")
	p.typeInto(element("filter"), "")
	p.wait(rows + " === 100")
	p.search("feed0650")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Feed 650")
	p.waitText(`#endpoints [aria-current]`, "Feed 650")
	p.wait(`(() => { const r = document.querySelector('#endpoints [aria-current]').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`)

	// The map.
	p.view("map")
	p.waitText("#view-title", "701 endpoints, 1 with lost keys")
	p.waitText("#losses", "Last", "shadows Feed 0: its feeds lose key.0.")
	p.wait(`document.querySelectorAll(".spot").length === 2`) // the rest is folded
	p.click(`document.querySelector("#all-endpoints summary")`)
	p.wait(`document.querySelectorAll("#all-endpoints .spot").length === 98`)
	const starts = `[...document.querySelectorAll(".wires path")].map((w) => Number(w.getAttribute("d").match(/ ([\d.]+)C/)[1]))`
	p.wait(starts + ".length === 2 && Math.max(..." + starts + `) < document.querySelector("#losses").getBoundingClientRect().bottom - document.querySelector(".wires").getBoundingClientRect().top`)
	p.click(`document.querySelector(".trees .more-rows button")`)
	p.wait(`document.querySelectorAll("#all-endpoints .spot").length === 198`)
}

// TestPageMap draws the tree, and follows a feed while it is typed: which endpoints match, which wins, and what is lost.
func TestPageMap(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, riskyYAML, studio.Options{Host: "feeds.example.com"})
	p := openTab(t, address+"/#/map")
	p.wait(`document.querySelectorAll(".node.spot").length === 9 && document.querySelectorAll(".wires path").length === 9`)
	node := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".node.spot")].find((n) => n.querySelector("button").textContent === %s)`, quoteJS(name))
	}
	p.wait(node("Media") + `.querySelector(".chip.lost").textContent === "lost key: user_account.profile"`)
	p.focus(element("feed"))
	for _, key := range "https://feeds.example.com/v1/collections" {
		p.press(string(key))
	}
	p.wait(node("Collections") + `.matches(".wins") && document.querySelectorAll(".node.wins, .node.matches").length === 1`)
	for _, key := range "/media/7?limit=9" {
		p.press(string(key))
	}
	p.wait(node("Media") + `.matches(".wins") && ` + node("Collections") + `.matches(".matches")`)
	p.wait(node("Collections") + `.querySelector(".chip.lost")?.textContent === "lost key: user_account.profile"`)
	p.wait(`document.querySelector("#covered .matches").textContent.endsWith("/v1/collections") && document.querySelector("#covered .wins").textContent === "/media"`)
	p.wait(`document.querySelectorAll(".wires .lit").length === 3 && document.querySelector(".wires .travel")`) // root, winner, landing
	p.waitText(".landing", "Media answers (v1). Apps send plugin-login-flow.access_token and signedDeviceInfoToken.", "the feed loses user_account.profile", "feeds.yaml:")
	testkit.Equal(t, "the focus stays", p.eval("document.activeElement.id"), "feed")
	p.typeInto(element("feed"), "")
	p.wait(`!document.querySelector(".landing, .node.wins, .wires .lit")`)
}

// TestPageFeatureArrives switches a feature, and sees its key in the URL and in ctx; narrow, one pane is shown at a time.
func TestPageFeatureArrives(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, riskyYAML, studio.Options{Features: []string{}})
	p := openTab(t, address+"/#/preview?source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fkids&pane=endpoint")
	p.waitURL("https://localhost/v1/kids")
	p.click(button("parental-control"))
	p.waitText("#arrival", "parental-control", "user_account.profile", `"profile": "sample-value"`)
	p.wait(`document.querySelector("#feed-url .arrived")?.textContent.startsWith("eyJwcm9maWxl")`)
	p.click(button("parental-control"))
	p.waitText("#arrival", "takes away")
	p.waitURL("https://localhost/v1/kids")
	p.click(button("authentication"))
	p.waitText("#arrival", "changes nothing for this endpoint")
	p.open("Ratings")
	p.wait(`!document.querySelector("#arrival")`)

	p.emulate(360, 740, 1, "light")
	p.click(button("‹ Endpoints"))
	p.open("Collections")
	visible := func(selector string) string {
		return fmt.Sprintf("document.querySelector(%s).checkVisibility()", quoteJS(selector))
	}
	p.wait(visible(".pane.endpoint") + " && !" + visible(".pane.answer"))
	p.waitText(".pane-tabs", "Answer 200")
	p.click(button("Answer"))
	p.wait(visible(".pane.answer") + " && !" + visible(".pane.endpoint"))
	p.wait(`document.querySelector("#cards li").getBoundingClientRect().top < innerHeight`)
}

// TestPageCards counts the cards of a row.
func TestPageCards(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#answer-facts", "20 entries")
	testkit.Equal(t, "cards in a row", p.eval(`(() => { const all = [...document.querySelectorAll("#cards li")].map((l) => l.getBoundingClientRect().top);
  return all.filter((top) => top === all[0]).length; })()`), 4.0)
}
