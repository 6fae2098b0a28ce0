package studio_test

import (
	"fmt"
	"strings"
	"testing"

	"signpost/internal/source"
	"signpost/internal/testkit"
	"signpost/internal/workspace"
	"signpost/studio"
)

// overlapYAML has endpoints that take feeds from each other.
const overlapYAML = `
versions:
  v1:
    endpoints:
      https://{{host}}/v1/{{section}}:
        name: Section
        method: get
        mime_type: application/json
        context_obj: [{key: alpha, type: ctx}]
      https://{{host}}/v1/media:
        name: Media
        method: get
        mime_type: application/json
        context_obj: [{key: beta, type: ctx}]
      https://{{host}}/v1/media/clips: {name: Clips, method: get, mime_type: application/json}
`

func TestMatch(t *testing.T) {
	t.Parallel()
	_, address := serveFile(t, feedsYAML)
	match := func(feed string) object {
		t.Helper()
		return expect(t, address+"/api/match", object{"feed": feed}, 200, nil)
	}
	found := match(" https://localhost/v1 ")
	testkit.Equal(t, "no match", []any{found["found"], found["problem"]}, []any{false, ""})
	testkit.Equal(t, "problem", match("feeds")["problem"], any("A feed URL starts with https:// or http://."))

	// Everything registered counts, and the longest wins. The same URL in another source comes after the first.
	id := serveText(t, `{"endpoints":{
"https://localhost/v1/feeds/7":{"name":"Seven","method":"get","mime_type":"application/json"},
"https://localhost/v1/feeds":{"name":"Other","method":"get","mime_type":"application/json"}}}`)
	registered(t, address, id)
	found = match("https://localhost/v1/feeds/7")
	testkit.Equal(t, "match", []any{get(t, found, "winner", "name"), get(t, found, "winner", "source"), get(t, found, "losers", 0, "lost_keys"),
		get(t, found, "losers", 0, "reason")}, []any{"Seven", id, []any{"token", "device"}, "length"})
	testkit.Equal(t, "winner", get(t, match("https://localhost/v1/feeds"), "winner", "name"), "Feeds")
}

// TestMatchHosts checks that a feed on any host of a service has the endpoint that signpost match names, unless the page
// shows the manifests for another host.
func TestMatchHosts(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	endpoint := "\nversions: {v1: {endpoints: {\"https://{{host}}/v1/%s\": {name: %[1]s, method: get, mime_type: application/json}}}}"
	s.Show(snapshotOf(file("a.yaml", "hosts: [a.example, b.example]"+fmt.Sprintf(endpoint, "one")),
		file("b.yaml", "base_path: /b\nhosts: [\"*.example\"]"+fmt.Sprintf(endpoint, "one/two")),
		file("c.yaml", "base_path: /c"+fmt.Sprintf(endpoint, "three")),
		file("d.yaml", "base_path: /d\nversions: {v1: {endpoints: {"+
			"\"https://{{host}}/v1/four\": {name: four, method: get, mime_type: application/json}, "+
			"\"https://d.test/v1/four\": {name: of d, method: get, mime_type: application/json}}}}"),
		file("e.yaml", "base_path: /e\nhosts: [e.test, f.test]\nversions: {v1: {endpoints: {"+
			"\"https://cdn.{{host}}/v1/five\": {name: five, method: get, mime_type: application/json}}}}")))
	for _, test := range []struct{ feed, deployment, want string }{
		{"https://a.example/v1/one/1", "", "one"},
		{"https://b.example/v1/one/1", "", "one"},
		{"https://b.example/v1/one/two", "", "one/two"},
		{"https://c.example/v1/one", "", ""},
		{"https://c.example/v1/one/two/3", "", "one/two"},
		{"https://other.test/v1/one", "", ""},
		{"https://other.test/v1/four", "", "four"},
		{"https://d.test/v1/four", "", "of d"},
		{"https://cdn.f.test/v1/five", "", "five"},
		{"https://other.test/v1/three", "", "three"},
		{"https://localhost/v1/three", "", "three"},
		{"https://other.test/v1/three", "?deployment=%7B%22host%22:%22a.example%22%7D", ""},
		{"https://b.example/v1/one", "?deployment=%7B%22host%22:%22a.example%22%7D", ""},
	} {
		found := expect(t, address+"/api/match"+test.deployment, object{"feed": test.feed}, 200, nil)
		testkit.Equal(t, test.feed+test.deployment, get(t, found, "winner", "name"), any(test.want))
	}
}

