package studio_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/internal/cli"
	"signpost/internal/testkit"
)

// waitTime is how long the page may take for anything. It is far more than necessary, for busy machines.
const waitTime = testkit.Patience

// chromium is started once for all tests, because starting it takes longer than most of them run.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

// runProgram, set in the environment, makes the test binary run the real program.
const runProgram = "SIGNPOST_STUDIO_TEST_RUN_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(runProgram) != "" {
		c := cli.CLI{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv}
		os.Exit(c.Main(os.Args[1:]))
	}
	flag.Parse()
	// Most tests wait for the browser, so more of them run side by side than there are cores.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := m.Run()
	if chromium.close != nil {
		chromium.close()
	}
	os.Exit(code)
}

// rebound is another site's name that resolves to loopback.
const rebound = "rebound.example"

// findChromium returns the path of the browser. Without one, the test is skipped.
func findChromium(t testing.TB) string {
	t.Helper()
	// The shell is the same browser without windows, which takes half the time.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testkit.Missing(t, "chromium", "THE STUDIO PAGE IN A BROWSER")
	return ""
}

func startChromium(path string) {
	dir, err := os.MkdirTemp("", "signpost-chromium-*")
	if err != nil {
		chromium.err = err
		return
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"),
		chromedp.WSURLReadTimeout(waitTime))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, cancel := chromedp.NewContext(allocator)
	chromium.ctx = ctx
	chromium.close = func() {
		cancel()
		stop()
		os.RemoveAll(dir)
	}
	chromium.err = chromedp.Do(ctx)
}

// tab is a page in a real browser.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	failures []string // exceptions, and whatever the browser blocked
	expected string   // part of messages that are not failures
}

// openTab opens a page.
func openTab(t testing.TB, address string) *tab {
	t.Helper()
	path := findChromium(t)
	chromium.once.Do(func() { startChromium(path) })
	if chromium.err != nil {
		t.Fatalf("start %s: %v", path, chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx)
	t.Cleanup(cancel)
	testkit.OK(t, chromedp.Do(ctx)) // the tab lives as long as the context of this call
	p := &tab{t: t, ctx: ctx}
	go p.listen(chromedp.Console(ctx))
	// Each tab behaves as if it had the focus, whatever other tests do beside it.
	testkit.Must(chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	p.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, failure := range p.failures {
			t.Errorf("the browser reports: %s", failure)
		}
	})
	return p
}

// listen records exceptions, and scripts and styles that the browser blocks. Requests that the server rejects are
// expected.
func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		p.mu.Lock()
		bad := m.IsException() || m.Source == "security" || strings.Contains(m.Text, "Content Security Policy")
		if bad && (p.expected == "" || !strings.Contains(m.Text, p.expected)) {
			p.failures = append(p.failures, m.String())
		}
		p.mu.Unlock()
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTime)
	defer cancel()
	testkit.OK(p.t, chromedp.Do(ctx, steps...))
}

// evaluate returns the value of a JavaScript expression.
func (p *tab) evaluate(expression string) (any, error) {
	ctx, cancel := context.WithTimeout(p.ctx, waitTime)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[any](expression))
}

// eval returns the value of an expression that must have one.
func (p *tab) eval(expression string) any {
	p.t.Helper()
	value, err := p.evaluate(expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// wait waits until an expression is true. During a reload, no expression has a value.
func (p *tab) wait(expression string) {
	p.t.Helper()
	deadline := time.Now().Add(waitTime)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 160*time.Millisecond) { // each look costs the page time, too
		value, err := p.evaluate("Boolean(" + expression + ")")
		if err == nil && value == true {
			return
		}
		if time.Now().After(deadline) {
			if err != nil {
				p.t.Fatalf("%s: %v", expression, err)
			}
			p.t.Fatalf("timed out waiting for %s; the page shows:\n%v", expression, p.eval("document.body.innerText.replace(/very-long-/g, \"\").slice(0, 3000)"))
		}
		time.Sleep(pause)
	}
}

// waitText waits for an element to have texts in it.
func (p *tab) waitText(selector string, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.wait(fmt.Sprintf("document.querySelector(%s)?.textContent.includes(%s)", quoteJS(selector), quoteJS(text)))
	}
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return fmt.Sprint(p.eval(fmt.Sprintf("document.querySelector(%s).textContent", quoteJS(selector))))
}

