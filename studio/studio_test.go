package studio_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"signpost/internal/source"
	"signpost/internal/testkit"
	"signpost/internal/workspace"
	"signpost/studio"
)

// serve starts a studio on loopback. On a busy machine, other servers may take their time.
func serve(t testing.TB, opts studio.Options, around ...func(http.Handler) http.Handler) (*studio.Studio, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	opts.Listen = server.Listener.Addr().(*net.TCPAddr).AddrPort()
	opts.Client.Timeout = waitTime
	if opts.Client.Transport == nil {
		opts.Client.Transport = &http.Transport{} // as patient, also with a TLS handshake
	}
	s := testkit.Must(studio.New(opts))(t)
	server.Config.Handler = s
	for _, wrap := range around {
		server.Config.Handler = wrap(s)
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s, server.URL
}

// serveExample starts a studio that shows the built-in example.
func serveExample(t testing.TB) string {
	t.Helper()
	text := testkit.Must(os.ReadFile("../internal/cli/example.yaml"))(t)
	example := &source.Fixed{Documents: []source.Document{file("example.yaml", string(text))}}
	s, address := serve(t, studio.Options{Example: "example.yaml"})
	s.Show(workspace.New(workspace.Options{}, workspace.Source{Source: example}).Look())
	return address
}

// serveFile starts a studio that shows a definition.
func serveFile(t testing.TB, text string, opts ...studio.Options) (*studio.Studio, string) {
	t.Helper()
	opts = append(opts, studio.Options{})
	s, address := serve(t, opts[0])
	show(s, text)
	return s, address
}

// show shows a text as feeds.yaml.
func show(s *studio.Studio, text string) {
	s.Show(snapshotOf(file("feeds.yaml", text)))
}

// file is a definition or a manifest to show.
func file(name, text string) source.Document { return source.Document{Name: name, Text: []byte(text)} }

// files is a source of documents that are files.
type files struct{ documents []source.Document }

func (f *files) Name() string                     { return "files" }
func (f *files) Read() ([]source.Document, error) { return f.documents, nil }

// snapshotOf returns a snapshot of files that are judged.
func snapshotOf(judged ...source.Document) *workspace.Snapshot {
	return workspace.New(workspace.Options{Manifests: true}, workspace.Source{Source: &files{judged}}).Look()
}

// stateOf returns the state at an address, put together as the page does it.
func stateOf(t *testing.T, address string) object {
	t.Helper()
	return putTogether(expect(t, address, nil, 200, nil), nil)
}

// putTogether fills in the lists of a state for a page that has an older one.
func putTogether(state, older object) object {
	lists := state["lists"].(object)
	for name, part := range lists {
		head, tail := int(part.(object)["head"].(float64)), int(part.(object)["tail"].(float64))
		items := part.(object)["items"].([]any)
		if head+tail > 0 {
			has := older["lists"].(object)[name].([]any)
			items = slices.Concat(has[:head], items, has[len(has)-tail:])
		}
		lists[name] = items
	}
	for _, src := range state["sources"].([]any) {
		id := fmt.Sprint(src.(object)["id"])
		src.(object)["findings"], src.(object)["changes"] = lists["findings "+id], lists["changes "+id]
		for _, v := range src.(object)["versions"].([]any) {
			v.(object)["endpoints"] = lists[fmt.Sprint("endpoints ", v.(object)["name"], " ", id)]
		}
	}
	return state
}

// sourceOf returns a source as the page receives it.
func sourceOf(t *testing.T, address, id string) object {
	t.Helper()
	state := stateOf(t, address+"/api/state")
	for _, src := range state["sources"].([]any) {
		if src.(object)["id"] == id {
			return src.(object)
		}
	}
	t.Fatalf("source %q not found", id)
	return nil
}

// sourceIDs returns the ids of all sources.
func sourceIDs(t *testing.T, address string) (ids []string) {
	t.Helper()
	for _, src := range stateOf(t, address+"/api/state")["sources"].([]any) {
		ids = append(ids, src.(object)["id"].(string))
	}
	return ids
}

// registered registers a manifest, and returns it as the page receives it.
func registered(t *testing.T, address, manifest string) object {
	t.Helper()
	expect(t, address+"/api/register", object{"address": manifest}, 200, nil)
	return sourceOf(t, address, manifest)
}

// answerWith starts a server that responds with JSON, unless the handler says otherwise.
func answerWith(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// serveText starts a server that responds with a text, and returns the address of a manifest on it.
func serveText(t *testing.T, text string) string {
	t.Helper()
	server := answerWith(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Signpost-Revision", "0123456789abcdef")
		w.Header().Del("Content-Type") // as the text looks
		io.WriteString(w, text)
	})
	return server.URL + "/v1/endpoints-manifest"
}

// deployed returns the query of a request for a deployment.
func deployed(deployment object) string {
	return "?deployment=" + url.QueryEscape(quoteJS(deployment))
}

// object is any JSON object.
type object = map[string]any

// ask sends a request as the page does, and returns the status and the response.
func ask(t *testing.T, address string, body any) (int, object) {
	t.Helper()
	request := func() (*http.Response, error) {
		return http.Post(address, "application/json", strings.NewReader(quoteJS(body)))
	}
	if body == nil {
		request = func() (*http.Response, error) { return http.Get(address) }
	}
	res := testkit.Must(request())(t)
	defer res.Body.Close()
	var out object
	testkit.OK(t, json.NewDecoder(res.Body).Decode(&out))
	want := "application/json"
	if res.StatusCode >= 400 {
		want = "application/problem+json"
		if out["detail"] == "" || out["title"] != http.StatusText(res.StatusCode) {
			t.Errorf("%s: problem %v", address, out)
		}
	}
	testkit.Equal(t, address+": content type", res.Header.Get("Content-Type"), want)
	return res.StatusCode, out
}

// expect sends a request as the page does, and compares the status and some fields of the response.
func expect(t *testing.T, address string, body any, status int, fields object) object {
	t.Helper()
	got, out := ask(t, address, body)
	if got != status {
		t.Errorf("%s with %v: status %d, not %d: %v", address, body, got, status, out)
	}
	for name, want := range fields {
		testkit.Equal(t, address+": "+name, out[name], want)
	}
	return out
}

// get returns a nested value of a response.
func get(t *testing.T, from any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case int:
			list, _ := from.([]any)
			if step >= len(list) {
				t.Fatalf("%v not found", path[:i+1])
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

func TestNewRejects(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]studio.Options{
		"another machine's address": {Listen: netip.MustParseAddrPort("192.0.2.1:80")},
		"every address":             {Listen: netip.MustParseAddrPort("[::]:8079")},
		"no address":                {},
		"no host":                   {Listen: netip.MustParseAddrPort("127.0.0.1:1"), Host: "a b"},
		"no origin":                 {Listen: netip.MustParseAddrPort("127.0.0.1:1"), SendTo: "localhost:3000"},
	} {
		if _, err := studio.New(opts); err == nil {
			t.Errorf("New accepts %s", name)
		}
	}
}

// TestStateSaysWhoseAURLIs checks which endpoints are a third party's, as signpost lint has it.
func TestStateSaysWhoseAURLIs(t *testing.T) {
	t.Parallel()
	const endpoints = `versions: {v1: {endpoints: {
  https://feeds.example.com/own: {name: A, method: get, mime_type: application/json},
  https://eu.feeds.example.com/sub: {name: B, method: get, mime_type: application/json}}}}`
	for start, want := range map[string][]any{
		"":                                 {false, false}, // nobody says so
		"hosts: [feeds.example.com]\n":     {false, true},
		"hosts: ['*.feeds.example.com']\n": {true, true}, // a suffix does not say whose a host is
	} {
		_, address := serveFile(t, start+endpoints)
		file := sourceOf(t, address, "feeds.yaml")
		for i, foreign := range want {
			testkit.Equal(t, fmt.Sprintf("%q: foreign %d", start, i), get(t, file, "versions", 0, "endpoints", i, "foreign"), foreign)
		}
	}
}

func TestStateShowsTheFile(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	file := sourceOf(t, address, "feeds.yaml")
	for key, want := range map[string]any{"kind": "file", "judged": true, "title": "Feeds", "host": "localhost", "host_open": true, "notes": []any{}} {
		testkit.Equal(t, key, file[key], want)
	}
	feeds := get(t, file, "versions", 0, "endpoints", 0).(object)
	for key, want := range map[string]any{"url": "https://localhost/v1/feeds", "key": "https://{{host}}/v1/feeds", "origin": "https://localhost", "foreign": false} {
		testkit.Equal(t, key, feeds[key], want)
	}
	testkit.Equal(t, "context", feeds["context"], []any{
		object{"key": "token", "type": "ctx", "required": true, "sent_as": "t", "sent": true, "feature": "", "about": ""},
		object{"key": "device", "type": "bodyParam", "required": false, "sent_as": "device", "sent": false, "feature": "", "about": ""},
	})
	testkit.Equal(t, "a third party's endpoint", get(t, file, "versions", 0, "endpoints", 2, "foreign"), true)
	testkit.Equal(t, "finding", get(t, file, "findings", 0, "rule"), "body-param-on-get")

	// Its manifest is served where the service would publish it.
	manifest := expect(t, address+"/films/v2/endpoints-manifest"+deployed(object{"host": "feeds.example.com"}), nil, 200, nil)
	testkit.Equal(t, "name", get(t, manifest, "endpoints", "https://feeds.example.com/v2/log", "name"), "Log")
	expect(t, address+"/v2/endpoints-manifest", nil, 404, nil)
}

// TestDeployments checks that two tabs look at two deployments of the same file.
func TestDeployments(t *testing.T) {
	t.Parallel()
	s, address := serveFile(t, feedsYAML, studio.Options{Features: []string{"geo-restriction", "of another file"}})
	for entered, want := range map[string]string{
		" Feeds.Example.com ": "feeds.example.com", "https://feeds.example.com/x?y=z": "feeds.example.com", "HTTP://[::1]/": "[::1]", "": "localhost",
	} {
		state := expect(t, address+"/api/state"+deployed(object{"host": entered}), nil, 200, object{"host": want})
		testkit.Equal(t, entered, get(t, state, "sources", 0, "host"), want)
	}
	for _, host := range []string{"a b", "a/b", "a:80", "https://a.example:80/x", "https://"} {
		expect(t, address+"/api/state"+deployed(object{"host": host}), nil, 422, nil)
	}
	on := deployed(object{"features": object{"feeds.yaml": []any{"authentication", "geo-restriction", "of another file"}}})
	for query, want := range map[string]int{on: 1, "": 1, deployed(object{"features": object{"feeds.yaml": []any{}}}): 0} {
		state := stateOf(t, address+"/api/state"+query)
		testkit.Equal(t, "context keys with "+query, len(get(t, state, "sources", 0, "versions", 0, "endpoints", 1, "context").([]any)), want)
	}
	in := object{"source": "feeds.yaml", "version": "v1", "endpoint": "https://{{host}}/v1/feeds"}
	expect(t, address+"/api/compose"+deployed(object{"host": "a.example"}), in, 200, object{"url": "https://a.example/v1/feeds"})
	// A switch is not a change of the definition.
	show(s, strings.Replace(feedsYAML, "defaultValue: 0", "defaultValue: 1", 1))
	state := stateOf(t, address+"/api/state"+on)
	testkit.Equal(t, "changes", len(get(t, state, "sources", 0, "changes").([]any)), 1)
}
