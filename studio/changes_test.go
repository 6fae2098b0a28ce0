package studio_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/internal/usage"
	"signpost/studio"
)

// TestCompareWithRevision compares a file with git revisions, as signpost diff does: a revision may have errors.
func TestCompareWithRevision(t *testing.T) {
	t.Parallel()
	const text = `base_path: /feeds
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds: {name: Feeds, method: get, mime_type: application/json}
      https://{{host}}/v1/films: {name: Films, method: get, mime_type: application/json}
`
	const old = `      https://{{host}}/v1/old: {name: Old, method: get, mime_type: application/json, deprecated: {since: 2020-01-01, until: 2020-02-01}}
`
	revisions := map[string]string{
		"same":      text,
		"errors":    strings.Replace(strings.Replace(text, "method: get", "method: GET", 1), "name: Films", "name: Cinema", 1),
		"base-path": strings.Replace(text, "/feeds", "/other", 1),
		"bad-base":  strings.Replace(text, "/feeds", "feeds", 1),
		"broken":    "versions: [",
		"removed":   text + old,
	}
	s, address := serve(t, studio.Options{ReadRevision: func(_ context.Context, revision, _ string) ([]byte, error) {
		return []byte(revisions[revision]), nil
	}})
	show(s, text)
	rules := func(in object) []string {
		t.Helper()
		in["source"] = "feeds.yaml"
		status, out := ask(t, address+"/api/changes", in)
		if status != 200 {
			return []string{get(t, out, "detail").(string)}
		}
		got := []string{}
		for i := range out["changes"].([]any) {
			got = append(got, get(t, out, "changes", i, "level").(string)+" "+get(t, out, "changes", i, "rule").(string))
		}
		return got
	}
	for revision, want := range map[string][]string{
		"same":      {},
		"errors":    {"notable method-changed", "notable name-changed"}, // a method in capitals was fixed
		"base-path": {"breaking base-path-changed"},
		"bad-base":  {},                           // not a base path at all
		"removed":   {"notable endpoint-removed"}, // after its last day
		"broken":    {"The file has no versions at broken."},
	} {
		testkit.Equal(t, revision, rules(object{"base": "git", "of": revision}), want)
	}

	// URLs that differ only in the version are the same.
	show(s, text+`  v2:
    endpoints:
      https://{{host}}/v2/feeds: {name: All feeds, method: get, mime_type: application/json}
      https://{{host}}/v2/films: {name: Films, method: get, mime_type: application/json}
`)
	testkit.Equal(t, "versions", rules(object{"base": "version", "of": "v1", "version": "v2"}), []string{"notable name-changed"})
	show(s, text)

	// The base path counts for all bases.
	show(s, revisions["base-path"])
	want := []string{"breaking base-path-changed"}
	for _, name := range []string{"registered", "previous"} {
		testkit.Equal(t, name, rules(object{"base": name}), want)
	}
}

// toUsage reads a usage file.
func toUsage(t *testing.T, file object) *usage.Usage {
	t.Helper()
	counts := new(usage.Usage)
	testkit.OK(t, json.Unmarshal([]byte(quoteJS(file)), counts))
	return counts
}

