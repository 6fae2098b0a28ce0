package studio_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/studio"
)

const manifestJSON = `{"endpoints":{"https://feeds.example.com/v1/10":{"name":"Ten","method":"get","mime_type":"application/json","context_obj":[]},
"https://feeds.example.com/v1/9":{"name":"Nine","method":"get","mime_type":"application/json","context_obj":[]}}}`

func TestRegister(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	manifest := serveText(t, manifestJSON)
	for range 2 { // which is registered once
		expect(t, address+"/api/register", object{"address": " " + manifest + " "}, 200, object{"source": manifest})
	}
	testkit.Equal(t, "sources", sourceIDs(t, address), []string{"feeds.yaml", manifest})
	testkit.Equal(t, "first endpoint of the manifest", get(t, sourceOf(t, address, manifest), "versions", 0, "endpoints", 0, "name"), any("Ten"))
	expect(t, address+"/api/remove", object{"source": manifest}, 200, nil)
	for _, route := range []string{"update", "remove"} {
		expect(t, address+"/api/"+route, object{"source": manifest}, 404, nil)
		expect(t, address+"/api/"+route, object{"source": "feeds.yaml"}, 409, nil)
	}
}

// TestRegisterSloppyManifest checks that a manifest with mistakes is shown anyway, with findings.
func TestRegisterSloppyManifest(t *testing.T) {
	t.Parallel()
	_, address := serve(t, studio.Options{})
	src := registered(t, address, serveText(t, `{"endpoints":{"https://a.example/x":{"name":"X","method":"PUT","mime_type":"",
"modifiers":[{"id":"a","name":"A","params":[{"key":"k","ui":{"label":"K"},"schema":{"type":"number","default":{"a":1}}},
{"key":"big","ui":{"label":"Big"},"schema":{"type":"number","default":12345678901234567890}},
{"key":"e","ui":{"label":"E"},"schema":{"type":"string","enum":["one","two"]}}]}]}}}`))
	if len(src["findings"].([]any)) == 0 {
		t.Fatal("no findings")
	}
	params := get(t, src, "versions", 0, "endpoints", 0, "modifiers", 0, "params")
	testkit.Equal(t, "the default does not fit the control", get(t, params, 0, "default"), nil)
	testkit.Equal(t, "large default", get(t, params, 1, "default"), "12345678901234567890")
	testkit.Equal(t, "control of an enum", get(t, params, 2, "control"), "select")
}

// TestSavedForeignManifest checks that a file with another person's manifest is read as leniently as an address.
func TestSavedForeignManifest(t *testing.T) {
	t.Parallel()
	const text = `{"endpoints":{"https://a.example/x":{"name":"X","method":"get","mime_type":"application/json","colour":"red",
"context_obj":[{"key":"k","type":"cookie"}]},"https://a.example/x/{{id}}":{"name":"Item","method":"get","mime_type":"application/json"}}}`
	s, address := serve(t, studio.Options{ReadRevision: func(context.Context, string, string) ([]byte, error) {
		return []byte(strings.Replace(text, `"X"`, `"Old X"`, 1)), nil
	}})
	s.Show(snapshotOf(file("m.json", text)))
	src := sourceOf(t, address, "m.json")
	rules := ""
	for i := range src["findings"].([]any) {
		rules += fmt.Sprintln(get(t, src, "findings", i, "severity"), get(t, src, "findings", i, "rule"))
	}
	// The endpoint with unknown parts takes part in overlap, too.
	testkit.Equal(t, "rules", rules, "warning foreign-field\nwarning foreign-type\nwarning overlap-drops-context\n")
	testkit.Equal(t, "context type", get(t, src, "versions", 0, "endpoints", 0, "context", 0, "type"), "cookie")
	testkit.Equal(t, "notes", src["notes"], []any{})
	testkit.Equal(t, "URL", get(t, src, "versions", 0, "endpoints", 1, "url"), "https://a.example/x/{{id}}")
	_, compared := ask(t, address+"/api/changes", object{"source": "m.json", "base": "git", "of": "main"})
	testkit.Equal(t, "change", get(t, compared, "changes", 0, "rule"), "name-changed")
	results, _ := check(t, address, object{"source": "m.json", "version": "", "send": "sample"})
	for name, want := range map[string]string{"cors ": "passed", "etag ": "passed", "status ": "passed", "manifest https://a.example/x": "warned"} {
		if !strings.HasPrefix(results[name], want) {
			t.Errorf("%s: %q", name, results[name])
		}
	}

	// Whatever is missing does not keep the rest from being shown.
	const bad = `{"endpoints":{"https://a.example/x":{"name":"X","mime_type":"application/json","colour":"red"}}}`
	s.Show(snapshotOf(file("bad.json", bad)))
	if src := sourceOf(t, address, "bad.json"); get(t, src, "versions", 0, "endpoints", 0, "name") != "X" || len(src["findings"].([]any)) < 2 {
		t.Errorf("source %v", src)
	}
}

func TestRegisterRejects(t *testing.T) {
	t.Parallel()
	secret := answerWith(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	moved := answerWith(t, http.RedirectHandler(secret.URL+"/v1/endpoints-manifest", http.StatusFound).ServeHTTP)
	plain := answerWith(t, http.NotFound)
	private := httptest.NewUnstartedServer(http.NotFoundHandler())
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	t.Cleanup(private.Close)
	_, address := serve(t, studio.Options{})
	for _, test := range []struct {
		address string
		status  int
		says    string
	}{
		{"", 422, "does not start with https"},
		{"file:///etc/passwd", 422, "does not start with https"},
		{"https://user:pass@a.example/v1/endpoints-manifest", 422, "user info"},
		{"https://a.example", 422, "no path"},
		{moved.URL + "/v1/endpoints-manifest", 502, "redirects"},
		{plain.URL + "/v1/endpoints-manifest", 502, "404"},
		{private.URL + "/v1/endpoints-manifest", 502, "--ca-file"},
		{serveText(t, `{"endpoints":[]}`), 502, "has no"},
		{serveText(t, strings.Repeat(" ", 17<<20)), 502, "larger than 16 MiB"},
	} {
		status, problem := ask(t, address+"/api/register", object{"address": test.address})
		if said := fmt.Sprint(problem["detail"], " ", problem["hint"]); status != test.status || !strings.Contains(said, test.says) {
			t.Errorf("%q: status %d, %s", test.address, status, said)
		}
	}
	testkit.Equal(t, "registered", len(sourceIDs(t, address)), 0)
}

// TestRegisterKeepsFailedAddresses checks that an address on the command line that fails is shown with its failure, and
// can be retried.
func TestRegisterKeepsFailedAddresses(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	const dead = "http://127.0.0.1:1/v1/endpoints-manifest"
	s.Register(t.Context(), testkit.Must(url.Parse(dead))(t))
	var src object
	testkit.Eventually(t, "the fetch fails", func() bool {
		src = sourceOf(t, address, dead)
		return src["failure"] != nil
	})
	testkit.Equal(t, "failure", get(t, src, "failure", "detail"), "Nothing listens at 127.0.0.1:1.")
	expect(t, address+"/api/update", object{"source": dead}, 502, nil)
}
