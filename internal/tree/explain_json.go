package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// explainJSON explains to the author why a text is not JSON, and points at the mistake.
func (d *Document) explainJSON(err error) {
	message, at := err.Error(), 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = int(syntax.Offset)
		if message != "unexpected end of JSON input" {
			at-- // the offset is one past the wrong character
		}
	}
	at = max(0, min(at, len(d.Text)))
	open := d.openJSON(at)
	if at == len(d.Text) && len(open) > 0 {
		d.unclosedJSON(open[len(open)-1])
		return
	}
	before := bytes.TrimRight(d.Text[:at], " \t\r\n")
	is := func(text string) bool { return strings.Contains(message, text) }
	c := string(bytes.Runes(append(d.Text[at:min(at+4, len(d.Text)):len(d.Text)], ' '))[:1])
	switch {
	case is("exceeded max depth"):
		d.syntax("a definition is never that deep", at, at+1, "nested too deep")
	case is("in string literal") && (c == "\n" || c == "\r"):
		d.unclosedJSON(open[len(open)-1])
	case is("in string literal"):
		d.syntax(`write it as an escape, such as \t for a tab`, at, at+1, "text has the control character U+%04X", c[0])
	case is("in string escape code"), is(`in \u`):
		d.syntax(`write \\ for a backslash`, at, at+1, "this is not an escape sequence")
	case bytes.HasSuffix(before, []byte(",")) && (c == "}" || c == "]"):
		d.syntax("JSON has no comma after the last item", len(before)-1, len(before), "unexpected comma before %q", c)
	case c == "'":
		d.syntax(`JSON uses double quotes: "…"`, at, at+1, "text in single quotes")
	case c == "/" || c == "#":
		d.syntax("remove it", at, at+1, "JSON has no comments")
	case is("looking for beginning of object key"):
		d.syntax("put it in double quotes", at, at+len(c), "%q where a key belongs", c)
	case (is("after object key:value") || is("after array element")) && (c == "}" || c == "]"):
		opened := open[len(open)-1]
		line, column := d.Position(opened)
		d.syntax("write "+string(closing[d.Text[opened]]), at, at+1, "%q does not close the %q on line %d, column %d", c, string(d.Text[opened]), line, column)
	case is("after object key:value"), is("after array element"):
		d.syntax("separate the items with commas", len(before), len(before), "missing comma after the value")
	case is("after object key"):
		d.syntax("", len(before), len(before), "missing colon after the key")
	case is("after top-level value"):
		d.syntax("remove it", at, at+1, "unexpected text after the value")
	case is("looking for beginning of value"):
		d.syntax("put text in double quotes", at, at+len(c), "%q where a value belongs", c)
	default:
		d.syntax("", at, at+1, "%s", message)
	}
}

// closing maps opening to closing brackets.
var closing = map[byte]byte{'{': '}', '[': ']'}

func (d *Document) unclosedJSON(at int) {
	switch c := d.Text[at]; c {
	case '"':
		d.syntax(`end the text with "`, at, at+1, "this quote is not closed")
	default:
		d.syntax(fmt.Sprintf("add the missing %c", closing[c]), at, at+1, "%q is not closed", string(c))
	}
}

// openJSON returns the offsets of the open brackets and, last, of an open quote.
func (d *Document) openJSON(at int) []int {
	var open []int
	for i := 0; i < at; i++ {
		switch d.Text[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case '"':
			open = append(open, i)
			for i++; i < at && d.Text[i] != '"'; i++ {
				if d.Text[i] == '\\' {
					i++
				}
			}
			if i >= at {
				return open
			}
			open = open[:len(open)-1]
		}
	}
	return open
}
