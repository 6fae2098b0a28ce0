package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// TestCursor checks where a cursor, marked ¦, is found to be: the path with the word that is being typed, and whether that
// is a key.
func TestCursor(t *testing.T) {
	t.Parallel()
	feeds := "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n"
	const inFeeds = "/versions/v1/endpoints/https://{{host}}/v1/feeds"
	for _, test := range []struct{ text, want string }{
		{"¦", "/<> key"},
		{"ver¦\nservice: A", "/<ver> key"},
		{"versions:\n  ¦", "/versions/<> key"},
		{"mime¦_type: a\nname: b", "/<mime> key"},
		{"method: po¦\nname: A", "/method<po> value"},
		{feeds + "        na¦\n        method: get\n      https://{{host}}/v1/media:\n        name: B\n", inFeeds + "/<na> key"},
		{feeds + "        name: A\n      https://{{ho¦\n", "/versions/v1/endpoints/<https://{{ho> key"},
		{"enable:\n  - \"a¦", "/enable//\"<a> key"},
		{"context_obj:\n  - key: a\n    ty¦", "/context_obj//<ty> key"},
		{"enable: [a¦\nservice: A\nmodifiers: {}", "/enable/<a> value"},
		{"modifiers:\n  limit: {kind: number, ¦\nversions: {}", "/modifiers/limit/<> key"},
		{"modifiers:\n  - {kind: select, options: [{value: a, label: A},\n     {va¦", "/modifiers//options//<va> key"},
		{"{'https://{{host}}/a': {na¦", "/https://{{host}}/a/<na> key"},
		{"a: \"x\\\"{\"\nb: {c¦", "/b/<c> key"},
		{"x-note: |\n  method: ¦\n", "nothing"},
		{"x-note: |\n  some: {text\nser¦", "/<ser> key"},
		{"name: A # {¦", "nothing"},
		{"name: A\n  b¦", "nothing"}, // a text of two lines
		{"\"ver¦\nservice: A", "/\"<ver> key"},

		{"json ¦", "nothing"},
		{`json {"service": "A", "ver¦"}`, `/"<ver> key`},
		{"json {\"enable\": [\n \"authentication\",\n \"¦\n]}", `/enable//"<> key`},
	} {
		t.Run(test.text, func(t *testing.T) {
			uri, text := "file:///feeds.yaml", test.text
			if rest, ok := strings.CutPrefix(text, "json "); ok {
				uri, text = "file:///feeds.json", rest
			}
			before, after, _ := strings.Cut(text, "¦")
			got := "nothing"
			if c, ok := newDocument(uri, 1, before+after).cursor(len(before)); ok {
				path, what := "/"+strings.Join(c.path, "/"), "value"
				if c.isKey {
					path, what = "/"+strings.Join(append(c.path[:len(c.path)-1:len(c.path)-1], ""), "/"), "key"
				}
				got = fmt.Sprintf("%s%s<%s> %s", path, c.quote, before[c.start:], what)
			}
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}
