package tree

import (
	"fmt"
	"strings"
)

// blockLine is a line of block YAML. It may be a list item, and may have a key with a value.
type blockLine struct {
	number int
	indent int    // number of spaces before the text
	item   bool   // it begins with "- "
	inner  int    // number of characters before text
	text   string // without indentation, comment and "- "
	key    string // "" if none
	value  string // what follows the colon
}

// block parses a line, or returns false if it is blank.
func (e *explainer) block(number int) (blockLine, bool) {
	text := stripComment(string(e.Line(number)))
	b := blockLine{number: number, text: strings.TrimLeft(text, " ")}
	b.indent = len(text) - len(b.text)
	if b.text == "" {
		return b, false
	}
	if rest, ok := strings.CutPrefix(b.text, "- "); ok || b.text == "-" {
		b.item, b.text = true, strings.TrimLeft(rest, " ")
	}
	b.inner = len(text) - len(b.text)
	b.key, b.value = splitKey(b.text)
	return b, true
}

// splitKey splits "key: value". The key is "" if there is none.
func splitKey(text string) (key, value string) {
	if text != "" && strings.IndexByte(`"'`, text[0]) >= 0 {
		end := strings.IndexByte(text[1:], text[0])
		if end < 0 {
			return "", ""
		}
		key, rest := text[:end+2], text[end+2:]
		if after, ok := strings.CutPrefix(strings.TrimLeft(rest, " "), ":"); ok {
			return key, strings.TrimSpace(after)
		}
		return "", ""
	}
	if key, value, ok := strings.Cut(text, ": "); ok {
		return key, strings.TrimSpace(value)
	}
	if key, ok := strings.CutSuffix(text, ":"); ok {
		return key, ""
	}
	return "", ""
}

// before returns the nearest non-blank line above.
func (e *explainer) before(number int) (blockLine, bool) {
	for number--; number >= 1; number-- {
		if b, ok := e.block(number); ok {
			return b, true
		}
	}
	return blockLine{}, false
}

// start returns the offset of the text of a line, after its indentation.
func (e *explainer) start(b blockLine) int {
	start, _ := e.bounds(b.number)
	return start + b.indent
}

func (e *explainer) reportLine(b blockLine, hint, format string, args ...any) {
	start := e.start(b)
	end := start + len(b.key)
	if b.key == "" || b.item {
		end = e.valueEnd(start)
	}
	e.report(start, end, hint, format, args...)
}

// colon explains a colon where no key is allowed.
func (e *explainer) colon() {
	b, _ := e.block(e.line)
	above, ok := e.before(e.line)
	keyEnd := e.start(b) + len(b.text) - len(strings.TrimPrefix(b.text, b.key))
	dash, _, _ := strings.Cut(b.text, " ")
	switch {
	case dash == "–" || dash == "—": // what text processors make of a dash
		e.report(e.start(b), e.start(b)+len(dash), "begin a list item with -", "%q does not begin a list item", dash)
	case e.at > keyEnd && b.value != "": // name: Media: all
		start := e.start(b) + strings.Index(string(e.Line(e.line))[b.indent:], ": ") + 2
		for start < len(e.Text) && e.Text[start] == ' ' {
			start++
		}
		text := string(e.Text[start:e.valueEnd(start)])
		e.report(start, start+len(text), b.key+": "+quoted(text), `text with ": " in it needs quotes`)
	case ok && above.key == "" && !e.continues(above):
		e.missingColon(above.number)
	case ok && above.value != "" && b.indent > above.inner:
		if parent, ok := e.before(above.number); ok && parent.key != "" && parent.value == "" && parent.inner == above.indent && !above.item {
			e.misplaced(above, b) // it belongs below the line above it, as this line shows
			return
		}
		e.reportLine(b, "indent it by "+spaces(above.inner)+" as well",
			"indented by %s, deeper than %s on line %d, which has a value already", spaces(b.indent), shortened(above.key), above.number)
	default:
		e.reportLine(b, "put the text in quotes", `text over several lines that has ": " in it needs quotes`)
	}
}

