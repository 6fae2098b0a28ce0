package studio_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"signpost/contextkeys"
	"signpost/internal/testkit"
)

// startProgram runs signpost studio on a file, and returns the address that it prints.
func startProgram(t testing.TB, listen, path string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"studio", filepath.Base(path), "--listen", listen}, args...)...)
	cmd.Dir = filepath.Dir(path)
	cmd.Env = append(os.Environ(), runProgram+"=1", "XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(path), ".config"))
	p := testkit.Start(t, listen, cmd)
	testkit.Eventually(t, "the address is printed", func() bool {
		_, printed, _ := strings.Cut(p.Log.String(), "Studio: ")
		address, _, _ = strings.Cut(printed, "\n")
		return address != ""
	})
	return address, func() {
		t.Helper()
		testkit.OK(t, p.Process.Signal(syscall.SIGTERM)) // as a terminal does
		<-p.Done
		testkit.Equal(t, "exit status", p.ProcessState.ExitCode(), 0)
	}
}

// writeFile writes a definition, and returns a function that changes it.
func writeFile(t testing.TB, text string) (path string, write func(text string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "feeds.yaml")
	write = func(text string) {
		t.Helper()
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o640))
	}
	write(text)
	return path, write
}

// lineOf returns the number of the first line with a part.
func lineOf(text, part string) int {
	before, _, _ := strings.Cut(text, part)
	return 1 + strings.Count(before, "\n")
}

// TestPageFollowsTheFile runs the real program and changes the file on disk.
func TestPageFollowsTheFile(t *testing.T) {
	t.Parallel()
	path, write := writeFile(t, feedsYAML)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", filepath.Dir(path)}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	listen := testkit.FreeAddress(t)
	address, stop := startProgram(t, listen, path, "--host", "feeds.example.com")
	p := openTab(t, address+published)
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.typeInto(field("Query"), "owl")
	p.typeInto(field("token"), "s3cret")
	p.waitURL("https://feeds.example.com/v1/feeds?q=owl&page=0&hd=false&ctx=eyJ0IjoiczNjcmV0In0")
	p.waitText(".views", "Problems1")

	// With a syntax error, the last good version stays.
	write("versions: [")
	p.waitText("#notes", "keeps the last valid version")
	p.waitText("#status", "feeds.yaml was saved.")

	// With another error, the page shows what can be read of the new version. The findings are at its controls, and their lines
	// open the source there.
	write(strings.NewReplacer("name: Feeds\n", "name: Reels\n", "kind: text, id: q", "kind: txt, id: q").Replace(feedsYAML))
	p.waitText("#notes", "would not be served")
	p.waitText("#endpoint-name", "Reels")
	const line = `[...document.querySelectorAll("#controls .failure")].find((f) => f.textContent.includes('"txt"')).querySelector("a")`
	p.wait(fmt.Sprintf("decodeURI(%s.href).startsWith(%s)", line, quoteJS(fmt.Sprintf("vscode://file%s:%d:", path, lineOf(feedsYAML, "kind: text, id: q")))))

	write(strings.Replace(feedsYAML, "mime_type: application/json\n", "mimetype: application/json\n", 1))
	p.waitText("#endpoint-name", "Feeds")
	p.waitText(".pane.endpoint .failure", `unknown field "mimetype"`)
	p.wait(field("Query") + `.value === "owl"`)
	p.view("problems")
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

	// The changes since a commit.
	p.view("changes")
	p.choose("#base", "git")
	p.typeInto(element("revision"), "nothing")
	p.press(kb.Enter)
	p.waitText("#changes-failure", "nothing")
	p.typeInto(element("revision"), "HEAD")
	p.press(kb.Enter)
	p.waitText("#changes-list", "default changed from 0 to 5")
	p.view("preview")

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
	testkit.OK(t, os.Remove(path))
	p.waitText("#source-failure", "cannot be read")
	p.wait(`document.querySelectorAll("#source-failure, #notes").length === 1`)
	broken := strings.Replace(feedsYAML, "method: get\n", "method: GET # as in HTTP\n", 1)
	write(broken)
	p.wait(`!document.querySelector("#source-failure")`)

	// A fix goes into the file.
	p.view("problems")
	p.waitText("#problems-list", `method "GET"`)
	p.click(button("Apply"))
	p.wait(`!document.querySelector("#problems-list").textContent.includes("GET")`)
	testkit.Equal(t, "fixed file", testkit.Read(t, path), strings.Replace(broken, "GET", "get", 1))
	testkit.Equal(t, "mode of the file", testkit.Must(os.Stat(path))(t).Mode().Perm(), os.FileMode(0o640))
	stop()
}

