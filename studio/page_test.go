package studio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost"
	"signpost/client"
	"signpost/contextkeys"
	"signpost/definition"
	"signpost/studio"
)

// serveFeeds starts a feed service that says what it was sent, and returns the port that it is on.
func serveFeeds(t *testing.T) (port string) {
	t.Helper()
	items := []signpost.ContextItem{{Key: "login.token", Type: signpost.ContextCtx, Required: true, Mapper: "token"}}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := contextkeys.FromContext(r.Context()).Text("login.token")
		query := r.URL.Query()
		query.Del("ctx")
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"path": r.URL.Path, "query": query.Encode(), "token": token})
	})
	server := httptest.NewServer(contextkeys.Middleware(items)(echo))
	t.Cleanup(server.Close)
	return server.URL[strings.LastIndexByte(server.URL, ':')+1:]
}

// controlsYAML has the four kinds of control, with and without defaults, in front of a feed service.
const controlsYAML = `
versions:
  v1:
    endpoints:
      http://{{host}}:PORT/v1/series/{{series_id}}/episodes:
        name: Episodes
        method: get
        mime_type: application/json
        context_obj: [{key: login.token, type: ctx, required: true, mapper: token}]
        modifiers:
          - {kind: text, id: q, name: Search text, key: q, label: Query, placeholder: Title or person}
          - {kind: number, id: page, name: Page, key: page, label: Page, defaultValue: 0, placeholder: From 0}
          - {kind: boolean, id: hd, name: HD, key: hd, label: HD only, defaultValue: false}
          - {kind: boolean, id: new, name: New, key: new, label: New only}
          - {kind: select, id: sort, name: Sort, key: sort, label: Sort by, defaultValue: title, options: [{value: newest, label: Newest first}, {value: title, label: By title}]}
      http://{{host}}:PORT/v1/series: {name: Series, method: get, mime_type: application/json}
`

func serveControls(t *testing.T) (s *studio.Studio, address, feed string) {
	port := serveFeeds(t)
	s, address = serve(t, studio.Options{Host: "127.0.0.1", Client: client.Options{Timeout: 5 * time.Second}})
	s.SetFile(definition.Parse("feeds.yaml", []byte(strings.ReplaceAll(controlsYAML, "PORT", port))))
	return s, address, "http://127.0.0.1:" + port + "/v1/series"
}

