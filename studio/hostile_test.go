package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/internal/testkit"
	"signpost/studio"
)

// TestPageShowsHostileManifestsAsText shows a manifest that tries everything to become markup.
func TestPageShowsHostileManifestsAsText(t *testing.T) {
	t.Parallel()
	const script = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`
	long := strings.Repeat("very-long-", 200)
	rtl := "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd"
	text := func(s string) string { return quoteJS(s) }
	endpoint := func(url, name string) string {
		return fmt.Sprintf(`%s:{"name":%s,"method":"get","mime_type":%s,
"context_obj":[{"key":%s,"type":"ctx","required":true,"mapper":%s},{"key":"__proto__","type":"ctx"}],
"modifiers":[{"id":%s,"name":%s,"params":[
{"key":%s,"ui":{"label":%s,"placeholder":%s},"schema":{"type":"string","default":%s}},
{"key":"s","ui":{"label":"Choice","placeholder":%s,"options":[{"value":"\"><b>","label":%s}]},"schema":{"type":"string","enum":["\"><b>"]}},
{"key":"__proto__","ui":{"label":"Proto"},"schema":{"type":"string","default":"polluted"}},
{"key":"l","ui":{"label":%s},"schema":{"type":"string","default":%s}}]}]}`,
			text(url), text(name), text(script), text(script), text(script), text(script), text(script), text("k"+script), text(script), text(script),
			text(script), text(script), text(script), text("L"+long), text(long))
	}
	manifest := `{"endpoints":{` + strings.Join([]string{
		endpoint("https://feeds.example.com/"+script, script),
		endpoint("javascript:window.pwned=1", "Scheme"),
		endpoint("data:text/html,"+script, rtl),
		endpoint("https://feeds.example.com/{{"+"x\" onfocus=\"window.pwned=1}}/"+long, long),
	}, ",") + `}}`
	_, address := serve(t, studio.Options{})
	p := openTab(t, address)
	p.eval(`window.addEventListener("securitypolicyviolation", () => { window.violated = 1; })`)
	source := serveText(t, manifest)
	p.register(source)

	p.wait(`document.querySelectorAll("#endpoints .endpoint-row").length === 4`)
	p.wait(`document.querySelector("#endpoint-name").textContent === ` + text(script))
	p.wait(`document.querySelector("#feed-url").textContent.length > 100`)
	p.waitText("#controls", script)
	p.waitText("#context", script)
	p.typeInto(field(script), script)
	p.wait(`[...document.querySelectorAll("select option")].some((o) => o.textContent === ` + text(script) + ` && o.value === '"><b>')`)
	p.wait(field("Proto") + `.value === "polluted" && {}.polluted === undefined`)
	p.waitText("#feed-url", "__proto__=polluted")
	for _, name := range []string{"Scheme", `\u202egnp.exe\u202c ` + "\u05e9\u05dc\u05d5\u05dd", long} {
		p.click(listed(name))
		p.wait(`document.querySelector("#endpoint-name").textContent === ` + text(name))
		p.click(element("send"))
	}

	// The other views show it, too.
	p.view("map")
	p.typeInto(element("feed"), "https://feeds.example.com/"+strings.ReplaceAll(script, " ", ""))
	p.waitText("#landing", "<imgsrc=x")
	p.waitText(".trees", "<img src=x")
	p.view("problems")
	p.waitText("#problems-list", "<img src=x")
	p.waitText(".text", "<img src=x")
	p.search("<img")
	p.waitText("#palette-list", "<img src=x")
	p.press(kb.Escape)

	// It is all text: no elements of its own, no script that ran, no link that leads to one.
	testkit.Equal(t, "text from outside became markup", p.eval(`[window.pwned, window.violated,
document.querySelectorAll("main img, #app script, #controls b").length,
[...document.querySelectorAll("a")].filter((a) => !/^https?:$/.test(a.protocol)).length].join()`), ",,0,0")
	p.expect("TrustedHTML")
	// Even a mistake in one of the page's scripts could not turn it into markup.
	testkit.Equal(t, "text as markup", p.eval(`(() => {
  try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); return "markup"; } catch { return "refused"; }
})()`), "refused")

	// Long texts stay inside the page, however narrow it is.
	for _, view := range []string{"preview", "map", "problems", "check"} {
		p.eval(`document.querySelector('.views a[href^="#/` + view + `"]').click()`)
		for _, width := range []int64{320, 768, 1440} {
			p.do(chromedp.EmulateViewport(width, 800))
			p.checkOverflow(fmt.Sprintf("%s at %d", view, width))
		}
	}
}

// checkOverflow reports content that is wider than the window. The lines of the map are clipped, and drawn a frame later.
func (p *tab) checkOverflow(where string) {
	p.t.Helper()
	testkit.Equal(p.t, where+": wider than the window", p.eval(`[...document.querySelectorAll("body *")].filter((e) =>
  e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility() && !e.matches(".unseen, .unseen *, .skip, option") && !e.closest("pre, .code, .wires"))
