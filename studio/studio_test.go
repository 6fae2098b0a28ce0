package studio_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"signpost/client"
	"signpost/definition"
	"signpost/studio"
)

// serve starts a studio on loopback.
func serve(t *testing.T, opts studio.Options) (*studio.Studio, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	opts.Listen = server.Listener.Addr().(*net.TCPAddr).AddrPort()
	s, err := studio.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = s
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s, server.URL
}

// serveExample starts one that shows the built-in example.
func serveExample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../internal/cli/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, address := serve(t, studio.Options{Example: true})
	s.SetFile(definition.Parse("example.yaml", text))
	return address
}

// serveFile starts one that shows a definition.
func serveFile(t *testing.T, text string) (*studio.Studio, string) {
	t.Helper()
	s, address := serve(t, studio.Options{Client: client.Options{Timeout: 5 * time.Second}})
	s.SetFile(definition.Parse("feeds.yaml", []byte(text)))
	return s, address
}

// serveText starts a server that answers with a text, and returns the address of a manifest on it.
func serveText(t *testing.T, text string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Signpost-Revision", "0123456789abcdef")
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1/endpoints-manifest"
}

// object is any JSON object.
type object = map[string]any

// ask sends a request as the page does, and returns status and answer.
func ask(t *testing.T, address string, body any) (int, object) {
	t.Helper()
	var res *http.Response
	var err error
	if body == nil {
		res, err = http.Get(address)
	} else {
		text, marshalErr := json.Marshal(body)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		res, err = http.Post(address, "application/json", bytes.NewReader(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out object
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	want := "application/json"
	if res.StatusCode >= 400 {
		want = "application/problem+json"
		if out["detail"] == "" || out["title"] != http.StatusText(res.StatusCode) {
			t.Errorf("%s: problem %v", address, out)
		}
	}
	if got := res.Header.Get("Content-Type"); got != want {
		t.Errorf("%s: content type %q, not %q", address, got, want)
	}
	return res.StatusCode, out
}

// get returns a value deep inside an answer.
func get(t *testing.T, from any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case int:
			list, _ := from.([]any)
			if step >= len(list) {
				t.Fatalf("there is no %v", path[:i+1])
			}
			from = list[step]
		case string:
			from = from.(object)[step]
		}
	}
	return from
}

const feedsYAML = `
service: Feeds
base_path: /films
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds:
        name: Feeds
        method: get
        mime_type: application/json
        context_obj:
          - {key: token, type: ctx, required: true, mapper: t}
          - {key: device, type: bodyParam}
        modifiers:
          - {kind: text, id: q, name: Search, key: q, label: Query, placeholder: Title}
          - {kind: number, id: page, name: Page, key: page, label: Page, defaultValue: 0}
          - {kind: boolean, id: hd, name: HD, key: hd, label: HD, defaultValue: false}
          - {kind: select, id: sort, name: Sort, key: sort, label: Sort, options: [{value: new, label: New}, {value: old, label: Old}]}
      https://{{host}}/v1/series/{{series_id}}/episodes: {name: Episodes, method: get, mime_type: application/json}
      https://ratings.example.org/titles: {name: Ratings, method: get, mime_type: application/json}
  v2:
    endpoints:
      https://{{host}}/v2/log:
        name: Log
        method: post
        mime_type: application/x-www-form-urlencoded
        context_obj: [{key: device, type: bodyParam, required: true}]
`

func TestNewRefuses(t *testing.T) {
	for _, listen := range []string{"192.0.2.1:80", "0.0.0.0:8079", "[::]:8079"} {
		if _, err := studio.New(studio.Options{Listen: netip.MustParseAddrPort(listen)}); err == nil {
			t.Errorf("a studio on %s is made", listen)
		}
	}
	if _, err := studio.New(studio.Options{}); err == nil {
		t.Error("a studio without an address is made")
	}
	if _, err := studio.New(studio.Options{Listen: netip.MustParseAddrPort("127.0.0.1:1"), Host: "a b"}); err == nil {
		t.Error("a studio with a bad host is made")
	}
}

func TestStateShowsTheFile(t *testing.T) {
	_, address := serveFile(t, feedsYAML)
	status, state := ask(t, address+"/api/state", nil)
	if status != 200 {
		t.Fatalf("status %d", status)
	}
	file := get(t, state, "sources", 0).(object)
	for key, want := range map[string]any{"id": "file", "kind": "file", "name": "feeds.yaml", "title": "Feeds", "host": "localhost", "host_open": true, "stale": false} {
		if file[key] != want {
			t.Errorf("%s is %v, not %v", key, file[key], want)
		}
	}
	feeds := get(t, file, "versions", 0, "endpoints", 0).(object)
	if feeds["url"] != "https://localhost/v1/feeds" || feeds["foreign"] != false {
		t.Errorf("endpoint %v", feeds)
	}
	want := []any{
		object{"key": "q", "label": "Query", "placeholder": "Title", "control": "text", "options": []any{}, "default": nil},
		object{"key": "page", "label": "Page", "placeholder": "", "control": "number", "options": []any{}, "default": "0"},
		object{"key": "hd", "label": "HD", "placeholder": "", "control": "toggle", "options": []any{}, "default": "false"},
		object{"key": "sort", "label": "Sort", "placeholder": "", "control": "select", "default": nil,
			"options": []any{object{"value": "new", "label": "New"}, object{"value": "old", "label": "Old"}}},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, get(t, feeds, "modifiers", i, "params", 0)); diff != "" {
			t.Errorf("modifier %d (-want +got):\n%s", i, diff)
		}
	}
	wantContext := []any{
		object{"key": "token", "type": "ctx", "required": true, "sent_as": "t", "sent": true},
		object{"key": "device", "type": "bodyParam", "required": false, "sent_as": "device", "sent": false},
	}
	if diff := cmp.Diff(wantContext, feeds["context"]); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if got := get(t, file, "versions", 0, "endpoints", 1, "placeholders"); !cmp.Equal(got, []any{"series_id"}) {
		t.Errorf("placeholders %v", got)
	}
	if get(t, file, "versions", 0, "endpoints", 2, "foreign") != true {
		t.Error("a third party's endpoint is not marked")
	}
	if got := get(t, file, "findings", 0, "rule"); got != "body-param-on-get" {
		t.Errorf("finding %v", got)
	}
}