// quoteJS returns a value as JSON, which is JavaScript.
func quoteJS(value any) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// field returns an expression for the input with a label.
func field(label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("label")].find((l) => l.textContent === %s)?.control`, quoteJS(label))
}

// focus focuses the element that an expression returns.
func (p *tab) focus(expression string) {
	p.t.Helper()
	p.wait(expression)
	p.eval(fmt.Sprintf(`((e) => { const fold = e.closest("details:not([open])"); if (fold) fold.open = true; e.focus(); })(%s)`, expression))
}

// typeInto replaces the text of an input, key by key.
func (p *tab) typeInto(expression, text string) {
	p.t.Helper()
	p.focus(expression)
	p.eval(fmt.Sprintf("(%s).select?.()", expression))
	p.do(chromedp.KeyEvent(kb.Backspace))
	if text != "" {
		testkit.Must(chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text}))(p.t)
	}
}

// press presses keys wherever the focus is.
func (p *tab) press(keys string, options ...chromedp.KeyOption) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys, options...))
}

// click clicks on an element with the mouse. The element may move before the mouse arrives, as it may for people; then
// it tries again.
func (p *tab) click(expression string) {
	p.t.Helper()
	p.wait(expression)
	for deadline := time.Now().Add(waitTime); ; {
		at, _ := p.eval(fmt.Sprintf(`(() => {
  const e = %s;
  window.clicked = false;
  e.addEventListener("click", () => { window.clicked = true; }, {once: true, capture: true});
  e.scrollIntoView({block: "center", behavior: "instant"});
  const r = e.getBoundingClientRect();
  return [r.x + r.width / 2, r.y + r.height / 2];
})()`, expression)).([]any)
		p.do(chromedp.MouseClickXY(at[0].(float64), at[1].(float64)))
		if p.eval("window.clicked") == true {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("clicks do not reach %s", expression)
		}
	}
}

// button returns an expression for the button with a text.
func button(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("button")].find((b) => b.checkVisibility() && b.textContent.includes(%s))`, quoteJS(text))
}

// choose chooses an option of a dropdown.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%s)", quoteJS(selector)))
	p.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%s); e.value = %s; e.dispatchEvent(new Event("change", { bubbles: true })); })()`,
		quoteJS(selector), quoteJS(value)))
}

// setHost enters another host.
func (p *tab) setHost(host string) {
	p.t.Helper()
	p.typeInto(`document.querySelector("#host")`, host)
	p.press(kb.Enter)
}

// published, behind the address of the page, makes it send requests to the service itself from the start.
const published = "#/preview?send=published"

// service opens a service in the sidebar.
func (p *tab) service(id string) {
	p.t.Helper()
	p.click(fmt.Sprintf(`[...document.querySelectorAll(".service-row")].find((e) => e.dataset.source === %s)`, quoteJS(id)))
}

// waitURL waits until the feed URL is the one that is given.
func (p *tab) waitURL(url string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector('#feed-url')?.textContent === %s", quoteJS(url)))
}

// expect announces that the browser will block something, and report it with this text.
func (p *tab) expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = text
}

// element returns an expression for the element with an id.
func element(id string) string { return fmt.Sprintf("document.querySelector(%s)", quoteJS("#"+id)) }

// listed returns an expression for an endpoint in the tree.
func listed(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".endpoint-row")].find((b) => b.querySelector(".name").textContent === %s)`, quoteJS(name))
}

// toggle returns an expression for a choice of a toggle: "", false or true.
func toggle(key, value string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#" + CSS.escape("modifier-" + %s + "-group") + " input")].find((i) => i.value === %s)`, quoteJS(key), quoteJS(value))
}

// open opens an endpoint by its name.
func (p *tab) open(name string) {
	p.t.Helper()
	p.click(listed(name))
	p.waitText("#endpoint-name", name)
}

// send sends the request.
func (p *tab) send() {
	p.t.Helper()
	p.wait(`document.querySelector("#copy-URL")`) // the request is composed
	p.click(element("send"))
}

// view opens a view by its link.
func (p *tab) view(name string) {
	p.t.Helper()
	p.click(fmt.Sprintf(`document.querySelector('.views a[href^="#/%s"]')`, name))
	p.wait(fmt.Sprintf(`document.querySelector(".frame.show-%s")`, name))
}

// register registers an address.
func (p *tab) register(address string) {
	p.t.Helper()
	if p.eval(`document.querySelector("dialog.register") === null`) == true {
		p.click(element("register-button"))
	}
	p.typeInto(element("address"), address)
	p.press(kb.Enter)
}

// search enters a text into the palette.
func (p *tab) search(text string) {
	p.t.Helper()
	p.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.typeInto(element("palette"), text)
}

// emulate shows the page at a size and in a scheme: light, dark or forced.
func (p *tab) emulate(width, height int64, scale float64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "forced-colors", Value: "none"}}
	if scheme == "forced" {
		features[0].Value, features[2].Value = "light", "active"
	}
	testkit.Must(chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}))(p.t)
}
