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
	t.Parallel()
	_, address := serveFile(t, manyYAML(700))
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feed 0")
	rows := `document.querySelectorAll("#endpoints .endpoint-row").length`
	if got := p.eval(rows).(float64); got > 200 {
		t.Errorf("%v rows are laid out at once", got)
	}
	p.waitText(".sidebar .more-rows", "more")

	// The list continues where it is scrolled to, and by keyboard.
	p.eval(`document.querySelector(".sidebar .more-rows").scrollIntoView()`)
	p.wait(rows + " === 200")
	p.focus(`document.querySelector("#endpoints .endpoint-row")`)
	p.press(kb.End)
	p.wait(`document.activeElement.textContent.includes("Last")`)
	p.wait(rows + ` === 701 && !document.querySelector(".sidebar .more-rows")`)

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
	p.waitText("#losses", "Last")
	p.waitText("#losses", "shadows Feed 0: its feeds lose key.0.")
	p.wait(`document.querySelectorAll(".spot").length === 1`) // the rest is folded
	p.click(`document.querySelector("#all-endpoints summary")`)
	p.wait(`document.querySelectorAll("#all-endpoints .spot").length === 200`)
	p.eval(`document.querySelector(".map .more-rows").scrollIntoView()`)
	p.wait(`document.querySelectorAll("#all-endpoints .spot").length === 400`)
	p.typeInto(`document.querySelector("#map-filter")`, "FEED 650")
	p.wait(`document.querySelectorAll("#all-endpoints .spot").length === 1`)
}