func TestManifestOfTheFileIsServed(t *testing.T) {
	_, address := serveFile(t, feedsYAML)
	ask(t, address+"/api/host", object{"host": "feeds.example.com"})
	status, manifest := ask(t, address+"/films/v2/endpoints-manifest", nil)
	if status != 200 || get(t, manifest, "endpoints", "https://feeds.example.com/v2/log", "name") != "Log" {
		t.Errorf("status %d, manifest %v", status, manifest)
	}
	if status, _ := ask(t, address+"/v2/endpoints-manifest", nil); status != 404 {
		t.Errorf("status %d outside the base path", status)
	}
}

func TestFileChanges(t *testing.T) {
	s, address := serveFile(t, feedsYAML)
	file := func() object {
		_, state := ask(t, address+"/api/state", nil)
		return get(t, state, "sources", 0).(object)
	}
	if got := file()["changes"]; !cmp.Equal(got, []any{}) {
		t.Errorf("changes at first: %v", got)
	}

	// A bad text leaves the last good one, with findings that say where.
	s.SetFile(definition.Parse("feeds.yaml", []byte(strings.Replace(feedsYAML, "method: get\n", "method: GET\n", 1))))
	bad := file()
	if bad["stale"] != true || get(t, bad, "versions", 0, "endpoints", 0, "method") != "get" {
		t.Errorf("after an error: stale %v", bad["stale"])
	}
	finding := get(t, bad, "findings", 0).(object)
	want := object{"rule": "method", "severity": "error", "message": `method "GET" is not "get" or "post"`, "file": "feeds.yaml",
		"line": 9.0, "column": 17.0, "hint": "write it in lower case: get", "text": "method: GET", "at": 8.0, "width": 3.0}
	if diff := cmp.Diff(want, finding); diff != "" {
		t.Errorf("finding (-want +got):\n%s", diff)
	}

	// A good one takes over, and what it changes is told.
	s.SetFile(definition.Parse("feeds.yaml", []byte(strings.Replace(feedsYAML, "defaultValue: 0", "defaultValue: 1", 1))))
	good := file()
	if good["stale"] != false || get(t, good, "changes", 0, "rule") != "default-changed" {
		t.Errorf("after a change: %v", good["changes"])
	}

	s.SetFileError(fmt.Errorf("it is gone"))
	if notes := fmt.Sprint(file()["notes"]); !strings.Contains(notes, "it is gone") {
		t.Errorf("notes %s", notes)
	}
	s.SetFile(definition.Parse("feeds.yaml", []byte(feedsYAML)))
	if notes := file()["notes"]; !cmp.Equal(notes, []any{}) {
		t.Errorf("notes %v", notes)
	}
}

