package studio_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/studio"
)

var screenshots = flag.String("screenshots", "", "write pictures of the page to this folder: make screenshot")

// emulate shows the page at a size and in a scheme: light, dark or forced.
func (p *tab) emulate(width, height int64, scale float64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "forced-colors", Value: "none"}}
	if scheme == "forced" {
		features[0].Value, features[2].Value = "light", "active"
	}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		p.t.Fatal(err)
	}
}

// riskyYAML has something for every view to show.
const riskyYAML = `service: Example feeds
enable: [authentication, geo-restriction]
features:
  parental-control:
    url_suffix: /kids
    context_obj: [{key: user_account.profile, type: ctx, required: true, mapper: profile}]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit, defaultValue: 20, placeholder: 1 to 100}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/collections:
        name: Collections
        method: get
        mime_type: application/json
        context_obj: [{key: user_account.profile, type: ctx, mapper: profile}]
        modifiers:
          - limit
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, defaultValue: newest, options: [{value: newest, label: Newest first}, {value: title, label: Title}]}
          - {kind: boolean, id: hd, name: HD only, key: hd, label: HD only}
      https://{{host}}/v1/collections/media:
        name: Media
        method: get
        mime_type: application/vnd+vendor.feed+json
        modifiers: [limit]
      https://{{host}}/v1/collections/media-archive: {name: Archive, method: get, mime_type: application/json}
      https://{{host}}/v1/series/{{series_id}}: {name: Series, method: get, mime_type: application/json}
      https://{{host}}/v1/series/{{series_id}}/episodes: {name: Episodes, method: get, mime_type: application/json, modifiers: [limit]}
      https://{{host}}/v1/kids: {name: Kids, method: get, mime_type: application/json}
      https://ratings.example.org/titles/{{title_id}}: {name: Ratings, method: get, mime_type: application/json}
  v2:
    endpoints:
      https://{{host}}/v2/collections: {name: Collections, method: get, mime_type: application/json, modifiers: [limit]}
      https://{{host}}/v2/progress:
        name: Viewing progress
        method: post
        mime_type: application/x-www-form-urlencoded
        context_obj: [{key: device.id, type: bodyParam, required: true, mapper: device_id}]
`

// TestScreenshot makes the picture of the README from the real page, and pictures of every view to look at.
func TestScreenshot(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not set")
	}
	write := func(p *tab, name string) {
		p.eval("document.activeElement.blur(); scrollTo(0, 0)")
		p.wait(`[...document.querySelectorAll(".picture img")].slice(0, 6).every((i) => !i.checkVisibility() || i.naturalWidth > 0)`)
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := openTab(t, serveExample(t))
	p.emulate(1440, 930, 1.5, "light")
	p.waitText("#answer-facts", "200 OK")
	p.typeInto(field("Limit"), "9")
	p.waitText("#answer-facts", "9 entries")
	p.typeInto(field("signedDeviceInfoToken"), "living-room-tv")
	p.waitText("#feed-url", "ctx=")
	p.wait(`document.querySelectorAll(".picture img").length === 9 && !document.querySelector("#answer-facts").textContent.includes("not the current") && ` + settled)
	write(p, "studio")

	everySize := func(p *tab, name string) {
		for _, size := range []int64{1440, 1024, 768, 390} {
			for _, scheme := range []string{"light", "dark", "forced"} {
				p.emulate(size, 900, 1, scheme)
				p.wait(settled)
				write(p, fmt.Sprintf("%s-%d-%s", name, size, scheme))
			}
		}
	}
	s, address := serve(t, studio.Options{Host: "feeds.example.com"})
	show(s, riskyYAML)
	for name := range views {
		everySize(openView(t, address, name), name)
	}
	p = openView(t, address, "answer")
	p.click(`document.querySelector("#cards button")`)
	everySize(p, "picked")
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.wait(`document.querySelector("#palette-list li")`)
	everySize(p, "palette")

	// Nothing, an address that cannot be reached, a file with errors, a request that failed, a studio that has stopped.
	s, address = serve(t, studio.Options{})
	p = openTab(t, address)
	p.waitText("#empty", "Nothing is registered yet")
	everySize(p, "empty")
	p.register("http://127.0.0.1:1/v1/endpoints-manifest")
	p.waitText("#register-failure", "Nothing listens")
	everySize(p, "failed")
	p.press(kb.Escape)
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: GET, mime_type: application/json}}}}")
	p.waitText("#endpoint-blank", "Fix the findings")
	everySize(p, "errors")
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")
	p.waitURL("http://127.0.0.1:1/x")
	p.eval(`location.hash += "&pane=answer"`)
	p.click(`document.querySelector("#send")`)
	p.waitText("#send-failure", "Nothing listens")
	everySize(p, "unanswered")
	p.eval(`import("/store.js").then((m) => m.change(() => { m.state.connection = "lost"; })); 0`)
	p.waitText("#offline", "The studio has stopped.")
	everySize(p, "stopped")
}

// settled is true when nothing is on its way.
const settled = `!document.querySelector(".composing, .waiting, .waits")`