// continues reports whether a line continues the plain text of a line above it.
func (e *explainer) continues(b blockLine) bool {
	for above, ok := e.before(b.number); ok; above, ok = e.before(above.number) {
		if above.value != "" {
			return b.indent > above.indent
		}
		if above.key != "" || above.item {
			return false
		}
	}
	return false
}

// missingColon explains a line that should have a key.
func (e *explainer) missingColon(number int) {
	b, _ := e.block(number)
	if above, ok := e.before(number); ok && above.value != "" && strings.Trim(above.value, "|>+-0123456789") == "" && strings.ContainsAny(above.value[:1], "|>") {
		e.reportLine(b, "indent it by "+spaces(above.inner+2), "the text after %q must be indented deeper than %s on line %d", above.value, shortened(above.key), above.number)
		return
	}
	switch {
	case strings.HasPrefix(b.text, "//"):
		e.reportLine(b, "begin a comment with #", "YAML has no comments with //")
		return
	case strings.HasPrefix(b.text, "{{"):
		e.reportLine(b, "if this is a template, render it first", "%s is not YAML", shortened(b.text))
		return
	case strings.HasPrefix(b.text, "{"):
		e.reportLine(b, "remove the braces around the field", "an object in braces among the fields of an object")
		return
	}
	if text, ok := strings.CutSuffix(b.text, `:"`); ok && strings.HasPrefix(text, `"`) {
		e.reportLine(b, text+`":`, "the colon belongs after the closing quote")
		return
	}
	first, rest, _ := strings.Cut(b.text, " ")
	rest = strings.TrimSpace(rest)
	if name, value, ok := strings.Cut(first, ":"); ok && rest == "" && !strings.HasPrefix(value, "//") && name != "" {
		e.reportLine(b, name+": "+value, "missing space after the colon")
		return
	}
	for _, other := range []string{"=>", "=", "："} { // written for a colon
		first, rest = strings.TrimSuffix(first, other), strings.TrimSpace(strings.TrimPrefix(rest, other))
	}
	e.reportLine(b, strings.TrimSpace(first+": "+rest), "missing colon after %s", shortened(first))
}

// key explains text where the next key of an object is expected.
func (e *explainer) key() {
	b, _ := e.block(e.line)
	switch {
	case e.at > e.start(b):
		e.behindValue(b)
	case b.item:
		e.itemAmongFields(b)
	default:
		e.indentation(b)
	}
}

// behindValue explains text after the end of a value.
func (e *explainer) behindValue(b blockLine) {
	state := e.scan(e.at)
	rest := string(e.Text[e.at:e.valueEnd(e.at)])
	value := string(e.Text[state.valueStart:e.valueEnd(state.valueStart)])
	quote := e.Text[state.valueStart]
	startLine, _ := e.Position(state.valueStart)
	switch {
	case (quote == '"' || quote == '\'') && startLine < e.line:
		e.unclosedQuote(state.valueStart) // closed by the quote that was meant to open the next text
	case strings.HasPrefix(rest, ","):
		e.report(e.at, e.at+1, "only lists and objects in brackets have commas", "unexpected comma after the value")
	case strings.HasPrefix(rest, "]"), strings.HasPrefix(rest, "}"):
		e.report(e.at, e.at+1, "remove it", "%q closes nothing", rest[:1])
	case strings.HasPrefix(value, "{{"):
		if key, _ := splitKey(value); key != "" {
			value = key
		}
		e.report(state.valueStart, state.valueStart+len(value), "put it in quotes: "+quoted(value), "text that begins with {{ needs quotes")
	case quote == '\'' && e.Text[e.at-1] == '\'':
		e.report(e.at-1, e.at, "double the quote inside the text, or put it in double quotes", "the text ends at this quote")
	case quote == '"' || quote == '\'':
		e.report(e.at, e.at+len(rest), "put the quotes around all of it, or around none", "unexpected text after the closing quote")
	case strings.HasSuffix(value, rest):
		e.report(e.at, e.at+len(rest), "put it in quotes if all of it is text: "+quoted(value), "unexpected text after the value")
	default:
		e.report(e.at, e.at+len(rest), "", "unexpected text after the value")
	}
}