// TestPageFromControlsToAnswer does what somebody does who sees the page for the first time.
func TestPageFromControlsToAnswer(t *testing.T) {
	_, address, feed := serveControls(t)
	p := openTab(t, address)

	// Each control has its default and its placeholder; 0 and false are defaults like others.
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")
	for expression, want := range map[string]any{
		field("Query") + ".type":          "text",
		field("Query") + ".placeholder":   "Title or person",
		field("Query") + ".value":         "",
		field("Page") + ".type":           "number",
		field("Page") + ".value":          "0",
		field("Page") + ".placeholder":    "From 0",
		field("HD only") + ".role":        "switch",
		field("HD only") + ".checked":     false,
		field("New only") + ".checked":    false,
		field("Sort by") + ".type":        "select-one",
		field("Sort by") + ".value":       "title",
		field("Sort by") + ".textContent": "Not setNewest firstBy title",
		`document.querySelector("#controls").innerText.replace(/\s+/g, " ")`: "Query q Search text · no default Page page default 0 HD only hd false HD · default false New only new not set New · no default " +
			"Sort by sort Not set Newest first By title Sort · default title",
		`document.querySelector("#endpoint-facts").innerText.replace(/\s+/g, " ")`: "GET application/json",
	} {
		if got := p.eval(expression); got != want {
			t.Errorf("%s is %q, not %q", expression, got, want)
		}
	}

	// The URL follows each of them.
	p.typeInto(field("Query"), "a b&c")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=0&hd=false&sort=title")
	p.typeInto(field("Page"), "3")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=false&sort=title")
	p.click(field("HD only"))
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&sort=title")
	p.focus(field("New only"))
	p.press(" ")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=true&sort=title")
	p.press(" ")
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=false&sort=title")
	p.focus(field("Sort by"))
	p.press(kb.ArrowUp)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=false&sort=newest")

	// And back: to the default, or to nothing where there is none.
	for _, label := range []string{"Reset Page", "Reset HD only", "Clear New only", "Clear Query"} {
		p.click(fmt.Sprintf(`document.querySelector('[aria-label=%s]')`, quoteJS(label)))
	}
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=newest")

	// Send leads to what is missing.
	p.waitText("#feed-problem", "Fill in series_id. And 1 more field.")
	p.click(button("Send"))
	p.wait("document.activeElement === " + field("series_id"))
	p.typeInto(field("series_id"), "7/ä")
	p.waitURL(feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=newest")
	p.waitText("#feed-problem", "Fill in the context key login.token, which is required.")
	p.click(button("Send"))
	p.wait("document.activeElement === " + field("login.token"))

	// The context key travels under its alias, encoded and decoded.
	p.typeInto(field("login.token"), "s3cret")
	p.wait(`document.querySelector("#ctx").textContent === "eyJ0b2tlbiI6InMzY3JldCJ9"`)
	p.waitText("#decoded", `"token": "s3cret"`)
	want := feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=newest&ctx=eyJ0b2tlbiI6InMzY3JldCJ9"
	p.waitURL(want)
	if got := p.text("#curl"); got != "curl '"+want+"'" {
		t.Errorf("curl: %s", got)
	}
	if got := p.text("#feed-problem"); got != "" {
		t.Errorf("problem %q", got)
	}

	// The real service answers.
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.waitText("#answer", "200 OK")
	p.waitText("#answer", "application/json")
	p.waitText("#answer pre", `"path": "/v1/series/7/ä/episodes"`)
	p.waitText("#answer pre", `"query": "hd=false\u0026page=0\u0026sort=newest"`)
	p.waitText("#answer pre", `"token": "s3cret"`)

	// What was typed is still there after a look at another endpoint.
	p.click(listed("Series"))
	p.waitURL(feed)
	p.waitText("#answer", "Press Send")
	p.click(listed("Episodes"))
	p.waitURL(want)
}

// listed is an expression for an endpoint in the list.
func listed(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#endpoints button")].find((b) => b.querySelector(".name").textContent === %s)`, quoteJS(name))
}

func TestPageSaysWhatFails(t *testing.T) {
	s, address := serve(t, studio.Options{Address: "http://127.0.0.1:1/v1/endpoints-manifest"})
	p := openTab(t, address)

	// The address that the studio was started with does not answer.
	p.waitText("#register-failure", "Nothing listens at")
	p.waitText("#empty", "Nothing is registered yet")
	p.wait(`!document.querySelector("#empty").hidden && document.querySelector("#workspace").hidden && document.querySelector("#address").value.includes("127.0.0.1:1")`)
	for address, says := range map[string]string{
		"feeds":                  "does not start with https://",
		serveText(t, "<html>"):   "not a manifest",
		serveText(t, `{"a":{}}`): "required-field",
	} {
		p.typeInto(`document.querySelector("#address")`, address)
		p.press(kb.Enter)
		p.waitText("#register-failure", says)
	}

	// A file with errors, from the start.
	s.SetFile(definition.Parse("feeds.yaml", []byte("versions: {v1: {endpoints: {https://a.example/x: {name: X, method: GET, mime_type: application/json}}}}")))
	p.waitText("#findings-chip", "1 error")
	p.waitText("#endpoint-blank", "Mend what the findings say")
	p.waitText("#findings mark", "GET")

	// A feed that does not answer.
	s.SetFile(definition.Parse("feeds.yaml", []byte("versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")))
	p.waitURL("http://127.0.0.1:1/x")
	p.click(button("Send"))
	p.waitText("#answer", "Nothing listens at")

	// No endpoint for a feed, and what is no feed.
	p.typeInto(`document.querySelector("#feed")`, "https://nobody.example/")
	p.press(kb.Enter)
	p.waitText("#match-result", "No endpoint answers")
	p.typeInto(`document.querySelector("#feed")`, "nobody")
	p.press(kb.Enter)
	p.waitText("#match-result", "starts with https://")
}

func TestPageRegistersAndUpdates(t *testing.T) {
	const manifest = `{"endpoints":{"https://feeds.example.com/v2/films":{"name":"Films","method":"get","mime_type":"application/json",
"context_obj":[{"key":"token","type":"ctx","required":true}],
"modifiers":[{"id":"limit","name":"Page size","params":[{"key":"limit","ui":{"label":"Limit"},"schema":{"type":"number","default":20}}]}]}}}`
	var text atomic.Value
	text.Store(manifest)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text.Load().(string)) }))
	t.Cleanup(server.Close)
	_, address := serveFile(t, feedsYAML)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feeds")

	p.typeInto(`document.querySelector("#address")`, server.URL+"/v2/endpoints-manifest")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Films")
	p.waitText("#status", "Registered: 1 endpoint.")
	p.waitText("#notes", "over https only")
	p.waitURL("https://feeds.example.com/v2/films?limit=20")
	p.typeInto(field("token"), "s3cret")
	p.wait(`document.querySelector("#changes").hidden`)

	p.click(button("Update"))
	p.waitText("#changes", "Nothing has changed.")
	text.Store(strings.NewReplacer(`"get"`, `"post"`, `20`, `50`).Replace(manifest))
	p.click(button("Update"))
	p.waitText("#changes", `method changed from "get" to "post"`)
	p.waitText("#changes li", "breaking") // first
	p.waitText("#changes", `default changed from 20 to 50`)
	p.waitText("#changes", "notable")
	p.waitText("#endpoint-facts", "POST")
	p.wait(field("token") + `.value === "s3cret"`)
	p.waitURL("https://feeds.example.com/v2/films?limit=50&ctx=eyJ0b2tlbiI6InMzY3JldCJ9")

	// Which endpoint answers: of all that is registered, the longest.
	p.typeInto(`document.querySelector("#feed")`, "https://localhost/v1/feeds/7")
	p.press(kb.Enter)
	p.waitText("#match-result", "https://localhost/v1/feeds")
	p.waitText("#match-result", "It gets token, device.")
	p.click(`document.querySelector("#match-result button")`)
	p.waitText("#endpoint-name", "Feeds")
	p.waitText("#tabs [aria-current]", "feeds.yaml")

	// Away with it. What was typed for one service is not there for another.
	p.wait(field("token") + `.value === ""`)
	p.click(button("/v2"))
	p.waitText("#endpoint-name", "Films")
	p.click(button("Remove"))
	p.waitText("#endpoint-name", "Feeds")
	p.wait(`document.querySelector("#tabs").hidden`)
}

