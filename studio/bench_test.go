package studio_test

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkPage measures in a real browser, as medians: from a key to the composed URL, and from a key in the filter of 5,000
// endpoints to the list.
func BenchmarkPage(b *testing.B) {
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
