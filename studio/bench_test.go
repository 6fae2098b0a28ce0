package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"signpost/internal/testkit"
)

// BenchmarkPage measures in a real browser, as medians: from opening the page to its cards, with how many requests and bytes;
// from saving a file with 3,000 endpoints to the page; from a key to the composed URL, while the answer has 1 MB, too; and from
// a key in the filter of 5,000 endpoints to the list.
func BenchmarkPage(b *testing.B) {
	b.Run("Cards", func(b *testing.B) {
		address := serveExample(b)
		p := openTab(b, "about:blank")
		// Cards are seen by the page itself: looking from outside would slow it down.
		script := `new MutationObserver((_, o) => { if (document.querySelector("#cards li")) { o.disconnect(); window.took = performance.now(); } })
  .observe(document, { subtree: true, childList: true });`
		testkit.Must(chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}))(b)
		testkit.Must(chromedp.Call(p.ctx, network.Enable, network.EnableParams{}))(b)
		testkit.Must(chromedp.Call(p.ctx, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}))(b)
		measure(b, p, func(int) { p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address)) })
		b.ReportMetric(p.eval(`performance.getEntriesByType("resource").length + 1`).(float64), "requests")
		b.ReportMetric(p.eval(`[...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].reduce((n, e) => n + e.transferSize, 0)`).(float64), "bytes")
	})
	b.Run("Save", func(b *testing.B) {
		text := manyYAML(2999)
		path, write := writeFile(b, text)
		address, stop := startProgram(b, testkit.FreeAddress(b), path)
		defer stop()
		p := openTab(b, address)
		p.waitText("#endpoint-name", "Feed 0")
		measure(b, p, func(i int) {
			p.eval(fmt.Sprintf(`new MutationObserver((_, o) => { if (document.querySelector("#endpoint-name").textContent === "Film %d") { o.disconnect(); window.took = Date.now(); } })
  .observe(document, { subtree: true, childList: true, characterData: true }); 0`, i))
			started := time.Now()
			write(strings.Replace(text, "name: Feed 0,", fmt.Sprintf("name: Film %d,", i), 1))
			p.wait("window.took !== undefined")
			p.eval(fmt.Sprintf("window.took -= %d", started.UnixMilli()))
		})
	})
	input := func(element, text, shown string) string {
		return fmt.Sprintf(`(() => {
  const input = %s, start = performance.now();
  const look = () => { if (%s) { observer.disconnect(); document.body.offsetHeight; window.took = performance.now() - start; } };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  input.value = %s;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
})()`, element, shown, quoteJS(text))
	}
	b.Run("KeyToURL", func(b *testing.B) {
		_, address := serveFile(b, feedsYAML)
		p := openTab(b, address)
		p.waitText("#feed-url", "page=0")
		measure(b, p, func(i int) {
			p.eval(input(field("Query"), fmt.Sprintf("owl%d", i), fmt.Sprintf(`document.querySelector("#feed-url").textContent.includes("q=owl%d&")`, i)))
		})
	})
	b.Run("KeyToURLOf1MB", func(b *testing.B) {
		entry := `{"id":"x","title":"` + strings.Repeat("x", 100) + `","extensions":{"duration":1200,"list":[1,2,3,4,5,6,7,8,9]},"media_group":[{"media_item":[{"src":"a"}]}]},`
		large := answerWith(b, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"entry":[`+strings.Repeat(entry, (1<<20-1000)/len(entry))+`{"title":"last"}]}`)
		})
		_, address := serveFile(b, fmt.Sprintf("versions: {v1: {endpoints: {%s/feed: {name: X, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Query}]}}}}", large.URL))
		p := openTab(b, address+published+"&tab=text")
		p.send()
		p.waitText("#answer-facts", "KiB")
		measure(b, p, func(i int) {
			p.eval(input(field("Query"), fmt.Sprintf("owl%d", i), fmt.Sprintf(`document.querySelector("#feed-url").textContent.endsWith("q=owl%d")`, i)))
		})
	})
	b.Run("KeyToList", func(b *testing.B) {
		_, address := serveFile(b, manyYAML(4999))
		p := openTab(b, address)
		p.waitText("#endpoint-name", "Feed 0")
		measure(b, p, func(i int) {
			p.eval(input(element("filter"), fmt.Sprintf("feed %d", i%1000), fmt.Sprintf(`document.querySelector(".endpoint-row .name").textContent.includes("Feed %d")`, i%1000)))
		})
	})
}

// measure lets the page set window.took, and reports the median.
func measure(b *testing.B, p *tab, once func(i int)) {
	var all []float64
	b.ResetTimer()
	for i := range b.N {
		p.eval("window.took = undefined")
		once(i)
		p.wait("window.took !== undefined")
		all = append(all, p.eval("window.took").(float64))
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2], "ms/median")
	b.ReportMetric(0, "ns/op")
}