func TestFileThatIsBadFromTheStart(t *testing.T) {
	s, address := serveFile(t, "versions: [")
	_, state := ask(t, address+"/api/state", nil)
	if file := get(t, state, "sources", 0).(object); !cmp.Equal(file["versions"], []any{}) || len(file["findings"].([]any)) == 0 {
		t.Errorf("file %v", file)
	}
	ask(t, address+"/api/host", object{"host": "feeds.example.com"})
	s.SetFile(definition.Parse("feeds.yaml", []byte(feedsYAML)))
	_, state = ask(t, address+"/api/state", nil)
	if got := get(t, state, "sources", 0, "versions", 0, "endpoints", 0, "url"); got != "https://feeds.example.com/v1/feeds" {
		t.Errorf("URL %v", got)
	}
}

func TestFeatures(t *testing.T) {
	s, address := serve(t, studio.Options{Features: []string{"geo-restriction", "of another file"}})
	s.SetFile(definition.Parse("feeds.yaml", []byte(feedsYAML)))
	_, state := ask(t, address+"/api/state", nil)
	if got := get(t, state, "sources", 0, "versions", 0, "endpoints", 1, "context", 0, "key"); got != "signedDeviceInfoToken" {
		t.Errorf("context key %v", got)
	}
}

func TestHost(t *testing.T) {
	s, address := serve(t, studio.Options{})
	if status, _ := ask(t, address+"/api/host", object{"host": "a"}); status != 404 {
		t.Errorf("status %d without a file", status)
	}
	s.SetFile(definition.Parse("feeds.yaml", []byte(feedsYAML)))
	status, file := ask(t, address+"/api/host", object{"host": " Feeds.Example.com "})
	if status != 200 || file["host"] != "feeds.example.com" {
		t.Errorf("status %d, host %v", status, file["host"])
	}
	for _, host := range []string{"a b", "a/b", "", "a:80"} {
		if status, _ := ask(t, address+"/api/host", object{"host": host}); status != 422 {
			t.Errorf("host %q: status %d", host, status)
		}
	}
}

const manifestJSON = `{"endpoints":{"https://feeds.example.com/v1/10":{"name":"Ten","method":"get","mime_type":"application/json","context_obj":[]},
"https://feeds.example.com/v1/9":{"name":"Nine","method":"get","mime_type":"application/json","context_obj":[]}}}`