// TestPageSurvivesARestart stops the program while somebody types, and starts it again.
func TestPageSurvivesARestart(t *testing.T) {
	t.Parallel()
	manifest := serveText(t, strings.ReplaceAll(manifestJSON, `"context_obj":[]`,
		`"modifiers":[{"id":"l","name":"Limit","params":[{"key":"limit","ui":{"label":"Limit"},"schema":{"type":"number","default":20}}]}]`))
	path, write := writeFile(t, feedsYAML)
	listen := testkit.FreeAddress(t)
	address, stop := startProgram(t, listen, path)
	p := openTab(t, address+published)
	p.waitText("#endpoint-name", "Feeds")
	p.setHost("feeds.example.com")
	p.waitURL("https://feeds.example.com/v1/feeds?page=0&hd=false")
	p.click(button("geo-restriction"))
	p.waitText("#context", "signedDeviceInfoToken")
	p.register(manifest)
	p.waitText("#endpoint-name", "Ten")
	p.waitURL("https://feeds.example.com/v1/10?limit=20")
	write(strings.Replace(feedsYAML, "defaultValue: 0", "defaultValue: 7", 1))
	p.waitText("#status", "was saved")

	stop()
	p.waitText("#offline", "The studio has stopped.")
	p.typeInto(field("Limit"), "77")
	p.waitText("#feed-problem", "out of date")
	p.search("https://localhost/v1/feeds") // nothing throws
	p.press(kb.Escape)
	p.wait(`document.querySelector("#send").ariaDisabled === "true"`)
	p.wait(`document.querySelector("#offline").getBoundingClientRect().bottom < innerHeight`)
	_, stop = startProgram(t, listen, path)
	p.wait(`!document.querySelector("#offline")`)
	p.waitText("#endpoint-name", "Ten")
	p.waitURL("https://feeds.example.com/v1/10?limit=77")
	p.wait(field("Limit") + `.value === "77"`)

	// The deployment settings survive, too.
	p.service("feeds.yaml")
	p.waitURL("https://feeds.example.com/v1/feeds?page=7&hd=false")
	p.waitText("#context", "signedDeviceInfoToken")
	stop()
}

// TestPageChecksWithWhatIsFilledIn runs the checks of the real program with values.
func TestPageChecksWithWhatIsFilledIn(t *testing.T) {
	t.Parallel()
	service := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "private")
		switch r.URL.Path {
		case "/v1/shows":
			fmt.Fprint(w, `{"entry":[{"link":"https://feeds.example.com/v1/series/7"}]}`)
		case "/v1/media":
			values, _ := contextkeys.Decode(r.URL.Query().Get("ctx"))
			token, _ := values.Text("token")
			profile, _ := values.JSON("profile")
			if token != "s3cret" || string(profile) != `{"id":7}` {
				w.WriteHeader(http.StatusUnauthorized)
			}
			fmt.Fprint(w, `{"entry":[]}`)
		default:
			fmt.Fprint(w, `{"entry":7}`)
		}
	})
	text := `versions: {v1: {endpoints: {
  "https://{{host}}/v1/shows": {name: Shows, method: get, mime_type: application/json},
  "https://{{host}}/v1/series/{{id}}": {name: Series, method: get, mime_type: application/json},
  "https://{{host}}/v1/media": {name: Media, method: get, mime_type: application/json, context_obj: [{key: token, type: ctx, required: true}, {key: profile, type: ctx}]}}}, v2: {endpoints: {
  "https://{{host}}/v2/a": {name: A, method: post, mime_type: application/json, context_obj: [{key: k, type: ctx}]},
  "https://{{host}}/v2/a/b": {name: B, method: post, mime_type: application/json}}}}`
	path, write := writeFile(t, text)
	listen := testkit.FreeAddress(t)
	address, stop := startProgram(t, listen, path, "--host", "feeds.example.com", "--send-to", service.URL)
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Shows")
	row := func(status, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#results li")].some((l) => l.querySelector(".badge").textContent === %s && l.innerText.replace(/\s+/g, " ").includes(%s))`, quoteJS(status), quoteJS(text))
	}
	runChecks := func() {
		p.click(element("run-check"))
		p.waitText("#check-status", "passed")
	}
	p.view("check")
	p.waitText(".view-head", "calls its feeds on "+service.URL)
	runChecks()
	p.wait(row("passed", `probe 200 OK, application/json; reached as "https://feeds.example.com/v1/series/7"`)) // by a link
	p.wait(row("skipped", "probe it needs a value for token"))

	p.view("preview")
	p.open("Media")
	p.typeInto(field("token"), "s3cret")
	p.eval(`(() => { const type = document.querySelector("[aria-label='Type of profile']"); type.value = "json"; type.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.typeInto(field("profile"), `{"id":7}`)
	p.waitText("#decoded", `"id": 7`)
	p.view("check")
	runChecks()
	p.wait(row("passed", "https://feeds.example.com/v1/media"))
	if got := p.text("#results"); strings.Contains(got, "s3cret") || strings.Contains(got, "eyJ0b2tlbiI6") {
		t.Error("the results have a context value")
	}

	// A run is that of a version, and one with warnings is not marked as fine.
	badge := `document.querySelector('.views a[href^="#/check"] .badge')`
	p.wait(badge)
	p.choose("#version", "v2")
	p.wait("!" + badge)
	runChecks()
	p.waitText("#check-status", "2 warned") // an overlap, and no endpoint that can be called
	p.wait(badge + `.textContent === "2"`)

	// What has changed since, or could not be checked, is not marked.
	write(strings.Replace(text, "name: B, method: post", "name: B, method: POST", 1))
	p.waitText(".view-head", "not the current state")
	p.wait("!" + badge)
	p.click(element("run-check"))
	p.waitText("#check-failure", "fix the errors first")
	p.wait("!" + badge)
	stop()
}
