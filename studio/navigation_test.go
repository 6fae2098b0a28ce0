package studio_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageStartsWithAFeed checks that the page starts with a feed if there is room for one.
func TestPageStartsWithAFeed(t *testing.T) {
	t.Parallel()
	address := serveExample(t)
	for _, width := range []int64{1440, 1024, 768} {
		p := openTab(t, "about:blank")
		p.emulate(width, 900, 1, "light")
		p.do(chromedp.Navigate(address))
		p.waitText("#answer-facts", "20 entries")
		p.wait(`[...document.querySelectorAll("#cards img")].filter((i) => i.checkVisibility() && i.getBoundingClientRect().top < innerHeight && i.naturalWidth > 0).length >= 4`)
		p.wait(`[...document.querySelectorAll(".failed")].every((e) => !e.checkVisibility())`)
	}
}

// TestPageGoesBack goes back from an opened link, where there is no history, and from the palette.
func TestPageGoesBack(t *testing.T) {
	t.Parallel()
	address := serveExample(t)
	p := openTab(t, "about:blank")
	p.emulate(390, 844, 1, "light")
	p.do(chromedp.Navigate(address + "/#/preview?source=example.yaml&version=v1&endpoint=https%3A%2F%2F%7B%7Bhost%7D%7D%2Fv1%2Fcollections&pane=endpoint"))
	p.waitText("#answer-facts", "20 entries")
	visible := func(selector string) {
		t.Helper()
		p.wait(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quoteJS(selector)))
	}
	p.click(button("‹ Endpoints"))
	visible(".sidebar")
	p.view("map")
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(`document.querySelector("#palette")`, "kids")
	p.press(kb.Enter)
	visible(".pane.endpoint")
	p.click(button("‹ Endpoints")) // and not to the map
	visible(".sidebar")

	// One Escape closes the palette, whatever is in it.
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(`document.querySelector("#palette")`, "lang")
	p.waitText("#palette-list", "Language") // by which it was found
	p.press(kb.Escape)
	p.wait(`!document.querySelector("dialog")`)
}

// TestPageHistory shows earlier responses, and keeps the selected entry.
func TestPageHistory(t *testing.T) {
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
	p.waitText("#answer-facts", "20 entries")
	p.waitText("#answer-facts", "not the current values")
	p.wait(`document.querySelectorAll("#cards li").length === 20`)
	p.typeInto(field("Limit"), "3")
	p.waitText("#answer-facts", "3 entries")
}

// TestPageFindsThePort checks a local service: {{host}} has no port, but the service does.
func TestPageFindsThePort(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/endpoints-manifest") {
			fmt.Fprint(w, `{"endpoints":{"https://127.0.0.1/v1/shows":{"name":"Shows","method":"get","mime_type":"application/json"},
"https://127.0.0.1/v1/series/{{id}}":{"name":"Series","method":"get","mime_type":"application/json"}}}`)
			return
		}
		fmt.Fprint(w, `{"entry":[{"title":"Night Ferry","content":"https://127.0.0.1/v1/series/2"}]}`)
	}))
	t.Cleanup(service.Close)
	_, address := serveFile(t, feedsYAML)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feeds")
	p.register(service.URL + "/v1/endpoints-manifest")
	p.waitText("#endpoint-name", "Shows")
	p.waitText("#answer-blank", "feed URLs have no port")
	p.click(`document.querySelector("#other-port")`)
	p.waitText("#answer-blank", "Press Send to call "+service.URL)
	p.waitText("#copy-menu", "curl")
	p.click(`document.querySelector("#send")`)
	p.waitText("#cards", "Night Ferry")

	// Cards without pictures reserve no space for them, and any URL of an entry can be followed.
	p.wait(`!document.querySelector("#cards .picture").checkVisibility() && !document.querySelector("#complaints")`)
	p.click(`document.querySelector("#cards button")`)
	p.click(button("Follow the link"))
	p.waitText("#endpoint-name", "Series")
	p.wait(field("id") + `.value === "2"`)
}

// TestPageOnAMac checks that shortcuts are shown and work with the Command key.
func TestPageOnAMac(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#goto", "Ctrl K")
	agent := fmt.Sprint(p.eval("navigator.userAgent"))
	if _, err := chromedp.Call(p.ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, Platform: "MacIntel"}); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Reload())
	p.waitText("#goto", "⌘ K")
	p.wait(`document.querySelector("#send").title === "⌘ Enter"`)
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierMeta))
	p.wait(`document.activeElement.id === "palette"`)
}
