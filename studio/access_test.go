package studio_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/studio"
)

// views lists the addresses of every view, with something to show in each, for riskyYAML.
var views = map[string]string{
	"list":     "#/endpoints?send=sample&source=feeds.yaml",
	"endpoint": "#/endpoints?send=sample&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections%2Fmedia&version=v1&source=feeds.yaml&pane=endpoint&m.limit=6",
	"answer":   "#/endpoints?send=sample&source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=answer",
	"body":     "#/endpoints?send=sample&source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=answer&tab=json",
	"headers":  "#/endpoints?send=sample&source=feeds.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=answer&tab=headers",
	"map":      "#/map?feed=https://feeds.example.com/v1/collections/media-archive/7&feed=https://nobody.example/",
	"findings": "#/findings",
	"changes":  "#/changes?base=version&of=v2&version=v1&source=feeds.yaml",
	"check":    "#/check?send=sample",
}

// openView opens a view and waits until it shows something.
func openView(t *testing.T, address, name string) *tab {
	t.Helper()
	p := openTab(t, address+"/"+views[name])
	p.wait(`document.querySelector("#main h2")`)
	switch name {
	case "check":
		p.click(`document.querySelector("#run-check")`)
		p.waitText("#check-status", "passed")
	case "answer", "body", "headers":
		p.waitText("#answer-facts", "200 OK")
	case "endpoint":
		p.waitText("#answer-facts", "401")
	case "changes":
		p.wait(`document.querySelector("#changes-list")`)
	case "findings":
		p.wait(`document.querySelector(".text mark")`)
	case "map":
		p.wait(`document.querySelector(".landing")`)
	}
	p.wait(settled)
	return p
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

// TestPageForAxe runs axe-core on every view, in both colour schemes, and on empty and failed states.
func TestPageForAxe(t *testing.T) {
	script, err := os.ReadFile(npmFile(t, "axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	bypass := func(p *tab) { // only for axe-core, which the test injects into the page
		if _, err := chromedp.Call(p.ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil {
			t.Fatal(err)
		}
		p.do(chromedp.Reload())
	}
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, riskyYAML)
	for name := range views {
		p := openTab(t, address+"/"+views[name])
		bypass(p)
		p.wait(`document.querySelector("#main h2")`)
		p.wait(`document.querySelector("#main h2")`)
		if name == "check" {
			p.click(`document.querySelector("#run-check")`)
			p.waitText("#check-status", "passed")
		}
		p.wait(settled)
		for _, scheme := range []string{"light", "dark"} {
			p.emulate(1440, 900, 1, scheme)
			p.axe(string(script), name+" "+scheme)
		}
		p.emulate(390, 844, 1, "light")
		p.axe(string(script), name+" narrow")
		switch name {
		case "endpoint":
			p.emulate(1440, 900, 1, "light")
			p.click(`document.querySelector("#goto")`)
			p.wait(`document.querySelector("#palette-list li")`)
			p.axe(string(script), "palette")
			p.press(kb.Escape)
			p.click(`document.querySelector("#source-button")`)
			p.wait(`document.querySelector("#register")`)
			p.axe(string(script), "manifests")
			p.press(kb.Escape)
			p.click(button("Edit"))
			p.wait(`document.querySelector("#set-name")`)
			p.axe(string(script), "context values")
		case "answer":
			p.emulate(1440, 900, 1, "light")
			p.click(`document.querySelector("#cards button")`)
			p.wait(`document.querySelector("#picked")`)
			p.axe(string(script), "a picked entry")
		}
	}

	// An empty page, a failure, an error, and a stopped studio.
	s, address = serve(t, studio.Options{})
	p := openTab(t, address)
	bypass(p)
	p.waitText("#empty", "Nothing is registered yet")
	p.axe(string(script), "empty")
	p.eval(`document.body.append(document.createElement("button"))`) // where the page does not render
	if found := p.axeFinds(string(script)); !strings.Contains(found, "button-name") {
		t.Errorf("axe-core misses a button without a name: %s", found)
	}
	p.do(chromedp.Reload())
	p.waitText("#empty", "Nothing is registered yet")
	p.register("http://127.0.0.1:1/v1/endpoints-manifest")
	p.waitText("#register-failure", "Nothing listens")
	p.axe(string(script), "failed")
	p.press(kb.Escape)
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: GET, mime_type: application/json}}}}")
	p.waitText("#endpoint-blank", "Fix the findings")
	p.axe(string(script), "errors")
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")
	p.waitURL("http://127.0.0.1:1/x")
	p.click(`document.querySelector("#send")`)
	p.waitText("#send-failure", "Nothing listens")
	p.axe(string(script), "a failed request")
	p.eval(`import("/store.js").then((m) => m.change(() => { m.state.connection = "lost"; })); 0`)
	p.waitText("#offline", "The studio has stopped.")
	p.axe(string(script), "stopped")
}