// TestPageFollowsTheFile runs the real program, and changes the file on disk.
func TestPageFollowsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(feedsYAML)
	cmd := exec.Command(os.Args[0], "studio", path, "--listen", "127.0.0.1:0", "--host", "feeds.example.com")
	cmd.Env = append(os.Environ(), runProgram+"=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "Studio: http://127.0.0.1:") {
		t.Fatalf("it prints %q: %v", line, err)
	}
	p := openTab(t, strings.TrimSpace(strings.TrimPrefix(line, "Studio: ")))

	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.typeInto(field("Query"), "owl")
	p.typeInto(field("token"), "s3cret")
	p.waitURL("https://feeds.example.com/v1/feeds?q=owl&page=0&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.waitText("#findings-chip", "1 warning")

	// An error: the findings say where, and the last good one stays.
	write(strings.Replace(feedsYAML, "mime_type: application/json\n", "mimetype: application/json\n", 1))
	p.waitText("#findings", `unknown field "mimetype"`)
	p.waitText("#findings-chip", "errors")
	p.wait(`[...document.querySelectorAll("#findings mark")].some((m) => m.textContent === "mimetype")`)
	p.waitText("#notes", "last good one")
	p.waitText("#status", "feeds.yaml was saved.")
	p.wait(field("Query") + `.value === "owl"`)

	// Mended, and changed: what was typed stays, in what there still is, and so does the focus.
	p.focus(field("Query"))
	write(strings.NewReplacer("name: Feeds\n", "name: Films\n", "defaultValue: 0", "defaultValue: 5", ", placeholder: Title", ", placeholder: Film").Replace(feedsYAML))
	p.waitText("#endpoint-name", "Films")
	p.waitURL("https://feeds.example.com/v1/feeds?q=owl&page=5&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.wait(field("Query") + `.value === "owl" && document.activeElement === ` + field("Query"))
	p.wait(field("Query") + `.placeholder === "Film"`)
	p.waitText("#findings-chip", "1 warning")
	p.waitText("#changes", "default changed from 0 to 5")
	p.waitText("#changes", "Since the studio was opened")

	// Another host, for the endpoint that is looked at and for what was typed in others. Another version.
	p.click(listed("Episodes"))
	p.typeInto(`document.querySelector("#host")`, "Other.Example.com")
	p.press(kb.Enter)
	p.waitURL("https://other.example.com/v1/series/{{series_id}}/episodes")
	p.click(listed("Films"))
	p.waitURL("https://other.example.com/v1/feeds?q=owl&page=5&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.typeInto(`document.querySelector("#host")`, "not a host")
	p.press(kb.Enter)
	p.waitText("#host-failure", "Enter a hostname")
	p.click(`document.querySelector("#versions input[value=v2]")`)
	p.waitText("#endpoint-name", "Log")
	p.typeInto(field("device"), "tv")
	p.waitText("#body", "device=tv")

	// The file goes away, and comes back.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.waitText("#notes", "cannot be read any more")
	write(feedsYAML)
	p.wait(`document.querySelector("#notes").textContent === ""`)

	// The end: exit code 0, and the page says what to do.
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	p.wait(`!document.querySelector("#offline").hidden`)
}

// TestPageTakesHostileManifestsAsText shows a manifest that tries everything to become markup.
func TestPageTakesHostileManifestsAsText(t *testing.T) {
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
	p.typeInto(`document.querySelector("#address")`, serveText(t, manifest))
	p.press(kb.Enter)

	p.wait(`document.querySelectorAll("#endpoints button").length === 4`)
	p.wait(`document.querySelector("#endpoint-name").textContent === ` + text(script))
	p.wait(`document.querySelector("#feed-url").textContent.length > 100`)
	p.waitText("#feed-problem", "context key "+script)
	p.waitText("#controls", script)
	p.waitText("#context", script)
	p.wait(`document.querySelector("#findings-list").textContent.includes("<img src=x")`)
	p.typeInto(field(script), script)
	p.wait(`[...document.querySelectorAll("select option")].some((o) => o.textContent === ` + text(script) + ` && o.value === '"><b>')`)
	p.wait(field("Proto") + `.value === "polluted" && {}.polluted === undefined`)
	p.waitText("#feed-url", "__proto__=polluted")
	for _, name := range []string{"Scheme", `\u202egnp.exe\u202c ` + "\u05e9\u05dc\u05d5\u05dd", long} {
		p.click(listed(name))
		p.wait(`document.querySelector("#endpoint-name").textContent === ` + text(name))
		p.wait(`document.querySelector("#feed-problem").textContent !== ""`)
		p.click(button("Send"))
	}
	p.typeInto(`document.querySelector("#feed")`, "https://feeds.example.com/"+script)
	p.press(kb.Enter)
	p.wait(`document.querySelector("#match-result").textContent.includes("<img src=x")`)

	// It is all text: no element of its own, no script that ran, no link that leads to one.
	if got := p.eval(`[window.pwned, window.violated, document.querySelectorAll("main img, #side img, #workspace script, #controls b").length,
[...document.querySelectorAll("a")].filter((a) => !/^https?:$/.test(a.protocol)).length].join()`); got != ",,0,0" {
		t.Errorf("it became markup: %v", got)
	}
	p.expect("TrustedHTML")
	// Even a mistake in a script of the page could not make it markup.
	if got := p.eval(`(() => { try { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); return "markup"; } catch { return "refused"; } })()`); got != "refused" {
		t.Errorf("the browser lets text become markup: %v", got)
	}

	// Long texts stay inside the page, however narrow it is.
	for _, width := range []int64{320, 390, 859, 1000, 1280} {
		p.do(chromedp.EmulateViewport(width, 800))
		if got := p.eval(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre")).map((e) => e.tagName + "#" + e.id + "." + e.className).slice(0, 12).join(" ")`); got != "" {
			t.Errorf("at %d these are too wide: %v", width, got)
		}
	}
}

// TestPageIsUsableByAll checks what keyboards and screen readers need.
func TestPageIsUsableByAll(t *testing.T) {
	_, address, feed := serveControls(t)
	p := openTab(t, address)
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")

	// Every control has a name, and every id is there once.
	if got := p.eval(`[...document.querySelectorAll("input, select, button, a, [tabindex='0'], section, nav, main")].filter((e) => {
  const ids = (e.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
  const named = e.ariaLabel || e.labels?.length || ids.length && ids.every((id) => document.getElementById(id)?.textContent) || /BUTTON|A/.test(e.tagName) && e.textContent.trim();
  return e.checkVisibility() && !named;
}).map((e) => e.outerHTML).join("\n")`); got != "" {
		t.Errorf("without a name:\n%v", got)
	}
	if got := p.eval(`[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i).join()`); got != "" {
		t.Errorf("ids that are there twice: %v", got)
	}

	// All of it can be reached with Tab, in the order of the page, and shows that it has the focus.
	const order = `[...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0)`
	p.eval(`window.all = ` + order + `; window.reached = []; document.activeElement.blur(); scrollTo(0, 0)`)
	for range int(p.eval("window.all.length").(float64)) {
		p.press(kb.Tab)
		p.eval(`(() => { const e = document.activeElement; window.reached.push(e); const s = getComputedStyle(e), t = getComputedStyle(e.nextElementSibling ?? e);
  if (s.outlineStyle === "none" && t.outlineStyle === "none") (window.unseen ??= []).push(e.outerHTML); })()`)
	}
	if got := p.eval(`window.all.filter((e, i) => window.reached[i] !== e).map((e) => e.outerHTML).join("\n")`); got != "" {
		t.Errorf("not reached in order:\n%v", got)
	}
	if got := p.eval(`(window.unseen ?? []).join("\n")`); got != "" {
		t.Errorf("no visible focus:\n%v", got)
	}

	p.click(button("Copy"))
	p.waitText("#copy-url", "Copied")

	// Arrow keys in the list, Enter to choose.
	p.focus(listed("Episodes"))
	p.press(kb.ArrowDown)
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Series")
	p.wait("document.activeElement === " + listed("Series"))

	// Narrow: one column, and findings below the endpoint, for Tab as for the eye.
	p.do(chromedp.EmulateViewport(390, 844))
	p.wait(`document.querySelector("#main").compareDocumentPosition(document.querySelector("#findings")) & Node.DOCUMENT_POSITION_FOLLOWING`)
	p.wait(`document.querySelector("#main").getBoundingClientRect().width > 340 && document.documentElement.scrollWidth <= innerWidth`)
	p.do(chromedp.EmulateViewport(1280, 900))
	p.wait(`document.querySelector("#side").contains(document.querySelector("#findings"))`)
}

// TestPageOfAnotherSiteIsRefused lets a page of another origin try what it can, and a name that leads to loopback.
func TestPageOfAnotherSiteIsRefused(t *testing.T) {
	_, address := serveFile(t, feedsYAML)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><iframe name=frame></iframe>
<form action="%[1]s/api/host" method=post enctype=text/plain target=frame><input name='{"host":"evil.example","a":"' value='"}'></form>
<script type=module>
const body = JSON.stringify({ host: "evil.example" });
const tries = [
  ["/api/state", {}],
  ["/api/state", { mode: "no-cors" }],
  ["/api/host", { method: "POST", mode: "no-cors", body }],
  ["/api/host", { method: "POST", headers: { "Content-Type": "application/json" }, body }],
];
document.forms[0].submit();
const got = await Promise.all(tries.map(([path, options]) => fetch("%[1]s" + path, options).then((r) => r.text(), () => "")));
window.read = got.join("");
await import("%[1]s/studio.js").then(() => { window.read += "script"; }, () => {});
window.done = true;
</script>`, address)
	}))
	t.Cleanup(evil.Close)
	p := openTab(t, "about:blank")
	p.expect("frame-ancestors")
	p.do(chromedp.Navigate(evil.URL))
	p.wait("window.done")
	if got := p.eval("window.read"); got != "" {
		t.Errorf("another site has read %v", got)
	}
	_, state := ask(t, address+"/api/state", nil)
	if got := get(t, state, "sources", 0, "host"); got != "localhost" {
		t.Errorf("another site has set the host to %v", got)
	}

	p = openTab(t, strings.Replace(address, "127.0.0.1", rebound, 1))
	p.waitText("body", "The studio does not answer for this host.")
}
