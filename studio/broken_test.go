package studio_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"signpost/client"
	"signpost/internal/testkit"
	"signpost/studio"
)

// TestPageMenuCloses opens the Copy menu, and leaves it in every way that people leave menus.
func TestPageMenuCloses(t *testing.T) {
	t.Parallel()
	p := openTab(t, serveExample(t))
	p.waitText("#answer-facts", "20 entries")
	const menu = `document.querySelector("#copy-menu")`
	leave := map[string]func(){
		"Escape":               func() { p.press(kb.Escape) },
		"a click outside":      func() { p.click(element("answer-facts")) },
		"a click into a field": func() { p.click(field("Limit")) },
		"Tab": func() {
			for range 9 { // past its items
				p.press(kb.Tab)
			}
		},
		"the summary again":  func() { p.click(menu + `.querySelector("summary")`) },
		"Escape in a field":  func() { p.eval(field("Limit") + ".focus()"); p.press(kb.Escape) },
		"another rendering":  func() { p.typeInto(field("Limit"), "7"); p.waitText("#answer-facts", "7 entries") },
		"the other endpoint": func() { p.click(listed("Kids")) },
	}
	for name, f := range leave {
		p.click(menu + `.querySelector("summary")`)
		p.wait(menu + ".open && " + element("copy-curl") + ".checkVisibility()")
		t.Log(name)
		f()
		p.wait("!" + menu + ".open")
	}
	p.click(menu + `.querySelector("summary")`)
	p.wait(menu + ".open")
	p.press(kb.Escape)
	p.wait("!" + menu + `.open && document.activeElement.matches("#copy-menu summary")`)
}

// TestPageAsksForTheToken opens a link to the page in a browser that has not been let in, then the address that was printed.
func TestPageAsksForTheToken(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{Token: "s3cret"})
	show(s, feedsYAML)
	p := openTab(t, address+"/#/problems")
	p.waitText("main", "Open the studio from your terminal", address+"/?token=…")
	p.do(chromedp.Navigate(address + "/?token=s3cret#/problems"))
	p.wait(`document.querySelector(".frame.show-problems") && location.search === ""`)
	testkit.Equal(t, "cookies that scripts see", p.eval("document.cookie"), "")
	p.do(chromedp.Reload())
	p.waitText("#problems-list", "body-param-on-get")

	// From then on, links on other sites open it.
	ticket := strings.Replace(serveText(t, "{}"), "127.0.0.1", rebound, 1)
	p.do(chromedp.Navigate(ticket))
	p.eval("location.href = " + quoteJS(address+"/#/map"))
	p.wait(`document.querySelector(".frame.show-map")`)
}

// TestPageSearchRanks looks for an endpoint among many of similar names.
func TestPageSearchRanks(t *testing.T) {
	t.Parallel()
	// The first endpoint has both words of "feed 12", though its name does not begin with them.
	_, address := serveFile(t, strings.Replace(manyYAML(300), "/section0/feed0000:", "/section12/feed0000:", 1))
	p := openTab(t, address)
	p.waitText("#endpoint-name", "Feed 0")
	for text, want := range map[string]string{"feed 12": "Feed 12", "fee 12": "Feed 12", "feed 29": "Feed 29", "las": "Last", "12 feed": "Feed 12", "problems": "View: Problems"} {
		p.search(text)
		p.wait(fmt.Sprintf(`document.querySelector("#palette-list li")?.firstElementChild?.textContent === %[1]s || document.querySelector("#palette-list li")?.textContent === %[1]s`, quoteJS(want)))
		p.press(kb.Escape)
	}
}

// TestPageSaysWhatHappens checks what is said about a request before it is sent, while it waits, and when it failed.
func TestPageSaysWhatHappens(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, "/"); path {
		case "slow":
			select {
			case <-hold:
			case <-r.Context().Done():
			}
			io.WriteString(w, `{"entry":[]}`)
		case "pictures": // on another service of this machine
			io.WriteString(w, `{"entry":[{"title":"One","image":"http://127.0.0.2:1/1.png"}]}`)
		case "latin1":
			io.WriteString(w, "{\"entry\":[{\"title\":\"Caf\xe9\"}]}")
		default:
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, map[string]string{
				"message": `{"message":"no such market"}`, "error": `{"error":"no such market"}`, "nested": `{"error":{"code":7,"message":"no such market"}}`,
				"list": `{"errors":[{"detail":"no such market"}]}`, "oauth": `{"error":"invalid_request","error_description":"no such market"}`,
			}[path])
		}
	})
	text := "versions:\n  v1:\n    endpoints:\n"
	for _, path := range []string{"message", "error", "nested", "list", "oauth", "latin1", "slow", "timeout"} {
		text += fmt.Sprintf("      %s/%s: {name: %[2]s, method: get, mime_type: application/json}\n", feeds.URL, path)
	}
	text += "      " + feeds.URL + "/keys: {name: keys, method: get, mime_type: application/json, context_obj: [{key: login.token, type: ctx, required: true}]}\n"
	const limited = "name: %s, method: get, mime_type: application/json, modifiers: [{kind: number, id: l, name: L, key: limit, label: Limit, defaultValue: %d}]}\n"
	text += fmt.Sprintf("      "+feeds.URL+"/pictures: {"+limited, "pictures", -1)
	text += fmt.Sprintf("      https://{{host}}/v1/limited: {"+limited, "limited", 20)
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/timeout" {
			return nil, context.DeadlineExceeded
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	_, address := serveFile(t, text, studio.Options{Client: client.Options{Transport: transport}})
	p := openTab(t, address+published)
	for _, name := range []string{"message", "error", "nested", "list", "oauth"} {
		p.open(name)
		p.waitURL(feeds.URL + "/" + name)
		p.send()
		p.waitText("#tab-panel .said", "no such market")
	}
	p.open("latin1")
	p.send()
	p.waitText("#cards", "Café")
	p.waitText(".notes", "not UTF-8")

	// A feed does not make this machine call another service on it, also if it is on this machine itself.
	p.open("pictures")
	p.send()
	p.waitText("#cards .failed", "but not on the host of the feed")

	// Nobody is told to allow more time, which cannot be done here.
	p.open("timeout")
	p.send()
	p.waitText("#send-failure", "Find out why the service takes so long.")

	// A request that cannot be sent does not ask for it.
	p.open("keys")
	p.waitText("#answer-blank", "This feed needs login.token")
	testkit.Equal(t, "said", strings.Contains(p.text("#answer-blank"), "Press Send"), false)
	p.click(element("fill-in"))
	p.wait("document.activeElement === " + field("login.token"))
	p.click(button("Send without the required key"))
	p.waitText("#answer-facts", "400")

	// While it waits, the page says for how long, and when it gives up.
	p.open("slow")
	p.send()
	p.waitText("#waited", fmt.Sprintf("1 s of at most %d s", int(waitTime.Seconds())))
	close(hold)
	p.waitText("#answer-facts", "200")

	// A limit below 0 is an error of the request.
	p.choose("#data", "sample")
	p.open("limited")
	p.typeInto(field("Limit"), "-1")
	p.waitText("#answer-facts", "400")
	p.waitText("#tab-panel", "Limit is -1")

	// What is no URL is told on the map.
	p.view("map")
	p.typeInto(element("feed"), "not a url")
	p.waitText("#landing", "A feed URL starts with https:// or http://.")
}
