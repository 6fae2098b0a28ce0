package tree

import (
	"fmt"
	"strings"
	"testing"
)

const explained = `service: Sports
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Limit}
versions:
  v1:
    endpoints:
      https://{{host}}/v1/feeds:
        name: Feeds
        method: get
        mime_type: application/json
        modifiers: [limit]
      https://{{host}}/v1/media:
        name: Media
        method: get
        mime_type: application/json
`

// TestExplainYAML makes one mistake at a time in a definition and checks what the author is told.
func TestExplainYAML(t *testing.T) {
	if doc := Parse([]byte(explained), Options{}); len(doc.Problems) > 0 {
		t.Fatalf("problems: %+v", doc.Problems)
	}
	for _, test := range []struct{ name, old, new, want string }{
		{"a brace that is not closed, over two lines", "{kind: number, id: limit, name: Page size, key: limit, label: Limit}", "{kind: number, id: limit\n    name: Page size",
			`3:10 "{": "{" is not closed (add the missing })`},
		{"one space too few", "  method: get\n        mime_type: application/json\n        mod", " method: get\n        mime_type: application/json\n        mod",
			`9:8 "method": indented by 7 spaces, but "name" on line 8 is indented by 8 (indent it by 8 spaces)`},
		{"the first field with one space too few", "        name: Media", "       name: Media",
			`13:8 "name": indented by 7 spaces, but "method" on line 14 is indented by 8 (indent it by 8 spaces)`},
		{"one space too many", "        method: get\n", "         method: get\n",
			`9:10 "method": indented by 9 spaces, deeper than "name" on line 8, which has a value already (indent it by 8 spaces as well)`},
		{"one space too many, after a list", "  modifiers: [limit]\n", "   modifiers: [limit]\n",
			`11:10 "modifiers": indented by 9 spaces, deeper than "mime_type" on line 10, which has a value already (indent it by 8 spaces as well)`},
		{"a URL with one space too few", "      https://{{host}}/v1/media", "     https://{{host}}/v1/media",
			`12:6 "https://{{host}}/v1/media": indented by 5 spaces, but "https://{{host}}/v1/feeds" on line 7 is indented by 6 (indent it by 6 spaces)`},
		{"a URL with one space too many", "      https://{{host}}/v1/media", "       https://{{host}}/v1/media",
			`12:8 "https://{{host}}/v1/media": indented by 7 spaces, but "https://{{host}}/v1/feeds" on line 7 is indented by 6 (indent it by 6 spaces)`},
		{"a top-level field indented", "versions:", " versions:",
			`4:2 "versions": indented by 1 space, but "modifiers" on line 2 is not indented (start it without spaces)`},
		{"the first line indented", "service:", " service:",
			`1:2 "service": indented by 1 space, but "modifiers" on line 2 is not indented (start it without spaces)`},
		{"a top-level field indented after one with a value", "service: Sports\nmodifiers:", "service: Sports\n  modifiers:",
			`2:3 "modifiers": indented by 2 spaces, deeper than "service" on line 1, which has a value already (start it without spaces)`},
		{"a colon in text", "name: Media", "name: Media: all # ok",
			`13:15 "Media: all": text with ": " in it needs quotes (name: "Media: all")`},
		{"a colon in text with quotes", "name: Media", `name: The "best": all`,
			`13:15 "The \"best\": all": text with ": " in it needs quotes (name: 'The "best": all')`},
		{"a colon in text of an item", "[limit]", "\n          - a: b: c",
			`12:16 "b: c": text with ": " in it needs quotes (a: "b: c")`},
		{"a colon in text in braces", "Page size", "Page: size",
			`3:42 "Page": text with ": " in it needs quotes (put the text in quotes, or a comma before the next key)`},
		{"a colon in the second line of text", "name: Media", "name: Media\n          for: all",
			`14:11 "for": indented by 10 spaces, deeper than "name" on line 13, which has a value already (indent it by 8 spaces as well)`},
		{"a colon in the third line of text", "name: Media", "name: Media\n          and more\n          for: all",
			`15:11 "for": text over several lines that has ": " in it needs quotes (put the text in quotes)`},
		{"no comma in braces", "number, id", "number id",
			`3:17 "number id": text with ": " in it needs quotes (put the text in quotes, or a comma before the next key)`},
		{"no colon", "name: Media", "name Media",
			`13:9 "name Media": missing colon after "name" (name: Media)`},
		{"no colon, last", "mime_type: application/json\n        mod", "mime_type application/json\n        mod",
			`10:9 "mime_type application/json": missing colon after "mime_type" (mime_type: application/json)`},
		{"no colon after a URL", "/v1/media:", "/v1/media",
			`12:7 "https://{{host}}/v1/media": missing colon after "https://{{host}}/v1/media" (https://{{host}}/v1/media:)`},
		{"no colon at the top", "versions:", "versions",
			`4:1 "versions": missing colon after "versions" (versions:)`},
		{"an equals sign", "name: Media", "name = Media",
			`13:9 "name = Media": missing colon after "name" (name: Media)`},
		{"no space after the colon", "name: Media", "name:Media",
			`13:9 "name:Media": missing space after the colon (name: Media)`},
		{"an unclosed quote", "name: Media", `name: "Media`,
			`13:15 "\"": this quote is not closed (end the text with ")`},
		{"an unclosed single quote", "name: Media", `name: 'Media`,
			`13:15 "'": this quote is not closed (end the text with ')`},
		{"an unclosed quote before another", "name: Feeds\n        method: get", "name: \"Feeds\n        method: \"get\"",
			`8:15 "\"": this quote is not closed (end the text with ")`},
		{"an apostrophe", "name: Media", "name: 'Editor's pick'",
			`13:23 "s pick'": unexpected text after the value (put all of it in quotes: "Editor's pick")`},
		{"text behind a quote", "name: Media", `name: "Media" all`,
			`13:23 "all": unexpected text after the value (put all of it in quotes: '"Media" all')`},
		{"an unclosed brace", "label: Limit}", "label: Limit",
			`3:10 "{": "{" is not closed (add the missing })`},
		{"an unclosed bracket", "[limit]", "[limit",
			`11:20 "[": "[" is not closed (add the missing ])`},
		{"an unclosed brace at the end", "name: Media\n        method: get\n        mime_type: application/json\n", "{name: Media",
			`13:9 "{": "{" is not closed (add the missing })`},
		{"a bracket too many", "[limit]", "[limit]]",
			`11:27 "]": unexpected "]" after the value (remove it)`},
		{"the wrong bracket", "label: Limit}", "label: Limit]",
			`3:10 "{": "{" is not closed (add the missing })`},
		{"a tab", "        method: get", "\tmethod: get",
			`9:1 "\t": a tab in the indentation (YAML is indented with spaces, not tabs)`},
		{"a list inside a mapping", "        modifiers: [limit]", "        - limit",
			`11:9 "-": a list item among the fields of an object (put the list below the field that it belongs to, or in brackets behind it)`},
		{"an item with one space too few", "[limit]", "\n          - limit\n         - sort",
			`13:10 "- sort": indented by 9 spaces, but the item on line 12 is indented by 10 (indent it by 10 spaces as well)`},
		{"a mapping inside a list", "[limit]", "\n          - limit\n          sort: x",
			`13:11 "sort": a field among the items of a list (begin it with "- ", or indent it like the other fields of its item)`},
		{"a URL as a key in braces", "service: Sports", "x-a: {https://{{host}}/v1/feeds: {name: Feeds}}",
			`1:7 "https://{{host}}/v1/feeds": text with "{" in it needs quotes inside brackets (put it in quotes: "https://{{host}}/v1/feeds")`},
		{"a placeholder as a value", "name: Media", "name: {{title}}",
			`13:15 "{{title}}": text that begins with {{ needs quotes (put it in quotes: "{{title}}")`},
		{"text that begins with a placeholder", "name: Media", "name: {{title}} of it",
			`13:15 "{{title}} of it": text that begins with {{ needs quotes (put it in quotes: "{{title}} of it")`},
		{"a key that begins with a placeholder", "https://{{host}}/v1/media:", "{{host}}/v1/media:",
			`12:7 "{{host}}/v1/media": text that begins with {{ needs quotes (put it in quotes: "{{host}}/v1/media")`},
		{"text that begins with @", "name: Media", "name: @media",
			`13:15 "@": plain text cannot begin with "@" (put it in quotes: "@media")`},
		{"text that begins with !", "name: Media", "name: !Media",
			`13:15 "!Media": tag !Media is not supported (leave the tag out, or put text that begins with ! in quotes)`},
		{"text that is not ASCII with a colon", "name: Media", "name: É: Ünited",
			`13:15 "É: Ünited": text with ": " in it needs quotes (name: "É: Ünited")`},
		{"lines of JSON", "name: Media", `"name": "Media",`,
			`13:24 ",": unexpected "," after the value (remove it)`},
		{"a field that is too deep in an item", "        modifiers: [limit]", "        modifiers:\n          - key: a\n             type: b",
			`13:14 "type": indented by 13 spaces, deeper than "key" on line 12, which has a value already (indent it by 12 spaces as well)`},
		{"an item that is too deep", "        modifiers: [limit]", "        modifiers:\n          - {a: b}\n            - key: c",
			`13:13 "- key: c": indented by 12 spaces, but the item on line 12 is indented by 10 (indent it by 10 spaces as well)`},
		{"an en dash for a list item", "        modifiers: [limit]", "        modifiers:\n          – {id: c, name: C}",
			`12:11 "–": "–" does not begin a list item (begin a list item with -)`},
		{"no space after a dash", "        modifiers: [limit]", "        modifiers:\n          - {a: b}\n          -key: c",
			`13:11 "-key": a field among the items of a list (begin it with "- ", or indent it like the other fields of its item)`},
		{"the first field not indented", "        name: Media", "      name: Media",
			`13:7 "name": indented by 6 spaces, but "method" on line 14 is indented by 8 (indent it by 8 spaces)`},
		{"= for a colon", "name: Media", "name= Media",
			`13:9 "name= Media": missing colon after "name" (name: Media)`},
		{"a no-break space in the indentation", "        name: Media", "\u00a0       name: Media",
			`13:1 "\u00a0": U+00A0 is not a space in YAML (replace it with a normal space)`},
		{"a no-break space after a colon", "name: Media", "name:\u00a0Media",
			`13:14 "\u00a0": U+00A0 is not a space in YAML (replace it with a normal space)`},
		{"a URL in braces as a value", "        name: Media", "        x-a: {use: https://{{host}}/v1/feeds}\n        name: Media",
			`13:20 "https://{{host}}/v1/feeds": text with "{" in it needs quotes inside brackets (put it in quotes: "https://{{host}}/v1/feeds")`},
		{"an endpoint in braces", "      https://{{host}}/v1/media:\n        name: Media\n        method: get\n        mime_type: application/json\n", "      {https://{{host}}/v1/media: {name: Media}}\n",
			`12:7 "{https://{{host}}/v1/media": an object in braces among the fields of an object (remove the braces around the field)`},
		{"the colon in the quotes", "https://{{host}}/v1/media:", `"https://{{host}}/v1/media:"`,
			`12:7 "\"https://{{host}}/v1/media:\"": the colon belongs after the closing quote ("https://{{host}}/v1/media":)`},
		{"text that begins with brackets", "name: Media", "name: [New] Media",
			`13:21 "Media": unexpected text after the value (put all of it in quotes: "[New] Media")`},
		{"text below | that is not indented", "name: Media", "name: |\n        Media",
			`15:9 "m": could not find expected ':' while scanning a simple key ()`},
		{"a comment with //", "        name: Media", "        // about\n        name: Media",
			`13:9 "// about": YAML has no comments with // (begin a comment with #)`},
		{"=> for a colon", "name: Media", "name => Media",
			`13:9 "name => Media": missing colon after "name" (name: Media)`},
		{"a merge conflict with carriage returns", "        name: Media\n", "<<<<<<< HEAD\r\n        name: Media\r\n=======\r\n",
			`13:1 "<<<<<<< HEAD": unresolved merge conflict (choose one of the two versions and remove the conflict markers)`},
		{"a colon in the second line of text after another", "name: Media\n", "name: Media\n          of all\n          kinds\n        note all\n",
			`16:9 "note all": missing colon after "note" (note: all)`},
		{"a quote that another line closes", "name: Media\n        method: get\n", "name: 'Media\n        method: 'get'\n",
			`13:15 "'": this quote is not closed (end the text with ')`},
		{"a control character", "name: Media", "name: Me\adia",
			`13:17 "\a": the file has the control character U+0007 (remove it)`},
		{"a merge conflict", "        name: Media", "<<<<<<< HEAD\n        name: Media\n=======\n        name: Film\n>>>>>>> b",
			`13:1 "<<<<<<< HEAD": unresolved merge conflict (choose one of the two versions and remove the conflict markers)`},
		{"two documents", "versions:", "---\nversions:",
			`4:1 "---": more than one YAML document in the file (one file holds one service: put the next one into a file of its own)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(explained, test.old, test.new, 1)
			if text == explained {
				t.Fatalf("nothing is replaced: %q", test.old)
			}
			wantProblem(t, Parse([]byte(text), Options{}), test.want)
		})
	}
}

func wantProblem(t *testing.T, doc *Document, want string) {
	t.Helper()
	if len(doc.Problems) != 1 {
		t.Fatalf("%d problems: %+v", len(doc.Problems), doc.Problems)
	}
	p := doc.Problems[0]
	line, column := doc.Position(p.At.Start())
	if got := fmt.Sprintf("%d:%d %q: %s (%s)", line, column, doc.Text[p.At.Start():p.At.End()], p.Message, p.Hint); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestExplainJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2}`:              `1:7 "[": "[" is not closed (add the missing ])`,
		`{"a": [1, 2,]}`:            `1:12 ",": unexpected comma before "]" (JSON has no comma after the last item)`,
		`{"a": 1,}`:                 `1:8 ",": unexpected comma before "}" (JSON has no comma after the last item)`,
		`,}`:                        `1:1 ",": "," where JSON begins with { (if the file is YAML, give it a name that ends in .yaml)`,
		"{\"a\": 1\n\"b\": 2}":      `1:8 "": missing comma after the value (separate the items with commas)`,
		`[1 2]`:                     `1:3 "": missing comma after the value (separate the items with commas)`,
		`{"a" 1}`:                   `1:5 "": missing colon after the key (write a colon between key and value)`,
		`{method: "get"}`:           `1:2 "method": a key is not in quotes (put it in double quotes)`,
		`{"method": get}`:           `1:12 "get": this is not a value (put text in double quotes)`,
		`{"a": tru, "b": 1}`:        `1:10 ",": invalid character ',' in literal true (expecting 'e') ()`,
		`{"a": , "b": 1}`:           `1:7 ",": a value is missing here (give the field a value, or remove it)`,
		`{"a": 1,, "b": 1}`:         `1:9 ",": unexpected comma (remove it)`,
		`{"a": 5.}`:                 `1:9 "}": invalid character '}' after decimal point in numeric literal ()`,
		`{"a": “b”}`:                `1:7 "“": this is not a quote in JSON (use straight double quotes: "…")`,
		"{\u00a0\"a\": 1}":          `1:2 "\u00a0": U+00A0 is not a space in JSON (replace it with a normal space)`,
		"service: Sports\n":         `1:1 "service": "service" where JSON begins with { (if the file is YAML, give it a name that ends in .yaml)`,
		`{"a": 'b'}`:                `1:7 "'": text in single quotes (JSON uses double quotes: "…")`,
		`{"a": "b}`:                 `1:7 "\"": this quote is not closed (end the text with ")`,
		"{\"a\": \"b\n\"}":          `1:7 "\"": this quote is not closed (end the text with ")`,
		`{"a": "\x"}`:               `1:9 "x": this is not an escape sequence (write \\ for a backslash)`,
		`{"a\"[": 1]`:               `1:1 "{": "{" is not closed (add the missing })`,
		`{"a": [1`:                  `1:7 "[": "[" is not closed (add the missing ])`,
		`{"a": {"b": "}"}`:          `1:1 "{": "{" is not closed (add the missing })`,
		"{} // x":                   `1:4 "/": JSON has no comments (remove it)`,
		"{}\n{}":                    `2:1 "{": more than one JSON document in the file (one file holds one service: put the next one into a file of its own)`,
		`{}}`:                       `1:3 "}": invalid character '}' after top-level value ()`,
		strings.Repeat("[", 10_001): `1:10001 "[": nested more than 1000 levels deep (a definition is never that deep)`,
	} {
		t.Run(text, func(t *testing.T) {
			input := []byte(text)
			wantProblem(t, Parse(input, Options{JSON: true}), want)
			if string(input) != text {
				t.Errorf("the input is now %q", input)
			}
		})
	}
}