// TestPageChanges shows the form before and after, who notices, and how many requests that are.
func TestPageChanges(t *testing.T) {
	t.Parallel()
	const sort = `{kind: select, id: sort, name: Sort, key: sort, label: Sort order, defaultValue: newest, options: [{value: newest, label: Newest first}OPTION]}`
	const tag = `{kind: text, id: tag, name: Tag, key: tag, label: Tag}`
	text := func(option, required, limit, tag string) string {
		return `versions: {v1: {endpoints: {"https://{{host}}/v1/films": {name: Films, method: get, mime_type: application/json,
  context_obj: [{key: user.profile, type: ctx` + required + `}], modifiers: [` + strings.Replace(sort, "OPTION", option, 1) + `,
  {kind: number, id: limit, name: Limit, key: limit, label: Page size, defaultValue: ` + limit + `}]},
  "https://{{host}}/v1/quiet": {name: Quiet, method: get, mime_type: application/json` + tag + `},
  "https://{{host}}/v1/loud": {name: Loud, method: get, mime_type: application/json` + tag + `}}}}`
	}
	counts := toUsage(t, object{"signpost_usage": 1, "requests": 60000, "from": "2026-11-12", "to": "2026-11-18", "endpoints": []any{
		object{"service": "/", "version": "v1", "url": "https://{{host}}/v1/films", "requests": 48212, "errors": 12,
			"keys":   object{"user.profile": object{"present": 48171, "missing": 30, "undefined": 11}},
			"params": object{"sort": object{"set": 9000, "options": object{"newest": 5880, "title": 3120}, "other": 0}, "limit": object{"set": 0, "other": 0}}},
		object{"service": "/", "version": "v1", "url": "https://{{host}}/v1/quiet", "requests": 0, "errors": 0, "keys": object{},
			"params": object{"tag": object{"set": 0, "options": object{"new": 0}, "other": 0}}},
		object{"service": "/", "version": "v1", "url": "https://{{host}}/v1/loud", "requests": 1000, "errors": 0, "keys": object{},
			"params": object{"tag": object{"set": 40, "other": 0}}},
		object{"service": "/other", "version": "v1", "url": "https://{{host}}/v1/loud", "requests": 7, "errors": 0, "keys": object{},
			"params": object{"tag": object{"set": 7, "other": 0}}},
	}})
	s, address := serveFile(t, text(", {value: title, label: Title}", "", "20", ", modifiers: ["+tag+"]"), studio.Options{Usage: counts})
	p := openTab(t, address)
	p.waitText("#endpoint-usage", "48,212 requests, 12 failed")
	p.wait(element("endpoint-usage") + `.title.includes("12–18 Nov, 60,000 requests")`)
	p.wait(`document.querySelector("[data-field='modifier:sort'] .share")?.textContent === "19 %"`)
	p.wait(`[...document.querySelectorAll(".option-shares li")].map((l) => l.textContent).join() === "Newest first 12 %,Title 6 %"`)
	p.wait(listed("Quiet") + `.matches(".unused")`)
	p.open("Quiet")
	p.waitText("#endpoint-usage", "No request called it")
	testkit.Equal(t, "shares of no requests", p.text("[data-field='modifier:tag'] .field-control"), "")

	taker := `, "https://{{host}}/v1/films/new": {name: New, method: get, mime_type: application/json}}}}`
	show(s, strings.TrimSuffix(text("", ", required: true, mapper: profile", "50", ""), "}}}")+taker)
	p.view("changes")
	p.waitText("#changes-list", "Editors can choose it from now on.Feeds of others that begin with its URL get its keys")
	p.waitText("#changes-list .before-after", "Feeds saved with Sort order: Title keep asking for it", "3,120 of 48,212 requests set it (6 %)",
		"Apps without user.profile get an error.", "41 of 48,212 requests came without it (0.1 %)", "New feeds start with 50 instead of 20.", "in another way.48,171 of 48,212 requests have it (100 %)")
	p.waitText("#changes-list", "2 endpoints", "Feeds that set Tag lose it: editors can no longer see or change it.40 of 1,000 requests set it (4 %)")
	testkit.Equal(t, "what goes, and what comes", p.eval(`[".on-before .gone", ".on-after .new", ".on-after .chip.arrived"].map((s) =>
  [...document.querySelectorAll(s)].map((e) => e.textContent).join()).join(" | ")`), any("Title,20 | 50,New | user.profile as profile\u00a0●"))
	p.waitText("#changes-list", "option-removed", "context-required", "default-changed")

	// A key that is no longer required is not lost.
	p.click(element("accept"))
	p.waitText("#changes-none", "Nothing has changed.")
	show(s, strings.TrimSuffix(text("", ", mapper: profile", "50", ""), "}}}")+taker)
	p.waitText("#changes-list .before-after", "Apps may leave out user.profile.")
	testkit.Equal(t, "lost", p.eval(`document.querySelector("#changes-list .chip.lost")`), nil)
}