func TestRegister(t *testing.T) {
	_, address := serve(t, studio.Options{})
	manifest := serveText(t, manifestJSON)
	status, src := ask(t, address+"/api/register", object{"address": " " + manifest + " "})
	if status != 200 || src["kind"] != "address" || src["name"] != manifest {
		t.Fatalf("status %d: %v", status, src)
	}
	if got := get(t, src, "versions", 0, "name"); got != "v1" {
		t.Errorf("version %v", got)
	}
	if got := get(t, src, "versions", 0, "revision"); got != "0123456789abcdef" {
		t.Errorf("revision %v", got)
	}
	if get(t, src, "versions", 0, "endpoints", 0, "name") != "Ten" || get(t, src, "versions", 0, "endpoints", 1, "name") != "Nine" {
		t.Error("endpoints are not in the order of the manifest")
	}
	if !strings.Contains(fmt.Sprint(src["notes"]), "https") {
		t.Errorf("notes %v", src["notes"])
	}
	_, again := ask(t, address+"/api/register", object{"address": manifest})
	if again["id"] != src["id"] {
		t.Error("the same address is registered twice")
	}
	if status, _ := ask(t, address+"/api/remove", object{"source": src["id"]}); status != 200 {
		t.Errorf("remove: status %d", status)
	}
	for _, route := range []string{"update", "remove"} {
		if status, _ := ask(t, address+"/api/"+route, object{"source": src["id"]}); status != 404 {
			t.Errorf("%s what is gone: status %d", route, status)
		}
	}
	_, state := ask(t, address+"/api/state", nil)
	if !cmp.Equal(state["sources"], []any{}) {
		t.Errorf("sources %v", state["sources"])
	}
}

// A manifest of somebody else may have mistakes in it. It is shown all the same, with findings.
func TestRegisterSloppyManifest(t *testing.T) {
	_, address := serve(t, studio.Options{})
	status, src := ask(t, address+"/api/register", object{"address": serveText(t, `{"endpoints":{"https://a.example/x":{"name":"X","method":"PUT","mime_type":"",
"modifiers":[{"id":"a","name":"A","params":[{"key":"k","ui":{"label":"K"},"schema":{"type":"number","default":{"a":1}}},
{"key":"big","ui":{"label":"Big"},"schema":{"type":"number","default":12345678901234567890}},
{"key":"e","ui":{"label":"E"},"schema":{"type":"string","enum":["one","two"]}}]}]}}}`)})
	if status != 200 || len(src["findings"].([]any)) == 0 {
		t.Fatalf("status %d, findings %v", status, src["findings"])
	}
	params := get(t, src, "versions", 0, "endpoints", 0, "modifiers", 0, "params")
	if got := get(t, params, 0, "default"); got != nil {
		t.Errorf("a default that no control can have: %v", got)
	}
	if got := get(t, params, 1, "default"); got != "12345678901234567890" {
		t.Errorf("a large default: %v", got)
	}
	if get(t, params, 2, "control") != "select" {
		t.Error("an enum is no dropdown")
	}
}

