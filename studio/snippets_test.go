package studio_test

import (
	"fmt"
	"go/parser"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"signpost/internal/testkit"
	"signpost/studio"
)

// TestSnippets runs the snippets: each sends exactly the request that the studio sends, to another server, too.
func TestSnippets(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	feeds := answerWith(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(fmt.Sprintf("%s %s|%s|%s|%s|%s|%s|%s|%s|%s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Id"), r.Header.Get("Accept"), r.Header.Get("Content-Type"),
			r.Header.Get("X-Forwarded-Host"), r.Header.Get("X-Forwarded-Proto"), r.Host, body))
	})
	here := strings.TrimPrefix(feeds.URL, "http://")
	_, address := serve(t, studio.Options{SendTo: feeds.URL})
	for send, c := range map[string]struct{ origin, want string }{
		"published": {feeds.URL, "|||" + here + "|"}, "origin": {"https://127.0.0.1", "|127.0.0.1|https|127.0.0.1|"},
	} {
		src := registered(t, address, serveText(t, `{"endpoints":{"`+c.origin+`/log":{"name":"Log","method":"post",
"mime_type":"application/json","context_obj":[{"key":"$(id)'","type":"bodyParam"},{"key":"id","type":"header","mapper":"x-id"},{"key":"token","type":"bearerHeader"}],
"modifiers":[{"id":"q","name":"Q","params":[{"key":"q","ui":{"label":"Q"},"schema":{"type":"string"}}]}]}}}`))
		in := object{"source": src["id"], "version": "v1", "endpoint": c.origin + "/log", "send": send, "to": feeds.URL,
			"modifiers": object{"q": "[a]{b}'\"$x`id`"}, "context": object{"$(id)'": plainText("`id`'\u2019\u201b"), "id": plainText("$(id)'"), "token": plainText("t")}}
		_, draft := ask(t, address+"/api/compose", in)
		expect(t, address+"/api/send", in, 200, nil)
		want := fmt.Sprint(got.Load())
		if !strings.HasSuffix(want, "|Bearer t|$(id)'|application/json, */*;q=0.1|application/json"+c.want+"{\"$(id)'\":\"`id`'\u2019\u201b\"}") {
			t.Fatalf("the studio sends %v", want)
		}
		if url := snippetOf(t, draft, "URL"); !strings.HasPrefix(url, c.origin+"/log?q=") {
			t.Errorf("the URL is %s", url)
		}
		run := func(name, want string, args ...string) {
			t.Helper()
			got.Store("")
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", name, err, out)
			}
			testkit.Equal(t, name+" sends what the studio sends", got.Load(), any(want))
		}
		run("curl", want, "sh", "-c", snippetOf(t, draft, "curl"))
		if _, err := exec.LookPath("node"); err != nil {
			t.Logf("%v: the fetch snippet was not run", err)
			continue
		}
		script := strings.Replace(snippetOf(t, draft, "fetch"), "await response.json()", "await response.text()", 1)
		run("fetch", strings.Replace(want, "|127.0.0.1|{", "|"+here+"|{", 1), "node", "--input-type=module", "-e", script) // which cannot set Host
	}
}

// TestSnippetsNotRun has the snippets of languages that are not run here. In PowerShell, any kind of single quote ends a
// string, and two of them stand for one.
func TestSnippetsNotRun(t *testing.T) {
	t.Parallel()
	_, address := serve(t, studio.Options{})
	src := registered(t, address, serveText(t, `{"endpoints":{"https://127.0.0.1/log?a=1":{"name":"Log","method":"post","mime_type":"application/json",
"context_obj":[{"key":"k","type":"bodyParam"},{"key":"c","type":"ctx","required":true},{"key":"h","type":"header","mapper":"X-H","required":true}],"modifiers":[{"id":"q","name":"Q","params":[{"key":"myctx","ui":{"label":"Q"},"schema":{"type":"string"}}]}]}}}`))
	_, draft := ask(t, address+"/api/compose", object{"source": src["id"], "version": "v1", "endpoint": "https://127.0.0.1/log?a=1",
		"send": "origin", "to": "http://localhost:3000", "modifiers": object{"myctx": "<"}, "context": object{"c": plainText("c"), "h": plainText("h"), "k": plainText("'; x \u2018\u2019\u201a\u201b $(id) `n")}})
	testkit.Equal(t, "PowerShell", snippetOf(t, draft, "PowerShell"), `Invoke-WebRequest -Uri 'http://localhost:3000/log?a=1&myctx=%3C&ctx=eyJjIjoiYyJ9' -Method 'POST' `+
		`-Headers @{ 'Host' = '127.0.0.1'; 'Accept' = 'application/json, */*;q=0.1'; 'X-Forwarded-Host' = '127.0.0.1'; 'X-Forwarded-Proto' = 'https'; 'X-H' = 'h' } `+
		"-ContentType 'application/json' -Body '{\"k\":\"''; x \u2018\u2018\u2019\u2019\u201a\u201a\u201b\u201b $(id) `n\"}'")
	text := snippetOf(t, draft, "Go")
	testkit.Equal(t, "Go", text, `req, err := http.NewRequest("POST", "http://localhost:3000/log?a=1&myctx=%3C&ctx=eyJjIjoiYyJ9", strings.NewReader("{\"k\":\"'; x ‘’‚‛ $(id) `+"`"+`n\"}"))
if err != nil {
	return err
}
req.Header.Set("Accept", "application/json, */*;q=0.1")
req.Header.Set("Content-Type", "application/json")
req.Header.Set("X-Forwarded-Host", "127.0.0.1")
req.Header.Set("X-Forwarded-Proto", "https")
req.Header.Set("X-H", "h")
req.Host = "127.0.0.1"
res, err := http.DefaultClient.Do(req)
if err != nil {
	return err
}
defer res.Body.Close()`)
	testkit.Must(parser.ParseExpr("func() error {\n" + text + "\nreturn nil\n}"))(t)
}
