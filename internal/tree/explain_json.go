package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// jsonMistakes are those that authors make in JSON: what the library says about which of the characters, and what to
// tell the author. Without characters, any will do. The first that applies wins; for anything else, the library's own
// text stands.
var jsonMistakes = []struct{ says, chars, message, hint string }{
	{"", "'", "text in single quotes", `JSON uses double quotes: "…"`},
	{"", "/#", "JSON has no comments", "remove it"},
	{"", "“”„‘’", "this is not a quote in JSON", `use straight double quotes: "…"`},
	{"", "\u00a0", "U+00A0 is not a space in JSON", "replace it with a normal space"},
	{"after top-level value", "{", "more than one JSON document in the file",
		"one file holds one service: put the next one into a file of its own"},
	{"looking for beginning of object key", ",", "unexpected comma", "remove it"},
	{"looking for beginning of object key", "", "a key is not in quotes", "put it in double quotes"},
	{"looking for beginning of value", ",}]", "a value is missing here", "give the field a value, or remove it"},
	{"looking for beginning of value", "+", "a number does not begin with +", "remove it"},
	{"looking for beginning of value", "", "this is not a value", "put text in double quotes"},
	{"after array element", "", "missing comma after the value", "separate the items with commas"},
	{"after object key:value pair", "", "missing comma after the value", "separate the items with commas"},
	{"after object key", "", "missing colon after the key", "write a colon between key and value"},
	{"in string literal", "\t", "a tab in text", `write \t, or a space`},
	{"in string escape code", "", notAnEscape, writeTwo},
}

// Messages and hints for both formats.
const (
	notAnEscape   = "this is not an escape sequence"
	writeTwo      = `write \\ for a backslash`
	mergeConflict = "unresolved merge conflict"
	chooseOne     = "choose one of the two versions and remove the conflict markers"
)

// jsonWords has what to write in place of words that other languages have.
var jsonWords = map[string]string{
	"True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "None": "null", "nil": "null", "NULL": "null",
	"undefined": "null, or leave the field out", "NaN": "a number", "Infinity": "a number",
}

// conflictMarker matches a line that a merge left behind.
var conflictMarker = regexp.MustCompile(`(?m)^(<{7} .*?|>{7} .*?|={7})\r?$`)

// jsonWord matches the word or the character at the start of a text.
var jsonWord = regexp.MustCompile(`^(?s:[\pL\pN_]+|.)`)

// explainJSON reports why a text is not JSON.
func (d *Document) explainJSON(err error) {
	message, at := err.Error(), 0
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = int(syntax.Offset)
		if message != "unexpected end of JSON input" {
			at-- // the offset is one past the wrong character
		}
	}
	at = max(0, min(at, len(d.Text)))
	before := len(bytes.TrimRight(d.Text[:at], " \t\r\n"))
	r, _ := utf8.DecodeRune(d.Text[at:])
	word := string(jsonWord.Find(d.Text[at:]))
	end := at + len(word)
	closes := r == '}' || r == ']'
	isDigit := r >= '0' && r <= '9'
	leadingZero := isDigit && at > 0 && d.Text[at-1] == '0' &&
		strings.HasPrefix(message, "invalid character '"+string(r)+"' after")
	conflict := conflictMarker.FindIndex(d.Text)
	switch unclosed := Unclosed(string(d.Text[:at])); {
	case conflict != nil:
		d.syntax(conflict[0], conflict[1], chooseOne, mergeConflict)
	case leadingZero:
		d.syntax(at-1, end, "write it without the 0", "a number does not begin with 0")
	case jsonWords[word] != "" && strings.Contains(message, "looking for beginning of value"):
		d.syntax(at, end, "write "+jsonWords[word], "%q is not a value in JSON", word)
	case strings.Contains(message, "exceeded max depth"):
		d.tooDeep(at)
	case len(unclosed) > 0 && (at == len(d.Text) || strings.Contains(message, "in string literal") && (r == '\n' || r == '\r')):
		d.unclosed(unclosed[len(unclosed)-1])
	case closes && before > 0 && d.Text[before-1] == ',':
		d.syntax(before-1, before, "JSON has no comma after the last item", "unexpected comma before %q", string(r))
	case closes && (strings.Contains(message, "after array element") || strings.Contains(message, "after object key:value pair")):
		d.unclosed(unclosed[len(unclosed)-1])
	case before == 0 && r != '/':
		d.syntax(at, end, "if the file is YAML, give it a name that ends in .yaml", "%s where JSON begins with {",
			shortened(word))
	default:
		for _, m := range jsonMistakes {
			if strings.Contains(message, m.says) && (m.chars == "" || strings.ContainsRune(m.chars, r)) {
				if strings.HasPrefix(m.message, "missing") {
					at, end = before, before
				}
				d.syntax(at, end, m.hint, "%s", m.message)
				return
			}
		}
		d.syntax(at, end, "", "%s", message)
	}
}