func TestRegisterRefuses(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(secret.Close)
	moved := httptest.NewServer(http.RedirectHandler(secret.URL+"/v1/endpoints-manifest", http.StatusFound))
	t.Cleanup(moved.Close)
	private := httptest.NewUnstartedServer(http.NotFoundHandler())
	private.Config.ErrorLog = log.New(io.Discard, "", 0)
	private.StartTLS()
	t.Cleanup(private.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	_, hasty := serve(t, studio.Options{Client: client.Options{Timeout: 100 * time.Millisecond}})
	if status, problem := ask(t, hasty+"/api/register", object{"address": slow.URL + "/v1/endpoints-manifest"}); status != 502 || !strings.Contains(fmt.Sprint(problem["hint"]), "takes so long") {
		t.Errorf("a service that hangs: status %d, %v", status, problem)
	}
	_, address := serve(t, studio.Options{})
	for _, test := range []struct {
		address string
		status  int
		says    string
	}{
		{"", 422, "does not start with https"},
		{"file:///etc/passwd", 422, "does not start with https"},
		{"javascript:alert(1)", 422, "does not start with https"},
		{"ftp://a.example/v1/endpoints-manifest", 422, "does not start with https"},
		{"https://user:pass@a.example/v1/endpoints-manifest", 422, "user info"},
		{"https://a.example", 422, "no path"},
		{moved.URL + "/v1/endpoints-manifest", 502, "redirects"},
		{plain.URL + "/v1/endpoints-manifest", 502, "404"},
		{"http://127.0.0.1:1/v1/endpoints-manifest", 502, "Nothing listens at"},
		{"https://nowhere.invalid/v1/endpoints-manifest", 502, ""},
		{private.URL + "/v1/endpoints-manifest", 502, "--ca-file"},
		{strings.Replace(plain.URL, "http:", "https:", 1) + "/v1/endpoints-manifest", 502, "does not speak TLS"},
		{serveText(t, "<html>"), 502, "not a manifest"},
		{serveText(t, `{"endpoints":[]}`), 502, "not a manifest"},
		{serveText(t, strings.Repeat(" ", 17<<20)), 502, "larger than 16 MiB"},
	} {
		status, problem := ask(t, address+"/api/register", object{"address": test.address})
		if said := fmt.Sprint(problem["detail"], " ", problem["hint"]); status != test.status || !strings.Contains(said, test.says) {
			t.Errorf("%q: status %d, %s", test.address, status, said)
		}
	}
	_, state := ask(t, address+"/api/state", nil)
	if !cmp.Equal(state["sources"], []any{}) {
		t.Errorf("something is registered: %v", state["sources"])
	}
}

func TestUpdateTellsWhatHasChanged(t *testing.T) {
	var text atomic.Value
	text.Store(manifestJSON)
	manifest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text.Load().(string)) }))
	t.Cleanup(manifest.Close)
	_, address := serveFile(t, feedsYAML)
	_, src := ask(t, address+"/api/register", object{"address": manifest.URL + "/v1/endpoints-manifest"})
	update := func() (int, object) { return ask(t, address+"/api/update", object{"source": src["id"]}) }

	if _, same := update(); !cmp.Equal(same["changes"], []any{}) {
		t.Errorf("changes %v", same["changes"])
	}
	text.Store(strings.Replace(manifestJSON, `"get"`, `"post"`, 1))
	if _, changed := update(); get(t, changed, "changes", 0, "level") != "breaking" || get(t, changed, "changes", 0, "rule") != "method-changed" {
		t.Errorf("changes %v", changed["changes"])
	}
	text.Store("{")
	if status, _ := update(); status != 502 {
		t.Errorf("status %d for a manifest that is broken now", status)
	}
	_, state := ask(t, address+"/api/state", nil)
	if get(t, state, "sources", 1, "versions", 0, "endpoints", 0, "method") != "post" {
		t.Error("a failed update has changed something")
	}
	if status, _ := ask(t, address+"/api/update", object{"source": "file"}); status != 409 {
		t.Errorf("status %d for the file", status)
	}
}

func TestStartAddress(t *testing.T) {
	manifest := serveText(t, manifestJSON)
	_, address := serve(t, studio.Options{Address: manifest})
	if _, state := ask(t, address+"/api/state", nil); state["start"] != manifest {
		t.Errorf("start %v", state["start"])
	}
	ask(t, address+"/api/register", object{"address": manifest})
	if _, state := ask(t, address+"/api/state", nil); state["start"] != "" {
		t.Errorf("start %v, which is registered", state["start"])
	}
}

