package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// TestCursor checks where a cursor, marked ¦, is found to be: the path, what is being typed, the word so far, and the
// other keys of the object.
func TestCursor(t *testing.T) {
	t.Parallel()
	feeds := "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n"
	const inFeeds = "/versions/v1/endpoints/https://{{host}}/v1/feeds"
	for _, test := range []struct{ text, want string }{
		{"¦", "/ key <> []"},
		{"ver¦\nservice: A", "/ key <ver> [service]"},
		{"versions:\n  ¦", "/versions key <> []"},
		{"mime¦_type: a\nname: b", "/ key <mime> [name]"},
		{"method: po¦\nname: A", "/method value <po> []"},
		{feeds + "        na¦\n        method: get\n      https://{{host}}/v1/media:\n        name: B\n", inFeeds + " key <na> [method]"},
		{feeds + "        name: A\n      ht¦\n", "/versions/v1/endpoints key <ht> [https://{{host}}/v1/feeds]"},
		{feeds + "        name: A\n      https://{{ho¦\n", "/versions/v1/endpoints key <https://{{ho> [https://{{host}}/v1/feeds]"},
		{"enable:\n  - \"a¦", "/enable/ item \"<a> []"},
		{"context_obj:\n  - key: a\n    ty¦", "/context_obj/ key <ty> [key]"},
		{"enable: [a¦\nservice: A\nmodifiers: {}", "/enable/ item flow <a> []"},
		{"modifiers:\n  limit: {kind: number, ¦\nversions: {}", "/modifiers/limit key flow <> [kind]"},
		{"modifiers:\n  - {kind: select, options: [{value: a, label: A},\n     {va¦", "/modifiers//options/ item flow <va> []"},
		{"method: \"po¦\nname: A", "/method value \"<po> []"},
		{"{'https://{{host}}/a': {na¦", "/https://{{host}}/a key flow <na> []"},
		{"a: \"x\\\"{\"\nb: {c¦", "/b key flow <c> []"},
		{"x-note: |\n  method: ¦\n", "nothing"},
		{"x-note: |\n  some: {text\nser¦", "/ key <ser> [x-note]"},
		{"name: A # {¦", "nothing"},
		{"name: A\n  b¦", "nothing"}, // a text of two lines
		{"\"ver¦\nservice: A", "/ key \"<ver> [service]"},

		{"json ¦", "nothing"},
		{`json {"service": "A", "ver¦"}`, `/ key flow "<ver> [service]`},
		{"json {\"enable\": [\n \"authentication\",\n \"¦\n]}", `/enable/ item flow "<> []`},
	} {
		t.Run(test.text, func(t *testing.T) {
			uri, text := "file:///feeds.yaml", test.text
			if rest, ok := strings.CutPrefix(text, "json "); ok {
				uri, text = "file:///feeds.json", rest
			}
			before, after, _ := strings.Cut(text, "¦")
			got := "nothing"
			if c, ok := newDocument(uri, 1, before+after).cursor(len(before)); ok {
				got = "/" + strings.Join(c.path, "/") + " " + [...]string{"key", "value", "item"}[c.place]
				if c.flow {
					got += " flow"
				}
				got += fmt.Sprintf(" %s<%s> %v", c.quote, before[c.start:], c.keys)
			}
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}
