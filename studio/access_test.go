package studio_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/studio"
)

// views lists the addresses of every view, with something to show in each, for riskyYAML.
var views = map[string]string{
	"list":     "#/preview?source=feeds.yaml",
	"endpoint": "#/preview?source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections%2Fmedia&pane=endpoint&m.limit=6",
	"answer":   "#/preview?source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=endpoint",
	"text":     "#/preview?source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=endpoint&tab=text",
	"headers":  "#/preview?source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=endpoint&tab=headers",
	"map":      "#/map?feed=https://feeds.example.com/v1/collections/media-archive/7&feed=https://nobody.example/",
	"problems": "#/problems",
	"changes":  "#/changes?base=version&of=v2&version=v1&source=feeds.yaml",
	"check":    "#/check?send=sample",
}

// openView opens a view and waits until it shows something.
func openView(t *testing.T, address, name string) *tab {
	t.Helper()
	p := openTab(t, "about:blank")
	p.openView(address, name)
	return p
}

// openView opens a view in a tab and waits until it shows something.
func (p *tab) openView(address, name string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address + "/" + views[name]))
	p.wait(`document.querySelector("#main h2")`)
	switch name {
	case "check":
		p.click(`document.querySelector("#run-check")`)
		p.waitText("#check-status", "passed")
	case "answer", "text", "headers", "endpoint":
		p.waitText("#answer-facts", "200")
	case "changes":
		p.wait(`document.querySelector("#changes-list")`)
	case "problems":
		p.wait(`document.querySelector(".text mark")`)
	case "map":
		p.wait(`document.querySelector(".landing")`)
	}
	p.wait(settled)
}

// axe runs axe-core on the page, and reports its violations.
func (p *tab) axe(script, where string) {
	p.t.Helper()
	if found := p.axeFinds(script); found != "" {
		p.t.Errorf("%s:\n%v", where, found)
	}
}

func (p *tab) axeFinds(script string) string {
	p.t.Helper()
	if p.eval("typeof axe") != "object" {
		p.eval(script + "; 0")
	}
	p.eval(`window.found = undefined; axe.run(document, { resultTypes: ["violations"] }).then(
(r) => { window.found = r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.any.map((a) => a.message).join()).join(" | ")).join("\n"); }, (e) => { window.found = String(e); }); 0`)
	p.wait("window.found !== undefined")
	return fmt.Sprint(p.eval("window.found"))
}

// looks are the windows that views are looked at in: each view in another one, and all of them by somebody.
var looks = []struct {
	width, height int64
	scheme        string
}{{1440, 900, "light"}, {1024, 768, "dark"}, {768, 900, "forced"}, {390, 844, "dark"}, {320, 256, "light"}, {2560, 1300, "light"}}

// TestPageForAxe runs axe-core on every view, and on empty and failed states.
func TestPageForAxe(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(npmFile(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	script := string(text)
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, riskyYAML)
	for i, name := range slices.Sorted(maps.Keys(views)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openTab(t, "about:blank")
			p.bypassCSP()
			look := looks[i%4]
			p.emulate(look.width, look.height, 1, look.scheme)
			p.openView(address, name)
			p.axe(script, name)
		})
	}
	t.Run("dialogs", func(t *testing.T) {
		t.Parallel()
		p := openTab(t, "about:blank")
		p.bypassCSP()
		p.openView(address, "answer")
		p.click(`document.querySelector("#cards button")`)
		p.wait(`document.querySelector("#picked")`)
		p.axe(script, "a picked entry")
		p.click(`document.querySelector("#goto")`)
		p.wait(`document.querySelector("#palette-list li")`)
		p.axe(script, "palette")
		p.press(kb.Escape)
		p.click(`document.querySelector("#register-button")`)
		p.wait(`document.querySelector("#register")`)
		p.axe(script, "register")
		p.press(kb.Escape)
		p.choose("#set", "edit")
		p.wait(`document.querySelector("#set-name")`)
		p.axe(script, "context values")
	})
	t.Run("failures", func(t *testing.T) {
		t.Parallel()
		s, address := serve(t, studio.Options{})
		p := openTab(t, address)
		p.bypassCSP()
		p.do(chromedp.Reload())
		p.waitText("#empty", "Nothing is registered yet")
		p.axe(script, "empty")
		p.eval(`document.body.append(document.createElement("button"))`) // where the page does not render
		if found := p.axeFinds(script); !strings.Contains(found, "button-name") {
			t.Errorf("axe-core misses a button without a name: %s", found)
		}
		p.do(chromedp.Reload())
		p.waitText("#empty", "Nothing is registered yet")
		p.register("http://127.0.0.1:1/v1/endpoints-manifest")
		p.waitText("#register-failure", "Nothing listens")
		p.axe(script, "failed")
		p.press(kb.Escape)
		show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: GET, mime_type: application/json}}}}")
		p.waitText("#endpoint-blank", "Fix the problems")
		p.axe(script, "errors")
		show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")
		p.waitURL("http://127.0.0.1:1/x")
		p.choose("#data", "published")
		p.click(`document.querySelector("#send")`)
		p.waitText("#send-failure", "Nothing listens")
		p.eval(`import("/store.js").then((m) => m.change(() => { m.state.connection = "lost"; })); 0`)
		p.waitText("#offline", "The studio has stopped.")
		p.axe(script, "a failed request, and stopped")
	})
}