func TestCompose(t *testing.T) {
	_, address := serveFile(t, feedsYAML)
	compose := func(version, endpoint string, params, modifiers, context object) object {
		t.Helper()
		status, draft := ask(t, address+"/api/compose", object{"source": "file", "version": version, "endpoint": endpoint,
			"params": params, "modifiers": modifiers, "context": context})
		if status != 200 {
			t.Fatalf("status %d: %v", status, draft)
		}
		return draft
	}
	expect := func(draft object, want object) {
		t.Helper()
		for key, value := range want {
			if diff := cmp.Diff(value, draft[key]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", key, diff)
			}
		}
	}

	expect(compose("v1", "https://localhost/v1/feeds", nil, object{"q": "a b&c", "page": "0", "hd": "false", "sort": "old"}, object{"token": "s3cret"}), object{
		"method":   "GET",
		"url":      "https://localhost/v1/feeds?q=a%20b%26c&page=0&hd=false&sort=old&ctx=eyJ0IjoiczNjcmV0In0",
		"ctx":      "eyJ0IjoiczNjcmV0In0",
		"decoded":  "{\n  \"t\": \"s3cret\"\n}",
		"curl":     "curl 'https://localhost/v1/feeds?q=a%20b%26c&page=0&hd=false&sort=old&ctx=eyJ0IjoiczNjcmV0In0'",
		"problems": []any{},
	})
	// What is missing or wrong is said, and the rest is composed.
	expect(compose("v1", "https://localhost/v1/feeds", nil, object{"page": "x", "hd": "maybe", "sort": "best", "q": "'"}, nil), object{
		"url":  "https://localhost/v1/feeds?q=%27",
		"ctx":  "",
		"curl": "curl 'https://localhost/v1/feeds?q=%27'",
		"problems": []any{
			object{"field": "modifier:page", "message": `Modifier "page" takes a number, not "x".`},
			object{"field": "modifier:hd", "message": `Modifier "hd" takes true or false, not "maybe".`},
			object{"field": "modifier:sort", "message": `Modifier "sort" takes one of ["new" "old"], not "best".`},
			object{"field": "context:token", "message": "Fill in the context key token, which is required."},
		},
	})
	// What the endpoint does not know, such as a modifier that is gone, is left out.
	expect(compose("v1", "https://ratings.example.org/titles", nil, object{"gone": "1"}, object{"gone": "1"}), object{
		"url": "https://ratings.example.org/titles", "problems": []any{},
	})
	expect(compose("v1", "https://localhost/v1/series/{{series_id}}/episodes", nil, nil, nil), object{
		"url":      "https://localhost/v1/series/{{series_id}}/episodes",
		"curl":     "curl --globoff 'https://localhost/v1/series/{{series_id}}/episodes'",
		"problems": []any{object{"field": "param:series_id", "message": "Fill in series_id."}},
	})
	expect(compose("v1", "https://localhost/v1/series/{{series_id}}/episodes", object{"series_id": "a/b c"}, nil, nil), object{
		"url": "https://localhost/v1/series/a%2Fb%20c/episodes", "problems": []any{},
	})
	expect(compose("v2", "https://localhost/v2/log", nil, nil, object{"device": "it's & more"}), object{
		"method": "POST", "url": "https://localhost/v2/log", "body": "device=it%27s+%26+more", "body_type": "application/x-www-form-urlencoded",
		"curl": "curl -X POST -H 'Content-Type: application/x-www-form-urlencoded' --data-raw 'device=it%27s+%26+more' 'https://localhost/v2/log'",
	})

	for name, in := range map[string]object{
		"source":   {"source": "7", "version": "v1", "endpoint": "https://localhost/v1/feeds"},
		"version":  {"source": "file", "version": "v2", "endpoint": "https://localhost/v1/feeds"},
		"endpoint": {"source": "file", "version": "v1", "endpoint": "https://evil.example/"},
	} {
		for _, route := range []string{"compose", "send"} {
			if status, _ := ask(t, address+"/api/"+route, in); status != 404 {
				t.Errorf("%s with another %s: status %d", route, name, status)
			}
		}
	}
}

func TestCurlQuotes(t *testing.T) {
	_, address := serve(t, studio.Options{})
	_, src := ask(t, address+"/api/register", object{"address": serveText(t, `{"endpoints":{"https://a.example/log":{"name":"Log","method":"post",
"mime_type":"application/json","context_obj":[{"key":"$(id)'","type":"bodyParam"}]}}}`)})
	_, draft := ask(t, address+"/api/compose", object{"source": src["id"], "version": "v1", "endpoint": "https://a.example/log", "context": object{"$(id)'": "`id`'"}})
	want := `curl -X POST -H 'Content-Type: application/json' --data-raw '{"$(id)'\''":"` + "`id`" + `'\''"}' 'https://a.example/log'`
	if draft["curl"] != want {
		t.Errorf("got  %s\nwant %s", draft["curl"], want)
	}
}

