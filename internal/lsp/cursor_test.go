package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// TestCursor uses texts in which ¦ marks the cursor. Most of them do not parse.
func TestCursor(t *testing.T) {
	for _, test := range []struct {
		name, text string
		json       bool
		want       string // path, then key: or word, and the other keys
	}{
		{name: "empty file", text: "¦", want: "/ key <> []"},
		{name: "top level", text: "service: A\nver¦", want: "/ key <ver> [service]"},
		{name: "key with what follows", text: "service: A\nena¦\nversions:\n  v1: {}\n", want: "/ key <ena> [service versions]"},
		{name: "value", text: "service: A¦", want: "/ value of service <A> []"},
		{name: "empty value", text: "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n        method: ¦\n        name: A\n",
			want: "/versions/v1/endpoints/https://{{host}}/v1/feeds value of method <> [name]"},
		{name: "key of an endpoint", text: "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n        na¦\n        method: get\n      https://{{host}}/v1/media:\n        name: B\n",
			want: "/versions/v1/endpoints/https://{{host}}/v1/feeds key <na> [method]"},
		{name: "blank line", text: "versions:\n  v1:\n    endpoints:\n      https://{{host}}/v1/feeds:\n        name: A\n        ¦\n",
			want: "/versions/v1/endpoints/https://{{host}}/v1/feeds key <> [name]"},
		{name: "blank line further out", text: "modifiers:\n  limit:\n    kind: number\n  ¦", want: "/modifiers key <> [limit]"},
		{name: "list item", text: "a:\n  modifiers:\n    - lim¦", want: "/a/modifiers/ item <lim> []"},
		{name: "list item as far left as its key", text: "enable:\n- auth¦\nmodifiers: {}", want: "/enable/ item <auth> []"},
		{name: "empty list item", text: "enable:\n  - ¦", want: "/enable/ item <> []"},
		{name: "second key of an item", text: "context_obj:\n  - key: a\n    ty¦", want: "/context_obj/ key <ty> [key]"},
		{name: "value in an item", text: "context_obj:\n  - type: b¦", want: "/context_obj/ value of type <b> []"},
		{name: "flow list", text: "enable: [authentication, ge¦]", want: "/enable/ item flow <ge> []"},
		{name: "flow list that is open", text: "enable: [¦", want: "/enable/ item flow <> []"},
		{name: "flow object", text: "modifiers:\n  limit: {kind: number, ke¦", want: "/modifiers/limit key flow <ke> [kind]"},
		{name: "flow object, keys behind", text: "modifiers:\n  limit: {ke¦, kind: number}", want: "/modifiers/limit key flow <ke> [kind]"},
		{name: "flow value", text: "modifiers:\n  limit: {kind: nu¦", want: "/modifiers/limit value of kind flow <nu> []"},
		{name: "flow over two lines", text: "modifiers:\n  - {kind: select, options: [{value: a, label: A},\n     {va¦", want: "/modifiers//options/ key flow <va> []"},
		{name: "flow item of a list", text: "context_obj:\n  - {key: a, type: ¦}", want: "/context_obj/ value of type flow <> [key]"},
		{name: "quoted value", text: "method: \"po¦", want: `/ value of method "<po> []`},
		{name: "quoted in a flow", text: "{method: 'po¦'}", want: "/ value of method flow '<po> []"},
		{name: "placeholder in a flow", text: "{https://{{host}}/a: {na¦", want: "/https://{{host}}/a key flow <na> []"},
		{name: "block of text", text: "x-note: |\n  method: ¦\n", want: "nothing"},
		{name: "behind a block of text", text: "x-note: |\n  some: text\nser¦", want: "/ key <ser> [x-note]"},
		{name: "comment", text: "# ser¦", want: "nothing"},
		{name: "comment behind a value", text: "name: A # signpost: allow dup¦", want: "allow <dup>"},
		{name: "comment that allows", text: "  # signpost: allow plain-http, dup¦", want: "allow <dup>"},
		{name: "CRLF", text: "service: A\r\nver¦\r\n", want: "/ key <ver> [service]"},

		{name: "JSON, empty", json: true, text: "¦", want: "nothing"},
		{name: "JSON key", json: true, text: `{"service": "A", "ver¦`, want: `/ key flow "<ver> [service]`},
		{name: "JSON key without quotes", json: true, text: `{¦`, want: "/ key flow <> []"},
		{name: "JSON value", json: true, text: `{"versions": {"v1": {"endpoints": {"https://{{host}}/a": {"method": "¦"}}}}}`,
			want: `/versions/v1/endpoints/https://{{host}}/a value of method flow "<> []`},
		{name: "JSON list", json: true, text: "{\"enable\": [\n \"authentication\",\n \"¦\n]}", want: `/enable/ item flow "<> []`},
		{name: "JSON, unclosed quote before", json: true, text: "{\"service\": \"A,\n\"ena¦", want: `/ value of service flow "<ena> []`},
	} {
		t.Run(test.name, func(t *testing.T) {
			offset := strings.Index(test.text, "¦")
			text := strings.Replace(test.text, "¦", "", 1)
			if got := describe(at(text, offset, test.json)); got != test.want {
				t.Errorf("%q:\n got %s\nwant %s", test.text, got, test.want)
			}
		})
	}
}

// describe formats a cursor as in the table.
func describe(c cursor) string {
	switch {
	case c.allows:
		return fmt.Sprintf("allow <%s>", c.word)
	case c.key == notCompletable:
		return "nothing"
	}
	out := "/" + strings.Join(c.path, "/")
	switch {
	case c.value:
		out += " value of " + c.key
	case c.item:
		out += " item"
	default:
		out += " key"
	}
	if c.flow {
		out += " flow"
	}
	out += " "
	if c.quote != 0 {
		out += string(c.quote)
	}
	return out + fmt.Sprintf("<%s> %v", c.word, c.keys)
}

// FuzzCursor checks that every offset of every text has a cursor, and that its word ends there.
func FuzzCursor(f *testing.F) {
	f.Add("service: A\nenable: [a, {b: c}]\nx: |\n  text\n- {", true)
	f.Add(`{"service": "A", "versions": {"v1": [`, false)
	f.Add("#\r", false)
	f.Fuzz(func(t *testing.T, text string, json bool) {
		if len(text) > 1000 {
			return
		}
		for offset := range len(text) + 1 {
			c := at(text, offset, json)
			if c.start < 0 || c.start > offset || text[c.start:offset] != c.word {
				t.Fatalf("offset %d of %q: the word is %q, from %d", offset, text, c.word, c.start)
			}
		}
	})
}