.map((e) => e.tagName + "#" + e.id + "." + e.className).slice(0, 8).join(" ")`), "")
}

// TestPageShowsHostileFeedsAsText shows a feed that tries everything to become markup, pictures included.
func TestPageShowsHostileFeedsAsText(t *testing.T) {
	t.Parallel()
	const script = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`
	var feeds *httptest.Server
	feeds = answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/feed":
			w.Header().Set("Server", script)
			fmt.Fprintf(w, `{"title":%[1]s,"__proto__":{"polluted":1},"entry":[
{"id":"1","title":%[1]s,"type":%[1]s,"image":"%[2]s/vector.svg","link":{"href":"javascript:window.pwned=1"},"series_id":%[1]s},
{"id":"2","title":"\u202egnp.exe","image":"javascript:window.pwned=1","__proto__":{"title":"x"}},
{"id":"3","title":{"text":"deep"},"image":"data:image/svg+xml,<svg onload=window.pwned=1>"},
{"id":"4","title":"html picture","image":"%[2]s/page.png"},
{"id":"5","title":"no picture at all"}]}`, quoteJS(script), feeds.URL)
		case "/vector.svg":
			w.Header().Set("Content-Type", "image/svg+xml")
			io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>`)
		default:
			w.Header().Set("Content-Type", "image/png")
			io.WriteString(w, script)
		}
	})
	_, address := serveFile(t, "versions: {v1: {endpoints: {"+feeds.URL+"/feed: {name: X, method: get, mime_type: application/json}, \""+
		feeds.URL+"/series/{{series_id}}\": {name: Series, method: get, mime_type: application/json}}}}")
	p := openTab(t, address+published)
	p.eval(`window.addEventListener("securitypolicyviolation", () => { window.violated = 1; })`)
	p.waitURL(feeds.URL + "/feed")
	p.click(element("send"))
	p.wait(`document.querySelectorAll("#cards li").length === 5`)
	p.waitText("#cards", script, `\u202egnp.exe`)
	p.wait(`[...document.querySelectorAll("#cards img")].every((i) => i.classList.contains("broken")) && document.querySelectorAll("#cards img").length === 2`)
	p.wait(`[...document.querySelectorAll(".failed")].filter((e) => e.checkVisibility() && e.textContent === "Picture not loaded: This is not a PNG, JPEG, GIF, WebP or AVIF picture.").length === 2`)
	p.click(`document.querySelector("#cards button")`)
	p.waitText("#picked", "series_id = "+script)
	p.wait(`!document.querySelector("#picked").textContent.includes("javascript:window.pwned=1\n") && !document.querySelector("#picked .link")?.textContent.includes("Follow")`)
	p.click(button("Open Series"))
	p.wait(field("series_id") + ".value === " + quoteJS(script))
	p.eval("history.back()")
	for _, name := range []string{"text", "headers"} {
		p.click(`document.querySelector("#tab-` + name + `")`)
		p.waitText("#tab-panel", "window.pwned=1")
	}
	testkit.Equal(t, "text from outside became markup", p.eval(`[window.pwned, window.violated, {}.polluted, document.querySelectorAll("main script").length].join()`), ",,,0")
}

// TestPageOfAnotherSiteIsRejected attacks the studio from a page of another origin, and through a name that resolves to
// loopback.
func TestPageOfAnotherSiteIsRejected(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	evil := answerWith(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><iframe name=frame></iframe>
<form action="%[1]s/api/register" method=post enctype=text/plain target=frame><input name='{"address":"https://evil.example/v1","keep":true,"a":"' value='"}'></form>
<script type=module>
const body = JSON.stringify({ address: "https://evil.example/v1/endpoints-manifest", keep: true });
const tries = [
  ["/api/state", {}],
  ["/api/state", { mode: "no-cors" }],
  ["/api/register", { method: "POST", mode: "no-cors", body }],
  ["/api/register", { method: "POST", headers: { "Content-Type": "application/json" }, body }],
];
document.forms[0].submit();
const got = await Promise.all(tries.map(([path, options]) => fetch("%[1]s" + path, options).then((r) => r.text(), () => "")));
window.read = got.join("");
await import("%[1]s/studio.js").then(() => { window.read += "script"; }, () => {});
window.done = true;
</script>`, address)
	})
	p := openTab(t, "about:blank")
	p.expect("frame-ancestors")
	p.do(chromedp.Navigate(evil.URL))
	p.wait("window.done")
	testkit.Equal(t, "another site could read", p.eval("window.read"), "")
	testkit.Equal(t, "registered", sourceIDs(t, address), []string{"feeds.yaml"})

	// A link on it opens the page, as from a chat.
	p.eval(fmt.Sprintf(`location.href = %s`, quoteJS(address+"/#/map")))
	p.wait(`document.querySelector(".frame.show-map")`)

	p.do(chromedp.Navigate(strings.Replace(address, "127.0.0.1", rebound, 1)))
	p.waitText("body", "The studio does not answer for this host.")
}
