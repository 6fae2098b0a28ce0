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

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost"
	"signpost/client"
	"signpost/contextkeys"
	"signpost/studio"
)

// serveFeeds starts a feed service that echoes what it was sent, and returns its port.
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
	s, address = serve(t, studio.Options{Host: "127.0.0.1", Client: client.Options{Timeout: waitTime}})
	show(s, strings.ReplaceAll(controlsYAML, "PORT", port))
	return s, address, "http://127.0.0.1:" + port + "/v1/series"
}

// listed returns an expression for an endpoint in the tree.
func listed(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#endpoints .endpoint-row")].find((b) => b.querySelector(".name").textContent === %s)`, quoteJS(name))
}

// toggle returns an expression for a choice of a toggle: "", false or true.
func toggle(key, value string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#" + CSS.escape("modifier-" + %s + "-group") + " input")].find((i) => i.value === %s)`, quoteJS(key), quoteJS(value))
}

// register opens the list of manifests and registers an address.
func (p *tab) register(address string) {
	p.t.Helper()
	if p.eval(`document.querySelector("dialog.register") === null`) == true {
		p.click(`document.querySelector("#register-button")`)
	}
	p.typeInto(`document.querySelector("#address")`, address)
	p.press(kb.Enter)
}

// TestPageFromControlsToAnswer does what a first-time visitor does.
func TestPageFromControlsToAnswer(t *testing.T) {
	t.Parallel()
	_, address, feed := serveControls(t)
	p := openTab(t, address)

	p.published()
	// Each control has its default and its placeholder; 0 and false are defaults like any other, and unset is not
	// false.
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")
	for expression, want := range map[string]any{
		field("Query") + ".type":           "text",
		field("Query") + ".placeholder":    "Title or person",
		field("Query") + ".value":          "",
		field("Page") + ".type":            "number",
		field("Page") + ".value":           "0",
		field("Page") + ".placeholder":     "From 0",
		toggle("hd", "false") + ".checked": true,
		toggle("new", "") + ".checked":     true,
		field("Sort by") + ".type":         "select-one",
		field("Sort by") + ".value":        "title",
		field("Sort by") + ".textContent":  "Not setNewest firstBy title",
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
	p.click(toggle("hd", "true"))
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&sort=title")
	p.focus(toggle("new", ""))
	p.press(kb.ArrowRight)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=false&sort=title")
	p.press(kb.ArrowRight)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=true&sort=title")
	p.focus(field("Sort by"))
	p.press(kb.ArrowUp)
	p.waitURL(feed + "/{{series_id}}/episodes?q=a%20b%26c&page=3&hd=true&new=true&sort=newest")

	// Reset restores the default, or clears the field if there is none.
	for _, label := range []string{"Reset Page", "Reset HD only", "Clear New only", "Clear Query"} {
		p.click(fmt.Sprintf(`document.querySelector('[aria-label=%s]')`, quoteJS(label)))
	}
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=newest")
	p.typeInto(field("Page"), "3")
	p.click(button("reset all"))
	p.waitURL(feed + "/{{series_id}}/episodes?page=0&hd=false&sort=title")

	// Send moves the focus to a missing value, and marks its field.
	p.wait(field("series_id") + `.ariaInvalid !== "true"`)
	p.click(button("Send"))
	p.wait("document.activeElement === " + field("series_id"))
	p.wait(field("series_id") + `.ariaInvalid === "true"`)
	p.typeInto(field("series_id"), "7/ä")
	p.waitURL(feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=title")
	p.waitText("#copy-menu", "What is missing is marked")
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.wait("document.activeElement === " + field("login.token"))
	p.waitText("#context .failure", "Fill in the required context key login.token.")
	p.wait(`document.body.innerText.split("required context key").length === 2`) // said once

	// The context key is sent under its alias, shown encoded and decoded, and masked.
	p.typeInto(field("login.token"), "s3cret")
	p.wait(field("login.token") + `.type === "password"`)
	want := feed + "/7%2F%C3%A4/episodes?page=0&hd=false&sort=title&ctx=eyJ0b2tlbiI6InMzY3JldCJ9"
	p.waitURL(want)
	p.waitText("#ctx", "eyJ0b2tlbiI6InMzY3JldCJ9")
	p.waitText("#decoded", `"token": "s3cret"`)
	if got := p.text("#feed-problem"); got != "" {
		t.Errorf("problem %q", got)
	}
	p.eval(`navigator.clipboard.writeText = (text) => { window.clip = text; return Promise.resolve(); }; 0`)
	p.click(`document.querySelector("#copy-menu summary")`)
	p.click(`document.querySelector("#copy-curl")`)
	p.wait(`window.clip === ` + quoteJS("curl -H 'Accept: application/json, */*;q=0.1' '"+want+"'"))
	p.waitText("#status", "Copied")

	// The real service responds, and the response is next to the controls, above the fold.
	p.press(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.waitText("#answer", "200")
	p.waitText("#answer .json", `"path": "/v1/series/7/ä/episodes"`)
	p.waitText("#answer .json", `"query": "hd=false\u0026page=0\u0026sort=title"`)
	p.waitText("#answer .json", `"token": "s3cret"`)
	p.wait(`(() => { const a = document.querySelector("#answer .json").getBoundingClientRect(), c = document.querySelector("#controls").getBoundingClientRect(); return a.left >= c.right && a.top < 420; })()`)

	// From now on, changes are sent automatically.
	p.typeInto(field("Page"), "4")
	p.waitText("#answer .json", `page=4`)
	p.waitText("#tab-diff", "Difference")
	p.click(`document.querySelector("#tab-diff")`)
	p.waitText("#answer .diff", "page=4")

	// Typed values survive a visit to another endpoint, and Back returns there.
	p.click(listed("Series"))
	p.waitURL(feed)
	p.waitText("#answer", "Press Send")
	p.eval("history.back()")
	p.waitURL(strings.Replace(want, "page=0", "page=4", 1))

	// A reload and a copied link show the same, but a link contains no context values.
	p.do(chromedp.Reload())
	p.waitURL(strings.Replace(want, "page=0", "page=4", 1))
	link := fmt.Sprint(p.eval("location.href"))
	if strings.Contains(link, "s3cret") || strings.Contains(link, "eyJ0") {
		t.Errorf("the link has the context value: %s", link)
	}
	other := openTab(t, link)
	other.waitURL(feed + "/7%2F%C3%A4/episodes?page=4&hd=false&sort=title")
}

func TestPageReportsFailures(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	p := openTab(t, address)
	p.waitText("#empty", "Nothing is registered yet")
	p.wait(`document.querySelector("main")`)
	p.register("http://127.0.0.1:1/v1/endpoints-manifest")
	p.waitText("#register-failure", "Nothing listens at 127.0.0.1:1.")
	for address, says := range map[string]string{
		"feeds":                  "does not start with https://",
		serveText(t, "<html>"):   "not a manifest",
		serveText(t, `{"a":{}}`): "unknown-field",
	} {
		p.register(address)
		p.waitText("#register-failure", says)
	}
	p.press(kb.Escape)
	p.wait(`!document.querySelector("dialog")`)

	// A file with errors, from the start.
	show(s, "versions: {v1: {endpoints: {https://a.example/x: {name: X, method: GET, mime_type: application/json}}}}")
	p.waitText("#endpoint-blank", "feeds.yaml has 1 error")
	p.waitText("#endpoint-blank", "Fix the problems")
	p.waitText(".service-row", "1 problem")
	p.wait(`document.querySelector("#endpoint-blank button").offsetHeight < 60`)
	p.click(`[...document.querySelectorAll(".views a")].find((a) => a.textContent.includes("Problems"))`)
	p.waitText("#problems-summary", "1 error")
	p.waitText(".text mark", "GET")
	p.eval("history.back()")

	// A feed that does not respond.
	show(s, "versions: {v1: {endpoints: {http://127.0.0.1:1/x: {name: X, method: get, mime_type: application/json}}}}")
	p.waitURL("http://127.0.0.1:1/x")
	p.waitText("#answer-facts", "sample") // a file without a running service starts with sample data
	p.published()
	p.click(button("Send"))
	p.waitText("#send-failure", "Nothing listens at 127.0.0.1:1.")
	p.waitText("#send-failure", "Start the service")
	p.click(button("Use sample data"))
	p.waitText("#answer-facts", "sample")

	// An empty manifest is not told to add something to it.
	p.register(serveText(t, `{"endpoints":{}}`))
	p.waitText("#endpoint-blank", "This manifest has no endpoints.")
}

func TestPageRegistersAndUpdates(t *testing.T) {
	t.Parallel()
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
	p.published()
	p.register(server.URL + "/v2/endpoints-manifest")
	p.waitText("#endpoint-name", "Films")
	p.waitText("#status", "Registered: 1 endpoint.")
	p.waitText("#notes", "https addresses only")
	p.waitURL("https://feeds.example.com/v2/films?limit=20")
	p.typeInto(field("token"), "s3cret")

	update := func(found string) {
		t.Helper()
		p.click(button("Update"))
		p.waitText("#status", "Updated:")
		p.waitText("#updated", found)
	}
	update("nothing has changed")
	text.Store(strings.NewReplacer(`"get"`, `"post"`, `20`, `50`).Replace(manifest))
	update("1 breaking change, 1 other")
	update("1 breaking change, 1 other") // a second update does not hide the changes that the first one found
	p.click(`[...document.querySelectorAll(".views a")].find((a) => a.textContent.includes("Changes"))`)
	p.waitText("#changes-list", `method changed from "get" to "post"`)
	p.waitText("#changes-list li", "breaking") // first
	p.waitText("#changes-list", `default changed from 20 to 50`)
	p.wait(`[...document.querySelectorAll("#changes-list button.link")].every((link) => link.firstElementChild.getBoundingClientRect().left === link.closest(".stack").getBoundingClientRect().left)`)
	p.eval("history.back()")
	p.waitText(".address-bar", "POST")
	p.wait(field("token") + `.value === "s3cret"`)
	p.waitURL("https://feeds.example.com/v2/films?limit=50&ctx=eyJ0b2tlbiI6InMzY3JldCJ9")
	p.click(`[...document.querySelectorAll(".views a")].find((a) => a.textContent.includes("Changes"))`)
	p.click(button("Accept"))
	p.waitText("#changes-none", "Nothing has changed.")

	// A feed belongs to the endpoint with the longest matching URL among all registered ones.
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(`document.querySelector("#palette")`, "https://localhost/v1/feeds/7?q=owl")
	p.waitText(".landing", "Apps send token and device.")
	p.press(kb.Enter)
	p.waitText("#endpoint-name", "Feeds")
	p.wait(field("Query") + `.value === "owl"`)

	// A value typed for one service is not used for another, and the page says why.
	p.wait(field("token") + `.value === ""`)
	p.waitText("#context", "was entered for https://feeds.example.com")

	// Remove it.
	p.service(server.URL + "/v2/endpoints-manifest")
	p.click(button("Remove"))
	p.waitText("#status", "Removed.")
	p.waitText("#endpoint-name", "Feeds")
}

// program is the real program, with a page.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
}

// startProgram runs signpost studio.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	return startProgramIn(t, "", args...)
}

// startProgramIn runs signpost studio in a directory.
func startProgramIn(t *testing.T, dir string, args ...string) *program {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"studio"}, args...)...)
	cmd.Dir = dir
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
		t.Fatalf("signpost studio printed %q: %v", line, err)
	}
	return &program{t, cmd, strings.TrimSpace(strings.TrimPrefix(line, "Studio: "))}
}

