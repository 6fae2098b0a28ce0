package tree

import (
	"bytes"
	"fmt"
	"strings"
)

// flow explains a mistake inside brackets or braces.
func (e *explainer) flow() {
	state := e.scan(e.at)
	if len(state.open) == 0 {
		e.outsideFlow()
		return
	}
	opened := state.open[len(state.open)-1]
	bracket := e.Text[opened]
	closer := closing[bracket]
	openedLine, openedColumn := e.Position(opened)
	b, _ := e.block(e.line)
	outer, _ := e.block(openedLine)
	next := byte(0)
	if e.at < len(e.Text) {
		next = e.Text[e.at]
	}
	switch {
	case strings.HasPrefix(b.text, "{{") && b.key == "":
		e.reportLine(b, "if this is a template, render it first", "%s is not YAML", shortened(b.text))
	case e.at >= len(e.Text), e.line > openedLine && b.key != "" && b.indent <= outer.indent:
		e.report(opened, opened+1, fmt.Sprintf("add the missing %c", closer), "%q is not closed", string(bracket))
	case next == ']' || next == '}':
		if next == closer { // such as {a, , }
			e.report(e.at, e.at+1, "remove the comma before it", "a value is missing here")
			return
		}
		e.report(e.at, e.at+1, fmt.Sprintf("write %c", closer), "%q does not close the %q on line %d, column %d",
			string(next), string(bracket), openedLine, openedColumn)
	case next == ',':
		e.report(e.at, e.at+1, "remove the comma, or put a value before it", "a value is missing here")
	case (next == '{' || next == '[') && e.at > 0 && !isBlank(e.Text[e.at-1]):
		start, end := e.word(e.at)
		for text := e.Text[start:end]; len(text) > 0 && bytes.Count(text, []byte{closer}) > bytes.Count(text, []byte{bracket}) && text[len(text)-1] == closer; text = e.Text[start:end] {
			end-- // it closes what was opened before the word
		}
		e.report(start, end, "put it in quotes: "+quoted(string(e.Text[start:end])), "text with %q in it needs quotes inside brackets", string(next))
	case next == ':':
		e.colonInFlow(opened)
	default:
		start, end := e.word(e.at)
		e.report(start, end, fmt.Sprintf("separate the values with commas, and close the %q on line %d, column %d", string(bracket), openedLine, openedColumn),
			"%s where a comma or %q belongs", shortened(string(e.Text[start:end])), string(closer))
	}
}

// outsideFlow explains a missing value outside brackets.
func (e *explainer) outsideFlow() {
	if e.at < len(e.Text) && strings.IndexByte("]},", e.Text[e.at]) >= 0 {
		e.report(e.at, e.at+1, "remove it, or put the text in quotes", "%q does not belong here", string(e.Text[e.at]))
		return
	}
	e.report(e.at, e.at+1, "", "a value is missing here")
}

// colonInFlow explains a second colon in "key: value: more".
func (e *explainer) colonInFlow(opened int) {
	start := e.at
	for start > opened+1 && strings.IndexByte(",{[\n", e.Text[start-1]) < 0 {
		start--
	}
	before := string(e.Text[start:e.at])
	key, value, found := strings.Cut(before, ": ")
	if openedLine, _ := e.Position(opened); !found && e.line > openedLine {
		bracket := e.Text[opened]
		e.report(opened, opened+1, fmt.Sprintf("add the missing %c, or a comma at the end of line %d", closing[bracket], e.line-1),
			"%q is not closed before %q on line %d", string(bracket), strings.TrimSpace(before), e.line)
		return
	}
	start += len(before) - len(value)
	for start < e.at && isBlank(e.Text[start]) {
		start++
	}
	end := e.at
	for end < len(e.Text) && strings.IndexByte(",}]\r\n", e.Text[end]) < 0 {
		end++
	}
	text := strings.TrimRight(string(e.Text[start:end]), " ")
	hint := strings.TrimSpace(key) + ": " + quoted(text)
	if i := strings.LastIndexByte(strings.TrimSpace(value), ' '); i >= 0 {
		hint += fmt.Sprintf(", or a comma before %q", strings.TrimSpace(value)[i+1:])
	}
	e.report(start, start+len(text), hint, `text with ": " in it needs quotes`)
}

// word returns the bounds of the word around an offset. White space, a comma or the end of a key delimit it.
func (e *explainer) word(at int) (start, end int) {
	start, end = at, at
	for start > 0 && !isBlank(e.Text[start-1]) && strings.IndexByte(",", e.Text[start-1]) < 0 &&
		!(strings.IndexByte("{[", e.Text[start-1]) >= 0 && (start < 2 || isBlank(e.Text[start-2]))) {
		start--
	}
	for end < len(e.Text) && !isBlank(e.Text[end]) && e.Text[end] != ',' {
		if e.Text[end] == ':' && (end+1 == len(e.Text) || isBlank(e.Text[end+1])) {
			break
		}
		end++
	}
	return start, max(end, start+1)
}

// scanState describes a position in the text.
type scanState struct {
	open       []int // offsets of the open brackets, innermost last
	valueStart int   // offset at which the last scalar or outermost bracket started
}

// scan reads the text up to an offset. It recognizes quotes, brackets, comments and block text, which is enough to tell
// what is open: the library has accepted everything before the offset as YAML.
func (e *explainer) scan(to int) scanState {
	var s scanState
	to = min(to, len(e.Text))
	fresh := true // a value may start here
	for i := 0; i < to; i++ {
		c := e.Text[i]
		switch {
		case isBlank(c):
			fresh = fresh || c == '\n'
		case c == '#' && (i == 0 || isBlank(e.Text[i-1])):
			for i+1 < to && e.Text[i+1] != '\n' {
				i++
			}
		case fresh && (c == '"' || c == '\''):
			s.valueStart = i
			i = e.quoteEnd(i, to)
			fresh = false
		case fresh && (c == '|' || c == '>') && len(s.open) == 0:
			i = e.blockTextEnd(i, to)
		case (c == '[' || c == '{') && (fresh || len(s.open) > 0):
			if len(s.open) == 0 {
				s.valueStart = i
			}
			s.open = append(s.open, i)
			fresh = true
		case (c == ']' || c == '}') && len(s.open) > 0:
			s.open = s.open[:len(s.open)-1]
			fresh = false
		case c == ',' && len(s.open) > 0:
			fresh = true
		case (c == ':' || c == '-' || c == '?') && (i+1 == len(e.Text) || isBlank(e.Text[i+1])):
			fresh = true
		default:
			if fresh && len(s.open) == 0 {
				s.valueStart = i
			}
			fresh = false
		}
	}
	return s
}

// quoteEnd returns the offset of the matching closing quote, or to.
func (e *explainer) quoteEnd(at, to int) int {
	quote := e.Text[at]
	for i := at + 1; i < to; i++ {
		switch {
		case e.Text[i] == '\\' && quote == '"':
			i++
		case e.Text[i] != quote:
		case quote == '\'' && i+1 < len(e.Text) && e.Text[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return to
}

// blockTextEnd returns the offset of the last character of the block text whose | or > is at an offset, or to.
func (e *explainer) blockTextEnd(at, to int) int {
	number, _ := e.Position(at)
	header, _ := e.block(number)
	_, end := e.bounds(number)
	for number++; number <= e.Lines(); number++ {
		line := strings.TrimRight(string(e.Line(number)), " \t\r")
		if line != "" && len(line)-len(strings.TrimLeft(line, " ")) <= header.indent {
			break
		}
		_, end = e.bounds(number)
	}
	return min(end, to)
}