func TestSend(t *testing.T) {
	var seen atomic.Int64
	feeds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		switch r.URL.Path {
		case "/ok":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Set-Cookie", "a=b")
			fmt.Fprintf(w, `{"query":%q,"big":12345678901234567890}`, r.URL.RawQuery)
		case "/post":
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		case "/moved":
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusFound)
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			w.Write([]byte{0xff, 0xfe})
		case "/large":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, "x"+strings.Repeat("é", client.MaxAnswer))
		}
	}))
	t.Cleanup(feeds.Close)
	endpoints := "versions:\n  v1:\n    endpoints:\n"
	for _, path := range []string{"/ok", "/moved", "/binary", "/large"} {
		endpoints += fmt.Sprintf("      %s%s: {name: X, method: get, mime_type: application/json, modifiers: [{kind: text, id: q, name: Q, key: q, label: Q}]}\n", feeds.URL, path)
	}
	endpoints += fmt.Sprintf("      %s/post: {name: X, method: post, mime_type: text/plain, context_obj: [{key: k, type: bodyParam, required: true}]}\n", feeds.URL)
	endpoints += "      http://127.0.0.1:1/down: {name: X, method: get, mime_type: application/json}\n"
	_, address := serveFile(t, endpoints)
	send := func(url string, in object) (int, object) {
		t.Helper()
		return ask(t, address+"/api/send", object{"source": "file", "version": "v1", "endpoint": url, "modifiers": in["modifiers"], "context": in["context"]})
	}

	status, answer := send(feeds.URL+"/ok", object{"modifiers": object{"q": "é"}})
	if status != 200 || answer["status"] != 200.0 || answer["body"] != "{\n  \"query\": \"q=%C3%A9\",\n  \"big\": 12345678901234567890\n}" || !cmp.Equal(answer["notes"], []any{}) {
		t.Errorf("status %d: %v", status, answer)
	}
	if strings.Contains(fmt.Sprint(answer["headers"]), "Cookie") {
		t.Errorf("headers %v", answer["headers"])
	}
	if _, answer := send(feeds.URL+"/post", object{"context": object{"k": "v"}}); answer["status"] != 418.0 || answer["body"] != `POST {"k":"v"}` {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/moved", nil); answer["status"] != 302.0 || !strings.Contains(fmt.Sprint(answer["notes"]), "redirects to http://127.0.0.1:1/elsewhere") {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/binary", nil); answer["binary"] != true || answer["body"] != "" || !strings.Contains(fmt.Sprint(answer["notes"]), "image/png") {
		t.Errorf("answer %v", answer)
	}
	if _, answer := send(feeds.URL+"/large", nil); answer["truncated"] != true || answer["binary"] != false || len(answer["body"].(string)) > client.MaxAnswer {
		t.Errorf("truncated %v, binary %v, %d bytes", answer["truncated"], answer["binary"], len(answer["body"].(string)))
	}
	if status, problem := send("http://127.0.0.1:1/down", nil); status != 502 || problem["hint"] == "" {
		t.Errorf("status %d: %v", status, problem)
	}

	before := seen.Load()
	if status, problem := send(feeds.URL+"/post", nil); status != 422 || !strings.Contains(fmt.Sprint(problem["detail"]), "context key k") {
		t.Errorf("status %d: %v", status, problem)
	}
	if seen.Load() != before {
		t.Error("a request without its required key was sent")
	}
}

// Nothing is sent to what is not a web address, whatever a manifest says.
func TestSendOnlyToTheWeb(t *testing.T) {
	_, address := serve(t, studio.Options{})
	var manifest strings.Builder
	urls := []string{"javascript:alert(1)", "file:///etc/passwd", "https://user:pass@a.example/", "https:///path", "//a.example/", "https://{{host}}/v1", "https://{{tenant}}.example/"}
	for i, url := range urls {
		if i > 0 {
			manifest.WriteString(",")
		}
		fmt.Fprintf(&manifest, `%q:{"name":"X","method":"get","mime_type":"application/json"}`, url)
	}
	status, src := ask(t, address+"/api/register", object{"address": serveText(t, `{"endpoints":{`+manifest.String()+`}}`)})
	if status != 200 {
		t.Fatalf("status %d: %v", status, src)
	}
	for _, url := range urls {
		in := object{"source": src["id"], "version": "v1", "endpoint": url, "params": object{"tenant": "127.0.0.1:1/"}}
		if status, problem := ask(t, address+"/api/send", in); status != 422 {
			t.Errorf("%s: status %d: %v", url, status, problem)
		}
		if status, draft := ask(t, address+"/api/compose", in); status != 200 || len(draft["problems"].([]any)) == 0 {
			t.Errorf("%s: status %d: %v", url, status, draft)
		}
	}
}

