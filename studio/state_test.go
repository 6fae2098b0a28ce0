package studio_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/studio"
)

// TestStateSince checks that a page that has a revision gets what has changed since, and that this makes the whole.
func TestStateSince(t *testing.T) {
	t.Parallel()
	text := manyYAML(50)
	s, address := serveFile(t, text)
	first := stateOf(t, address+"/api/state")
	since := fmt.Sprintf("%s/api/state?instance=%s&since=%v", address, url.QueryEscape(first["instance"].(string)), first["rev"])
	const endpoints = "endpoints v1 feeds.yaml"
	_, same := ask(t, since, nil)
	testkit.Equal(t, "endpoints that are the same", get(t, same, "lists", endpoints), any(object{"head": 51.0, "items": []any{}, "tail": 0.0}))
	testkit.Equal(t, "overlap that is the same", get(t, same, "lists", "overlap", "items"), any([]any{}))

	// One is changed, one is removed, and two are exchanged.
	lines := strings.SplitAfter(strings.Replace(text, "name: Feed 7,", "name: Film 7,", 1), "\n")
	lines = append(lines[:3+10:3+10], lines[3+11:]...)
	lines[3+20], lines[3+21] = lines[3+21], lines[3+20]
	show(s, strings.Join(lines, ""))
	_, now := ask(t, since, nil)
	testkit.Equal(t, "elements that were sent", len(get(t, now, "lists", endpoints, "items").([]any)), 15)
	whole := stateOf(t, address+"/api/state")
	testkit.Equal(t, "put together", putTogether(now, first), whole)

	// A page of another start, deployment or revision gets everything.
	for _, query := range []string{"?instance=other&since=1", "?since=1", fmt.Sprintf("?instance=%s&since=999", first["instance"])} {
		testkit.Equal(t, query, stateOf(t, address+"/api/state"+query), whole)
	}
	state := stateOf(t, since+"&deployment="+url.QueryEscape(`{"host":"a.example"}`))
	testkit.Equal(t, "another deployment", len(get(t, state, "lists", endpoints).([]any)), 51-1)
}

// TestDefaultHost checks where the host comes from.
func TestDefaultHost(t *testing.T) {
	t.Parallel()
	text := "hosts: ['*.example.net', feeds.example.com, other.example.com]\n" + feedsYAML
	for want, opts := range map[string]studio.Options{"feeds.example.com": {}, "a.example": {Host: "a.example"}} {
		_, address := serveFile(t, text, opts)
		testkit.Equal(t, "host", sourceOf(t, address, "feeds.yaml")["host"], any(want))
	}
}

// TestManifestOnOneLine checks that a manifest on one line is shown in lines, and its findings there.
func TestManifestOnOneLine(t *testing.T) {
	t.Parallel()
	const text = `{"endpoints":{"https://a.example/x":{"name":"X","method":"get","mime_type":"application/json"},"https://a.example/y":{"name":"X","method":"get","mime_type":"application/json"}}}`
	s, address := serve(t, studio.Options{})
	s.Show(snapshotOf(file("m.json", text)))
	src := sourceOf(t, address, "m.json")
	testkit.Equal(t, "formatted", src["formatted"], any(true))
	if line := get(t, src, "findings", 0, "line").(float64); line < 2 {
		t.Errorf("the finding is on line %v", line)
	}
	shown := expect(t, address+"/api/text", object{"source": "m.json"}, 200, nil)["text"].(string)
	testkit.Equal(t, "lines", strings.Count(shown, "\n"), 13)
}

// TestStarter writes the starter into an empty file, and into no other.
func TestStarter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feeds.yaml")
	testkit.OK(t, os.WriteFile(path, []byte("\n"), 0o644))
	s, address := serve(t, studio.Options{Starter: []byte(feedsYAML)})
	set := func(text string) {
		s.Show(snapshotOf(file(path, text)))
	}
	set("\n")
	p := openTab(t, address)
	p.waitText("#endpoint-blank", "feeds.yaml is empty")
	p.click(button("Write the starter into it"))
	testkit.Eventually(t, "the starter is written", func() bool { return testkit.Read(t, path) == feedsYAML })
	set(feedsYAML)
	p.waitText("#endpoint-name", "Feeds")
	expect(t, address+"/api/start", object{"source": path}, 409, nil)
}

// TestPageGroupsFindings shows one card for a finding on many endpoints.
func TestPageGroupsFindings(t *testing.T) {
	t.Parallel()
	text := "versions:\n  v1:\n    endpoints:\n"
	for i := range 19 {
		text += fmt.Sprintf("      http://feeds.example.com/v1/%d: {name: F%[1]d, method: get, mime_type: application/json}\n", i)
	}
	_, address := serveFile(t, text)
	p := openTab(t, address+"/#/problems")
	p.waitText("#problems-list", "19 endpoints", "plain-http")
	testkit.Equal(t, "cards", p.eval(`document.querySelectorAll("#problems-list > li").length`), 1.0)
	p.click(`document.querySelector("#problems-list summary")`)
	p.wait(`document.querySelectorAll("#problems-list .where-all li").length === 19`)
}

// TestErrorsAreNotServed checks that a file with errors is shown as far as it can be read, but has no manifest.
func TestErrorsAreNotServed(t *testing.T) {
	t.Parallel()
	broken := strings.Replace(feedsYAML, "method: get\n", "method: GET\n", 1)
	for _, texts := range [][]string{{broken}, {feedsYAML, broken}} {
		s, address := serve(t, studio.Options{})
		for _, text := range texts {
			show(s, text)
		}
		testkit.Equal(t, "method", get(t, sourceOf(t, address, "feeds.yaml"), "versions", 0, "endpoints", 0, "method"), any("GET"))
		status, _ := ask(t, address+"/films/v1/endpoints-manifest", nil)
		testkit.Equal(t, "status of the manifest", status, 404)
		expect(t, address+"/api/check", object{"source": "feeds.yaml", "version": "v1"}, 422, nil)
		show(s, feedsYAML)
		status, _ = ask(t, address+"/films/v1/endpoints-manifest", nil)
		testkit.Equal(t, "status of the manifest without errors", status, 200)
	}
}