// bypassCSP lets axe-core into the page, which the test injects.
func (p *tab) bypassCSP() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil {
		p.t.Fatal(err)
	}
}

// TestPageFits looks for content wider than the window in every view at every width, and zoomed in.
func TestPageFits(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, riskyYAML)
	for name := range views {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openView(t, address, name)
			for _, look := range looks {
				p.emulate(look.width, look.height, 1, look.scheme)
				where := fmt.Sprintf("%s at %d, %s", name, look.width, look.scheme)
				p.checkOverflow(where)
				if look.height > 300 {
					continue
				}
				// At 400 % zoom, a window of 1280 by 1024 is 320 by 256: nothing sticky may get in the way.
				if got := p.eval(`[...document.querySelectorAll("body *")].filter((e) => /sticky|fixed/.test(getComputedStyle(e).position) && e.checkVisibility() && !e.matches(".skip") && e.getBoundingClientRect().height > innerHeight / 3).map((e) => e.className).join()`); got != "" {
					t.Errorf("%s: %v is sticky and takes more than a third of the window", where, got)
				}
			}
		})
	}
}

// TestPageOnAPhone walks through the three screens, and back.
func TestPageOnAPhone(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.emulate(390, 844, 1, "light")
	visible := func(selector string, want bool) {
		t.Helper()
		p.wait(fmt.Sprintf("document.querySelector(%s)?.checkVisibility() === %v", quoteJS(selector), want))
	}
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
}

// TestPageByKeyboard uses only the keyboard: find an endpoint, change a control, send, read the response.
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
	until(`document.activeElement.role === "treeitem"`)
	p.press(kb.ArrowDown)
	p.press(kb.ArrowDown)
	p.wait(`document.activeElement.textContent.includes("Episodes")`)
	p.press("c")
	p.wait(`document.activeElement.textContent.includes("Collections")`)
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
	p.press(kb.ArrowRight)
	p.wait(`document.activeElement.id === "tab-text"`)
	p.waitText("#tab-panel .json", `"title": "Kids"`)

	// The palette: a key of an endpoint leads to it.
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.wait(`document.activeElement.id === "palette"`)
	p.typeInto(`document.querySelector("#palette")`, "released_from")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Collections")
	p.wait(`location.hash.includes("version=v2")`)
	p.wait(`document.activeElement.id === "endpoint-name"`)

	// Every stop has a visible focus.
	p.eval("document.activeElement.blur(); window.unseen = []; document.querySelector('#skip').focus()")
	for range 45 {
		p.press(kb.Tab)
		p.eval(`(() => { const e = document.activeElement; if (e === document.body) return; const s = getComputedStyle(e), t = getComputedStyle(e.nextElementSibling ?? e);
  if (s.outlineStyle === "none" && t.outlineStyle === "none") window.unseen.push(e.outerHTML.slice(0, 200)); })()`)
	}
	if got := p.eval(`window.unseen.join("\n")`); got != "" {
		t.Errorf("no visible focus:\n%v", got)
	}
	if got := p.eval(`[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`); got != "" {
		t.Errorf("duplicate ids: %v", got)
	}
}