func TestExampleIsAnsweredByTheStudio(t *testing.T) {
	address := serveExample(t)
	status, answer := ask(t, address+"/api/send", object{"source": "file", "version": "v1", "endpoint": "https://localhost/v1/media",
		"context": object{"example-login.access_token": "anna"}})
	if status != 200 || answer["example"] != true || !cmp.Equal(answer["notes"], []any{}) {
		t.Fatalf("status %d: %v", status, answer)
	}
	var feed object
	if err := json.Unmarshal([]byte(answer["body"].(string)), &feed); err != nil {
		t.Fatal(err)
	}
	if got := get(t, feed, "received", "context_keys"); !cmp.Equal(got, any(object{"example-login.access_token": "anna"})) {
		t.Errorf("received %v", got)
	}
}

func TestMatch(t *testing.T) {
	_, address := serveFile(t, feedsYAML)
	match := func(source any, feed string) any {
		t.Helper()
		status, out := ask(t, address+"/api/match", object{"source": source, "feed": feed})
		if status != 200 {
			t.Fatalf("status %d: %v", status, out)
		}
		return out["match"]
	}
	found := match("file", " https://localhost/v1/feeds/7?a=b ").(object)
	if found["endpoint"] != "https://localhost/v1/feeds" || found["version"] != "v1" || found["source"] != "file" || get(t, found, "context_obj", 0, "key") != "token" {
		t.Errorf("match %v", found)
	}
	if found := match("file", "https://localhost/v1"); found != nil {
		t.Errorf("match %v", found)
	}

	// All that is registered counts, and the longest wins. The same URL in another source is the same endpoint.
	_, src := ask(t, address+"/api/register", object{"address": serveText(t, `{"endpoints":{
"https://localhost/v1/feeds/7":{"name":"Seven","method":"get","mime_type":"application/json"},
"https://localhost/v1/feeds":{"name":"Other","method":"get","mime_type":"application/json"}}}`)})
	found = match("file", "https://localhost/v1/feeds/7").(object)
	want := []any{object{"endpoint": "https://localhost/v1/feeds", "lost_keys": []any{"token", "device"}}}
	if found["name"] != "Seven" || found["source"] != src["id"] || !cmp.Equal(found["shadowed"], any(want)) {
		t.Errorf("match %v", found)
	}
	if found := match(src["id"], "https://localhost/v1/feeds").(object); found["name"] != "Other" {
		t.Errorf("match %v", found)
	}

	if status, _ := ask(t, address+"/api/match", object{"source": "file", "feed": "feeds"}); status != 422 {
		t.Errorf("status %d for what is no URL", status)
	}
	if status, _ := ask(t, address+"/api/match", object{"source": "9", "feed": "https://localhost/"}); status != 404 {
		t.Errorf("status %d for another source", status)
	}
}

func TestEventsTellOfChanges(t *testing.T) {
	s, address := serveFile(t, feedsYAML)
	res, err := http.Get(address + "/api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	read := func(want string) {
		t.Helper()
		text := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, text); err != nil || string(text) != want {
			t.Errorf("got %q, %v; want %q", text, err, want)
		}
	}
	read("retry: 1000\n\n")
	for range 3 {
		s.SetFile(definition.Parse("feeds.yaml", []byte(feedsYAML)))
		read("event: changed\ndata: 1\n\n")
	}
}
