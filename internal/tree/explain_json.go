package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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
		d.unclosedJSON(d.leftOpen(open[len(open)-1]))
		return
	}
	before := bytes.TrimRight(d.Text[:at], " \t\r\n")
	is := func(text string) bool { return strings.Contains(message, text) }
	r, size := utf8.DecodeRune(d.Text[at:])
	c := string(r)
	start, end := d.jsonWord(at)
	word := string(d.Text[start:end])
	switch {
	case is("exceeded max depth"):
		d.syntax("a definition is never that deep", at, at+1, "nested too deep")
	case is("in string literal") && (c == "\n" || c == "\r"):
		d.unclosedJSON(open[len(open)-1])
	case is("in string literal"):
		d.syntax(`write it as an escape, such as \t for a tab`, at, at+1, "text has the control character U+%04X", r)
	case is("in string escape code"), is(`in \u`):
		d.syntax(`write \\ for a backslash`, at, at+1, "this is not an escape sequence")
	case bytes.HasSuffix(before, []byte(",")) && (c == "}" || c == "]"):
		d.syntax("JSON has no comma after the last item", len(before)-1, len(before), "unexpected comma before %q", c)
	case c == "'":
		d.syntax(`JSON uses double quotes: "…"`, at, at+1, "text in single quotes")
	case c == "/" || c == "#":
		d.syntax("remove it", at, at+1, "JSON has no comments")
	case r > unicode.MaxASCII && unicode.IsSpace(r):
		d.syntax("replace it with a normal space", at, at+size, "U+%04X is not a space in JSON", r)
	case unicode.In(r, unicode.Pi, unicode.Pf):
		d.syntax(`use straight double quotes: "…"`, at, at+size, "%q is not a quote in JSON", c)
	case len(word) < 40 && numberLike.MatchString(word) && !jsonNumber.MatchString(word) && !is("looking for beginning of object key"):
		d.syntax("write it in plain digits, such as 20 or 0.5", start, end, "%s is not a number in JSON", word)
	case is("looking for beginning of object key") && c == ",":
		d.syntax("remove it", at, at+1, "unexpected comma")
	case is("looking for beginning of object key"):
		d.syntax("put it in double quotes", start, end, "%s where a key belongs", shortened(word))
	case (is("after object key:value") || is("after array element")) && (c == "}" || c == "]"):
		opened := open[len(open)-1]
		line, column := d.Position(opened)
		d.syntax("write "+string(closing[d.Text[opened]]), at, at+1, "%q does not close the %q on line %d, column %d", c, string(d.Text[opened]), line, column)
	case is("after object key:value"), is("after array element"):
		d.syntax("separate the items with commas", len(before), len(before), "missing comma after the value")
	case is("after object key"):
		d.afterKey(before)
	case is("after top-level value") && (c == "}" || c == "]"):
		d.syntax("remove it", at, at+1, "%q closes nothing", c)
	case is("after top-level value") && c == "{":
		d.syntax("one file holds one service: put the next one into a file of its own", at, at+1, "more than one JSON document in the file")
	case is("after top-level value"):
		d.syntax("remove it", at, at+1, "unexpected text after the value")
	case is("looking for beginning of value") && strings.Contains(",:}]", c):
		d.syntax("give the field a value, or remove it", at, at+1, "a value is missing here")
	case len(before) == 0 && c == "<":
		d.syntax("", at, end, "this is HTML or XML, not JSON")
	case len(before) == 0:
		d.syntax("if the file is YAML, give it a name that ends in .yaml", start, end, "%s where JSON begins with {", shortened(word))
	case is("looking for beginning of value"), is("in literal"):
		hint := "put text in double quotes"
		switch literal := strings.ToLower(word); literal {
		case "true", "false":
			hint = "write " + literal
		case "null", "none", "nil", "undefined":
			hint = "give the field a value, or remove it"
		}
		d.syntax(hint, start, end, "%s where a value belongs", shortened(word))
	default:
		d.syntax("", at, at+1, "%s", message)
	}
}

// numberLike matches a word that is meant as a number.
var numberLike = regexp.MustCompile(`^([+-]?\.?[0-9][0-9a-fA-FxXoO_.+-]*|[+-]?(NaN|Infinity|inf))$`)

// jsonWord returns the bounds of the word around an offset or, if there is none, of the character at the offset.
func (d *Document) jsonWord(at int) (start, end int) {
	inWord := func(i int) bool { return strings.IndexByte(" \t\r\n\"'`,:;={}[]", d.Text[i]) < 0 }
	for start = at; start > 0 && inWord(start-1); start-- {
	}
	for end = at; end < len(d.Text) && inWord(end); end++ {
	}
	if start == end {
		_, size := utf8.DecodeRune(d.Text[at:])
		end += size
	}
	return start, end
}

// afterKey explains text where a key should be followed by a colon. before is the text up to the key's closing quote.
func (d *Document) afterKey(before []byte) {
	// In {"name: "Media"}, the quote that opens the value closes the key.
	opened := d.openJSON(len(before) - 1)
	if quote := opened[len(opened)-1]; d.Text[quote] == '"' {
		if name, ok := strings.CutSuffix(strings.TrimSpace(string(before[quote+1:len(before)-1])), ":"); ok {
			d.syntax(`write "`+name+`":`, quote, quote+1, "this quote is not closed")
			return
		}
	}
	d.syntax("write a colon between key and value", len(before), len(before), "missing colon after the key")
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

// leftOpen returns the offset of the bracket that was probably forgotten to close if the text ends inside the one at
// last. In an indented text, that is the first one whose closing bracket stands further left than its line begins.
func (d *Document) leftOpen(last int) int {
	indent := func(at int) (first, width int) {
		line, _ := d.Position(at)
		first, end := d.bounds(line)
		width = end - first - len(bytes.TrimLeft(d.Text[first:end], " \t"))
		return first + width, width
	}
	found := -1
	d.scanJSON(len(d.Text), func(opened, closed int) {
		if found >= 0 {
			return
		}
		first, width := indent(closed)
		if _, outer := indent(opened); closed == first && width < outer {
			found = opened
		}
	})
	if found >= 0 {
		return found
	}
	return last
}

// openJSON returns the offsets of the open brackets and, last, of an open quote.
func (d *Document) openJSON(at int) []int { return d.scanJSON(at, func(int, int) {}) }

// scanJSON reads the text up to an offset, calls closed for every bracket that is closed before it, and returns what
// openJSON does.
func (d *Document) scanJSON(to int, closed func(opened, at int)) []int {
	var open []int
	for i := 0; i < to; i++ {
		switch d.Text[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			if len(open) > 0 {
				closed(open[len(open)-1], i)
				open = open[:len(open)-1]
			}
		case '"':
			open = append(open, i)
			for i++; i < to && d.Text[i] != '"'; i++ {
				if d.Text[i] == '\\' {
					i++
				}
			}
			if i >= to {
				return open
			}
			open = open[:len(open)-1]
		}
	}
	return open
}
