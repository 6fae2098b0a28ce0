package studio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

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
	_, address := serveFile(t, manyYAML(700))
	p := openTab(t, address)
	p.waitText("#endpoints-title", "701")
	rows := `document.querySelectorAll("#endpoints li").length`
	if got := p.eval(rows).(float64); got > 200 {
		t.Errorf("%v rows are laid out at once", got)
	}
	p.waitText(".list .more-rows", "more")

	// The list continues where it is scrolled to, and by keyboard.
	p.eval(`document.querySelector(".list .more-rows").scrollIntoView()`)
	p.wait(rows + " === 200")
	p.focus(`document.querySelector("#endpoints li")`)
	p.press(kb.End)
	p.wait(`document.activeElement.textContent.includes("Feed 699")`)
	p.wait(rows + ` === 701 && !document.querySelector(".list .more-rows")`)

	// A filter starts at the top again, and an endpoint opened from elsewhere is in the list.
	p.typeInto(`document.querySelector("#filter")`, "section12/")
	p.wait(rows + " === 10")
	p.typeInto(`document.querySelector("#filter")`, "")
	p.wait(rows + " === 100")
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(`document.querySelector("#palette")`, "feed0650")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Feed 650")
	p.waitText(`#endpoints [aria-selected="true"]`, "Feed 650")
	p.wait(`(() => { const r = document.querySelector('#endpoints [aria-selected="true"]').getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`)

	// The map.
	p.view("map")
	p.waitText("#view-title", "701 endpoints, 1 with lost keys")
	p.wait(`document.querySelectorAll(".spot").length === 300`)
	p.eval(`document.querySelector(".map .more-rows").scrollIntoView()`)
	p.wait(`document.querySelectorAll(".spot").length === 600`)
	p.typeInto(`document.querySelector("#map-filter")`, "FEED 650")
	p.wait(`document.querySelectorAll(".spot").length === 1`)
	p.typeInto(`document.querySelector("#map-filter")`, "")
	p.click(button("Lost keys 1"))
	p.wait(`document.querySelectorAll(".spot").length === 2`) // with the one around it
	p.waitText(".spot.loses", "Feeds here lose key.0, which Feed 0 would send.")
	p.wait(`location.hash.includes("show=risk")`)
}