// itemAmongFields explains a line with "- " among the fields of an object.
func (e *explainer) itemAmongFields(b blockLine) {
	for above, ok := e.before(b.number); ok && above.indent >= b.indent; above, ok = e.before(above.number) {
		if above.item && above.indent != b.indent {
			e.misplacedItem(b, above)
			return
		}
	}
	e.report(e.start(b), e.start(b)+1, "put the list below the field that it belongs to, or in brackets behind it",
		"a list item among the fields of an object")
}

// misplacedItem explains a list item that should be indented like another one.
func (e *explainer) misplacedItem(b, other blockLine) {
	e.reportLine(b, "indent it by "+spaces(other.indent)+" as well",
		"indented by %s, but the item on line %d is indented by %d", spaces(b.indent), other.number, other.indent)
}

// indentation explains a line whose indentation matches none of the enclosing objects.
func (e *explainer) indentation(b blockLine) {
	var levels []blockLine // lines that start the enclosing objects, innermost first
	for above, ok := e.before(b.number); ok; above, ok = e.before(above.number) {
		if len(levels) == 0 || above.indent < levels[len(levels)-1].indent {
			levels = append(levels, above)
		}
	}
	if len(levels) == 0 {
		e.reportLine(b, "", "the indentation of this line does not match any line above it")
		return
	}
	best := levels[0]
	next, hasNext := e.after(b.number)
	for _, level := range levels {
		closer := abs(level.indent-b.indent) < abs(best.indent-b.indent)
		asNear := abs(level.indent-b.indent) == abs(best.indent-b.indent)
		// A line that has children belongs one level further out than they do.
		if closer || asNear && b.value == "" && hasNext && next.indent > b.indent && best.indent >= next.indent {
			best = level
		}
	}
	if best.indent == 0 {
		e.unindented(b, best)
		return
	}
	e.misplaced(b, best)
}

// misplaced explains a line that should be indented like another one.
func (e *explainer) misplaced(b, other blockLine) {
	e.reportLine(b, "indent it by "+spaces(other.indent), "indented by %s, but %s on line %d is indented by %d",
		spaces(b.indent), shortened(nameOf(other)), other.number, other.indent)
}

// after returns the nearest non-blank line below.
func (e *explainer) after(number int) (blockLine, bool) {
	for number++; number <= e.Lines(); number++ {
		if b, ok := e.block(number); ok {
			return b, true
		}
	}
	return blockLine{}, false
}

// afterRoot explains text after the end of the outermost value.
func (e *explainer) afterRoot() {
	b, _ := e.block(e.line)
	first, ok := e.after(0)
	if ok && first.indent > b.indent {
		e.unindented(first, b)
		return
	}
	if state := e.scan(e.at); e.at > 0 && state.valueStart < e.at {
		e.behindValue(b)
		return
	}
	e.reportLine(b, "", "unexpected text after the value")
}

// unindented explains an indented line next to another one on the same level that is not.
func (e *explainer) unindented(b, other blockLine) {
	e.reportLine(b, "start it without spaces", "indented by %s, but %s on line %d is not indented", spaces(b.indent), shortened(nameOf(other)), other.number)
}

// fieldInList explains a line where the next list item is expected.
func (e *explainer) fieldInList() {
	b, _ := e.block(e.line)
	if rest, ok := strings.CutPrefix(b.text, "-"); ok && !b.item {
		e.reportLine(b, "- "+rest, "missing space after the dash")
		return
	}
	for above, ok := e.before(b.number); ok && b.item; above, ok = e.before(above.number) {
		if above.item && above.indent < b.indent {
			e.misplacedItem(b, above)
			return
		}
	}
	e.reportLine(b, `begin it with "- ", or indent it like the other fields of its item`, "a field among the items of a list")
}

// nameOf returns how messages refer to a line.
func nameOf(b blockLine) string {
	if b.item {
		return "-"
	}
	if b.key != "" {
		return b.key
	}
	return b.text
}

// shortened returns text in quotes, truncated if it is too long for a message.
func shortened(text string) string {
	const most = 40 // characters: keeps a URL recognizable and the message on one line
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// spaces returns "1 space", "2 spaces" and so on.
func spaces(n int) string {
	if n == 1 {
		return "1 space"
	}
	return fmt.Sprintf("%d spaces", n)
}

func abs(n int) int { return max(n, -n) }