// TestPageChangesWithErrors checks that the page does not say that nothing has changed in a file that it does not compare.
func TestPageChangesWithErrors(t *testing.T) {
	t.Parallel()
	const good = `versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Feeds, method: get, mime_type: application/json}}}}`
	bad := strings.Replace(good, "method: get", "method: GET", 1)
	s, address := serveFile(t, bad)
	p := openTab(t, address+"#/changes?source=feeds.yaml")
	p.waitText("#changes-stale", "Nothing is compared while the file has errors.")
	testkit.Equal(t, "verdict", p.eval(`document.querySelector("#changes-none")`), nil)
	show(s, good)
	p.waitText("#changes-none", "Nothing has changed.")
	testkit.Equal(t, "note", p.eval(`document.querySelector("#changes-stale")`), nil)
	show(s, bad)
	p.waitText("#changes-stale", "What is compared is its last version without errors.")
}

// TestChangesTogether checks that feeds of everything else on the page count, on every host of the service unless the
// deployment names one, as for signpost diff --registered and --host: for the marks, and for each base.
func TestChangesTogether(t *testing.T) {
	t.Parallel()
	const wide = `base_path: /wide
hosts: [m.example.com]
versions: {v1: {endpoints: {"https://{{host}}/v1/feeds": {name: Wide, method: get, mime_type: application/json, context_obj: [{key: token, type: ctx, required: true}]}}}}`
	const mine = `base_path: /mine
hosts: [feeds.example.com, m.example.com]
versions: {v1: {endpoints: {"https://{{host}}/v1/mine": {name: Mine, method: get, mime_type: application/json, context_obj: [{key: token, type: ctx, required: true}]}`
	const taker = `, "https://{{host}}/v1/feeds/new": {name: New, method: get, mime_type: application/json}`
	s, address := serve(t, studio.Options{ReadRevision: func(context.Context, string, string) ([]byte, error) {
		return []byte(mine + "}}}"), nil
	}})
	show := func(more string) {
		s.Show(snapshotOf(file("mine.yaml", mine+more+"}}}"), file("wide.yaml", wide)))
	}
	rulesOf := func(changes any) (rules []string) {
		for _, c := range changes.([]any) {
			rules = append(rules, c.(object)["rule"].(string))
		}
		return rules
	}
	show("")
	show(taker)
	want := []string{"endpoint-added", "context-shadowed"}
	testkit.Equal(t, "marks", rulesOf(sourceOf(t, address, "mine.yaml")["changes"]), want)
	for _, base := range []string{"registered", "previous", "git"} {
		about := object{"source": "mine.yaml", "base": base, "of": "HEAD"}
		_, out := ask(t, address+"/api/changes", about)
		testkit.Equal(t, base, rulesOf(out["changes"]), want)
		testkit.Equal(t, "endpoint", get(t, out, "changes", 1, "endpoint"), "https://feeds.example.com/v1/feeds/new")
		_, out = ask(t, address+"/api/changes"+deployed(object{"host": "feeds.example.com"}), about)
		testkit.Equal(t, base+" on a host", rulesOf(out["changes"]), want[:1])
	}
	testkit.Equal(t, "changes of the other", rulesOf(sourceOf(t, address, "wide.yaml")["changes"]), []string(nil))
}

// TestChangesOfPublished checks that a definition takes nothing from its own manifest at the address where it is
// published: that is another state of it.
func TestChangesOfPublished(t *testing.T) {
	t.Parallel()
	const text = `{"hosts": ["127.0.0.1"], "versions": {"v1": {"endpoints": {
  "https://{{host}}/v1/feeds": {"name": "Feeds", "method": "get", "mime_type": "application/json"}`
	s, address := serveFile(t, text+"}}}}")
	registered(t, address, serveText(t, `{"endpoints": {"https://127.0.0.1/v1/{{section}}": {"name": "Section", "method": "get",
  "mime_type": "application/json", "context_obj": [{"key": "token", "type": "ctx", "required": true}]}}}`))
	show(s, text+`, "https://{{host}}/v1/films": {"name": "Films", "method": "get", "mime_type": "application/json"}}}}}`)
	changes := sourceOf(t, address, "feeds.yaml")["changes"].([]any)
	if len(changes) != 1 || changes[0].(object)["rule"] != "endpoint-added" {
		t.Errorf("the changes are %v", changes)
	}
}
