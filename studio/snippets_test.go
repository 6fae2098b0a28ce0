package studio_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"signpost/studio"
)

// snippetRunners run the snippets as users would.
var snippetRunners = map[string]func(t *testing.T, text string) *exec.Cmd{
	"curl": func(_ *testing.T, text string) *exec.Cmd { return exec.Command("sh", "-c", text) },
	"fetch": func(_ *testing.T, text string) *exec.Cmd {
		return exec.Command("node", "--input-type=module", "-e", strings.Replace(text, "await response.json()", "await response.text()", 1))
	},
	"Go": func(t *testing.T, text string) *exec.Cmd {
		imports := `import "net/http"`
		if strings.Contains(text, "strings.") {
			imports = "import (\n\"net/http\"\n\"strings\"\n)"
		}
		path := filepath.Join(t.TempDir(), "main.go")
		program := "package main\n" + imports + "\nfunc main() {\n\tif err := call(); err != nil {\n\t\tpanic(err)\n\t}\n}\n\nfunc call() error {\n" + text + "\nreturn nil\n}\n"
		if err := os.WriteFile(path, []byte(program), 0o644); err != nil {
			t.Fatal(err)
		}
		return exec.Command("go", "run", path)
	},
}

// TestSnippets runs the snippets: each sends exactly the request that the studio sends, to another server, too.
func TestSnippets(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(fmt.Sprintf("%s %s|%s|%s|%s|%s|%s|%s", r.Method, r.URL, r.Header.Get("Accept"), r.Header.Get("Content-Type"),
			r.Header.Get("X-Forwarded-Host"), r.Header.Get("X-Forwarded-Proto"), r.Host, body))
	}))
	t.Cleanup(feeds.Close)
	_, address := serve(t, studio.Options{SendTo: feeds.URL})
	manifest := func(origin string) string {
		return `{"endpoints":{"` + origin + `/log":{"name":"Log","method":"post",
"mime_type":"application/json","context_obj":[{"key":"$(id)'","type":"bodyParam"}],
"modifiers":[{"id":"q","name":"Q","params":[{"key":"q","ui":{"label":"Q"},"schema":{"type":"string"}}]}]}}}`
	}
	for name, c := range map[string]struct{ origin, send, want string }{
		"as published":   {feeds.URL, "published", "|||" + strings.TrimPrefix(feeds.URL, "http://") + "|"},
		"another server": {"https://127.0.0.1", "origin", "|127.0.0.1|https|127.0.0.1|"},
	} {
		t.Run(name, func(t *testing.T) {
			src := registered(t, address, serveText(t, manifest(c.origin)))
			in := object{"source": src["id"], "version": "v1", "endpoint": c.origin + "/log", "send": c.send, "to": feeds.URL,
				"modifiers": object{"q": "[a]{b}'\"$x`id`"}, "context": object{"$(id)'": plainText("`id`'\u2019\u201b")}}
			_, draft := ask(t, address+"/api/compose", in)
			if status, problem := ask(t, address+"/api/send", in); status != 200 {
				t.Fatalf("status %d: %v", status, problem)
			}
			want := fmt.Sprint(got.Load())
			if !strings.HasSuffix(want, "application/json, */*;q=0.1|application/json"+c.want+"{\"$(id)'\":\"`id`'\u2019\u201b\"}") {
				t.Fatalf("the studio sends %v", want)
			}
			if url := snippetOf(t, draft, "URL"); !strings.HasPrefix(url, c.origin+"/log?q=") {
				t.Errorf("the URL is %s", url)
			}
			for name, run := range snippetRunners {
				if name == "Go" && c.send == "published" {
					continue // compiled once, with everything in it
				}
				text := snippetOf(t, draft, name)
				cmd := run(t, text)
				if cmd.Err != nil {
					t.Logf("%v: the %s snippet was not run", cmd.Err, name)
					continue
				}
				want := want
				if name == "fetch" { // fetch cannot set Host
					want = strings.Replace(want, "|127.0.0.1|{", "|"+strings.TrimPrefix(feeds.URL, "http://")+"|{", 1)
				}
				got.Store("")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", name, err, out)
				}
				if got.Load() != want {
					t.Errorf("%s sends %v, and the studio %v\n%s", name, got.Load(), want, text)
				}
			}
		})
	}
}

// TestQuotes checks the literals of snippets that no program runs here: in PowerShell, any kind of single quote ends a
// string, and two of them stand for one. In JavaScript, & is no escape.
func TestQuotes(t *testing.T) {
	t.Parallel()
	_, address := serve(t, studio.Options{})
	src := registered(t, address, serveText(t, `{"endpoints":{"https://localhost/log?a=1":{"name":"Log","method":"post","mime_type":"application/json",
"context_obj":[{"key":"k","type":"bodyParam"}],"modifiers":[{"id":"q","name":"Q","params":[{"key":"q","ui":{"label":"Q"},"schema":{"type":"string"}}]}]}}}`))
	_, draft := ask(t, address+"/api/compose", object{"source": src["id"], "version": "v1", "endpoint": "https://localhost/log?a=1",
		"modifiers": object{"q": "<"}, "context": object{"k": plainText("'; x \u2018\u2019\u201a\u201b $(id) `n")}})
	want := `Invoke-WebRequest -Uri 'https://localhost/log?a=1&q=%3C' -Method 'POST' -Headers @{ 'Accept' = 'application/json, */*;q=0.1' } -ContentType 'application/json' ` +
		"-Body '{\"k\":\"''; x \u2018\u2018\u2019\u2019\u201a\u201a\u201b\u201b $(id) `n\"}'"
	if got := snippetOf(t, draft, "PowerShell"); got != want {
		t.Errorf("PowerShell is\n%s\nwant\n%s", got, want)
	}
	if got := snippetOf(t, draft, "fetch"); !strings.Contains(got, `fetch("https://localhost/log?a=1&q=%3C", {`) {
		t.Errorf("fetch is %s", got)
	}
}