// listen returns the --listen address that restarts the program in the same place.
func (p *program) listen() string { return strings.Trim(strings.TrimPrefix(p.address, "http://"), "/") }

// stop stops the program as a terminal does.
func (p *program) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("signpost studio exited with %v", err)
	}
}

// TestPageFollowsTheFile runs the real program and changes the file on disk.
func TestPageFollowsTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(feedsYAML)
	run := startProgram(t, path, "--listen", "127.0.0.1:0", "--host", "feeds.example.com")
	p := openTab(t, run.address)
	p.published()
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.typeInto(field("Query"), "owl")
	p.typeInto(field("token"), "s3cret")
	p.waitURL("https://feeds.example.com/v1/feeds?q=owl&page=0&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.waitText(".views", "Problems1")

	// With an error, the findings say where it is, and the last good version stays.
	write(strings.Replace(feedsYAML, "mime_type: application/json\n", "mimetype: application/json\n", 1))
	p.waitText("#notes", "keeps the last valid version")
	p.waitText("#status", "feeds.yaml was saved.")
	p.wait(field("Query") + `.value === "owl"`)
	p.click(`[...document.querySelectorAll(".views a")].find((a) => a.textContent.includes("Problems"))`)
	p.waitText("#problems-list", `unknown field "mimetype"`)
	p.wait(`[...document.querySelectorAll(".text mark")].some((m) => m.textContent === "mimetype")`)
	p.wait(`document.querySelector(".findings a").href.startsWith("vscode://file/")`)
	p.eval("history.back()")

	// Fixed and changed: typed values stay if their fields still exist, and so does the focus.
	p.focus(field("Query"))
	write(strings.NewReplacer("name: Feeds\n", "name: Films\n", "defaultValue: 0", "defaultValue: 5", ", placeholder: Title", ", placeholder: Film").Replace(feedsYAML))
	p.waitText("#endpoint-name", "Films")
	p.waitURL("https://feeds.example.com/v1/feeds?q=owl&page=5&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.wait(field("Query") + `.value === "owl" && document.activeElement === ` + field("Query"))
	p.wait(field("Query") + `.placeholder === "Film"`)
	p.waitText(".views", "Changes3")

	// Another host, for the current endpoint and for values typed in others. Context values do not move to another
	// host.
	p.click(listed("Episodes"))
	p.setHost("Other.Example.com")
	p.waitURL("https://other.example.com/v1/series/{{series_id}}/episodes")
	p.click(listed("Films"))
	p.waitURL("https://other.example.com/v1/feeds?q=owl&page=5&hd=false")
	p.waitText("#context", "was entered for https://feeds.example.com")
	p.click(button("Use it here, too"))
	p.waitURL("https://other.example.com/v1/feeds?q=owl&page=5&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	for host, says := range map[string]string{"not a host": "Enter a hostname", "feeds.example.com:3000": "has a port"} {
		p.setHost(host)
		p.waitText("#deployment-failure", says)
	}
	p.choose("#version", "v2")
	p.waitText("#endpoint-name", "Log")
	p.typeInto(field("device"), "tv")
	p.waitText("#body", "device=tv")

	// The file disappears, and comes back.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.waitText("#source-failure", "cannot be read")
	p.wait(`document.querySelectorAll("#source-failure, #notes").length === 1`)
	write(feedsYAML)
	p.wait(`!document.querySelector("#source-failure")`)

	// When the studio stops, its exit status is 0, and the page says what to do.
	run.stop()
	p.waitText("#offline", "The studio has stopped.")
}
