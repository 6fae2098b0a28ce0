package studio_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screenshots = flag.String("screenshots", "", "write pictures of the page to this folder: make screenshot")

// TestScreenshot makes the picture of the README from the real page, and pictures to look at: light and dark, wide
// and narrow.
func TestScreenshot(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots is not set")
	}
	p := openTab(t, serveExample(t))
	p.waitURL("https://localhost/v1/collections?limit=20&page=0&lang=en&hd=false")
	p.typeInto(field("Search"), "island")
	p.focus(field("HD only"))
	p.press(" ")
	p.typeInto(field("signedDeviceInfoToken"), "living-room-tv")
	p.waitText("#decoded", "living-room-tv")
	p.typeInto(`document.querySelector("#feed")`, "https://localhost/v1/media/7")
	p.press(kb.Enter)
	p.waitText("#match-result", "Media")
	p.focus(button("Send"))
	p.press(kb.Enter)
	p.waitText("#answer", "200 OK")
	write := func(name string, width, height int64, scale float64, scheme string) {
		p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
		_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		p.eval("document.activeElement.blur(); scrollTo(0, 0)")
		picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("studio.png", 1280, 1040, 1.5, "light")
	for _, scheme := range []string{"light", "dark"} {
		write("wide-"+scheme+".png", 1280, 900, 1, scheme)
		write("narrow-"+scheme+".png", 390, 844, 1, scheme)
	}
}