// TestPageFits looks for content wider than the window in every view, at every size, and zoomed in.
func TestPageFits(t *testing.T) {
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, riskyYAML)
	for name := range views {
		p := openView(t, address, name)
		for _, scheme := range []string{"light", "dark", "forced"} {
			for _, width := range []int64{1440, 1024, 768, 390} {
				p.emulate(width, 900, 1, scheme)
				p.checkOverflow(fmt.Sprintf("%s at %d, %s", name, width, scheme))
			}
		}
		// At 400 % zoom, a window of 1280 by 1024 is 320 by 256: nothing sticky may get in the way.
		p.emulate(320, 256, 1, "light")
		p.checkOverflow(name + " at 400 per cent")
		if got := p.eval(`[...document.querySelectorAll("body *")].filter((e) => /sticky|fixed/.test(getComputedStyle(e).position) && e.checkVisibility() && !e.matches(".skip") && e.getBoundingClientRect().height > innerHeight / 3).map((e) => e.className).join()`); got != "" {
			t.Errorf("%s at 400 per cent: %v is sticky and takes more than a third of the window", name, got)
		}
	}
}

// TestPageOnAPhone walks through the three screens, and back.
func TestPageOnAPhone(t *testing.T) {
	p := openTab(t, serveExample(t))
	p.emulate(390, 844, 1, "light")
	visible := func(selector string, want bool) {
		t.Helper()
		p.wait(fmt.Sprintf("document.querySelector(%s)?.checkVisibility() === %v", quoteJS(selector), want))
	}
	visible(".pane.list", true)
	visible(".pane.endpoint", false)
	p.click(listed("Collections"))
	visible(".pane.endpoint", true)
	visible(".pane.list", false)
	p.typeInto(field("Limit"), "3")
	p.waitText(".field-fact button", "default 20")
	p.wait(`[...document.querySelectorAll(".field-fact > *")].every((e) => e.scrollWidth <= e.clientWidth)`) // nothing is cut off
	p.click(button("Response ›"))
	visible(".pane.answer", true)
	visible(".pane.endpoint", false)
	p.waitText("#answer-facts", "3 entries")
	p.click(button("‹ Collections"))
	visible(".pane.endpoint", true)
	p.eval("history.back()")
	visible(".pane.list", true)
}

// TestPageByKeyboard uses only the keyboard: find an endpoint, change a control, send, read the response.
func TestPageByKeyboard(t *testing.T) {
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
	p.wait(`document.body.textContent.includes("is missing")`) // the response has arrived, so nothing on the page moves any more
	until("document.activeElement === " + field("Limit"))
	p.eval("document.activeElement.select()")
	p.press("4")
	p.waitText("#feed-url", "limit=4")
	until(`document.activeElement.textContent === "Fill in a sample value"`)
	p.press(kb.Enter)
	p.waitText("#answer-facts", "4 entries")
	until(`document.activeElement.id === "tab-preview"`)
	p.press(kb.ArrowRight)
	p.wait(`document.activeElement.id === "tab-json"`)
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