// TestNesting checks which endpoints take feeds from which, across everything registered.
func TestNesting(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	other := file("other.yaml", `versions: {v1: {endpoints: {
"https://{{host}}/v1": {name: Wide, method: get, mime_type: application/json, context_obj: [{key: wide, type: ctx}]},
"https://{{host}}/v1/media": {name: Twin, method: post, mime_type: application/json}}}}`)
	s.Show(workspace.New(workspace.Options{}, workspace.Source{Source: &files{[]source.Document{file("feeds.yaml", overlapYAML)}}},
		workspace.Source{Source: &files{[]source.Document{other}}, Role: workspace.Registered}).Look())
	testkit.Equal(t, "nested", nestedIn(t, address), map[any]string{
		"Section": "Wide length [wide]; ", "Clips": "Media length [beta]; Twin length []; Section length [alpha]; Wide length [wide]; ",
		"Media": "Section literals [alpha]; Wide length [wide]; ", "Twin": "Section literals [alpha]; Wide length [wide]; ",
	})
	// Manifests registered alongside get no findings.
	registered := sourceOf(t, address, "other.yaml")
	testkit.Equal(t, "other", []any{registered["judged"], registered["findings"]}, []any{false, []any{}})
}

// nestedIn returns what each endpoint takes feeds from.
func nestedIn(t *testing.T, address string) map[any]string {
	t.Helper()
	nested := make(map[any]string)
	for _, n := range get(t, stateOf(t, address+"/api/state"), "lists", "overlap").([]any) {
		for _, under := range n.(object)["under"].([]any) {
			u := under.(object)
			nested[n.(object)["name"]] += fmt.Sprint(u["name"], " ", u["reason"], " ", u["lost_keys"], "; ")
		}
	}
	return nested
}

// TestNestingOnEveryHost checks that services meet on each host that they can have, as signpost lint has it, also where
// the page shows them on different ones.
func TestNestingOnEveryHost(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	const wide = `hosts: [one.example, two.example]
versions: {v1: {endpoints: {"https://{{host}}/v1/{{a}}/{{b}}": {name: Wide, method: get, mime_type: application/json, context_obj: [{key: wide, type: ctx}]}}}}`
	const other = `base_path: /other
versions: {v1: {endpoints: {"https://{{host}}/v1": {name: Other, method: get, mime_type: application/json}}}}`
	s.Show(snapshotOf(file("wide.yaml", strings.Replace(wide, "[one.example, two.example]", `["*.example"]`, 1)), file("other.yaml", other)))
	_, draft := ask(t, address+"/api/compose", object{"source": "wide.yaml", "version": "v1",
		"endpoint": "https://{{host}}/v1/{{a}}/{{b}}", "params": object{"a": "kids", "b": "new"}})
	testkit.Equal(t, "owner on a host that the service does not have", draft["owner"], nil)
	const narrow = `base_path: /narrow
versions: {v1: {endpoints: {"https://{{host}}/v1/kids/new": {name: Narrow, method: get, mime_type: application/json}}}}`
	for hosts, want := range map[string]string{
		"":                                    "Wide literals [wide]; ",
		"hosts: [two.example, one.example]\n": "Wide literals [wide]; ",
		"hosts: [\"*.example\"]\n":            "Wide literals [wide]; ",
		"hosts: [three.example]\n":            "",
	} {
		s.Show(snapshotOf(file("wide.yaml", wide), file("narrow.yaml", hosts+narrow)))
		testkit.Equal(t, hosts, nestedIn(t, address)["Narrow"], want)
		_, draft := ask(t, address+"/api/compose", object{"source": "wide.yaml", "version": "v1",
			"endpoint": "https://{{host}}/v1/{{a}}/{{b}}", "params": object{"a": "kids", "b": "new"}})
		testkit.Equal(t, "owner with "+hosts, draft["owner"] != nil, want != "")
	}
}

// TestFindingsTogether checks that everything registered on the page is linted together, including addresses.
func TestFindingsTogether(t *testing.T) {
	t.Parallel()
	s, address := serve(t, studio.Options{})
	wide := "base_path: /wide\nversions: {v1: {endpoints: {\"https://{{host}}/v1/feeds\": {name: Wide, method: get, mime_type: application/json, context_obj: [{key: token, type: ctx}]}}}}"
	narrow := "versions: {v1: {endpoints: {\"https://{{host}}/v1/feeds/new\": {name: New, method: get, mime_type: application/json}}}}"
	found := func() string { return fmt.Sprint(sourceOf(t, address, "new.yaml")["findings"]) }
	s.Show(snapshotOf(file("new.yaml", narrow)))
	testkit.Equal(t, "alone", found(), "[]")
	s.Show(snapshotOf(file("new.yaml", narrow), file("wide.yaml", wide)))
	if got := found(); !strings.Contains(got, "overlap-drops-context") || !strings.Contains(got, "wide.yaml") {
		t.Errorf("with another file: %s", got)
	}
	s.Show(snapshotOf(file("new.yaml", narrow)))
	testkit.Equal(t, "alone again", found(), "[]")
	id := serveText(t, `{"endpoints":{"https://localhost/v1/feeds/new":{"name":"Twin","method":"post","mime_type":"application/json"}}}`)
	registered(t, address, id)
	ask(t, address+"/api/remove", object{"source": id})
	testkit.Equal(t, "after an address was removed", found(), "[]")
}
