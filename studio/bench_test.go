package studio_test

import "testing"

// BenchmarkFilter types into the filter of 5,000 endpoints in a real browser, until the result is laid out.
func BenchmarkFilter(b *testing.B) {
	_, address := serveFile(b, manyYAML(4999))
	p := openTab(b, address)
	p.waitText("#endpoint-name", "Feed 0")
	total := 0.0
	words := []string{"f", "fe", "feed 4", "feed 42", "key.3", "section69", ""}
	b.ResetTimer()
	for i := range b.N {
		p.eval(`window.took = undefined; (() => {
  const input = document.querySelector("#filter"), start = performance.now();
  input.value = ` + quoteJS(words[i%len(words)]) + `;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  setTimeout(() => { document.body.offsetHeight; window.took = performance.now() - start; }, 0);
})()`)
		p.wait("window.took !== undefined")
		total += p.eval("window.took").(float64)
	}
	b.ReportMetric(total/float64(b.N), "ms/keystroke")
}
