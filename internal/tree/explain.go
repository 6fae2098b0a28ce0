package tree

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// explainYAML explains to the author why the library could not read a text, and points at the mistake. The library's
// own message often points at a later place, where the text stops making sense.
func (d *Document) explainYAML(err error, maxDepth int) {
	e := explainer{Document: d, message: err.Error()}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		e.message = one.Message
		e.at = d.Offset(one.Mark.Line, one.Mark.Column)
		e.line, _ = d.Position(e.at)
		if one.ContextMark.Line > 0 {
			e.context = d.Offset(one.ContextMark.Line, one.ContextMark.Column)
			e.contextMessage = one.ContextMsg
		}
	}
	switch {
	case e.is("no documents in stream"): // the caller reports an empty file
	case e.is(errTooDeep.Error()):
		d.tooDeep(e.at, maxDepth)
	case e.conflict(), e.control(), e.documents(), e.tab(), e.otherSpace(): // first, because these confuse everything below them
	case e.is("unexpected end of stream"):
		e.unclosedQuote(e.context)
	case e.is("mapping values are not allowed"):
		e.colon()
	case e.is("could not find expected ':'"):
		line, _ := d.Position(e.context)
		e.missingColon(line)
	case e.is("did not find expected key"):
		e.key()
	case e.is("expected <document start>"):
		e.afterRoot()
	case e.is("expected '-' indicator"):
		e.fieldInList()
	case e.is("expected ',' or"), e.is("expected node content"):
		e.flow()
	default:
		e.scalar()
	}
}

// explainer looks for the mistake behind a parse error of the library.
type explainer struct {
	*Document
	message        string
	at             int // where the library stopped
	line           int // line of at
	context        int // start of the value being read
	contextMessage string
}

func (e *explainer) is(text string) bool { return strings.Contains(e.message, text) }

// report adds a problem with the text between two offsets.
func (e *explainer) report(start, end int, hint, format string, args ...any) {
	e.syntax(hint, start, max(end, start+1), format, args...)
}

// conflict reports git conflict markers.
func (e *explainer) conflict() bool {
	for number := 1; number <= e.Lines(); number++ {
		line := e.Line(number)
		if bytes.HasPrefix(line, []byte("<<<<<<< ")) || bytes.HasPrefix(line, []byte(">>>>>>> ")) || string(bytes.TrimRight(line, "\r")) == "=======" {
			start, end := e.bounds(number)
			e.report(start, end, "choose one of the two versions and remove the conflict markers", "unresolved merge conflict")
			return true
		}
	}
	return false
}

// control reports a character that YAML does not allow.
func (e *explainer) control() bool {
	if !e.is("control characters") {
		return false
	}
	for i, r := range string(e.Text) {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff {
			e.report(i, i+1, "remove it", "the file has the control character U+%04X", r)
			return true
		}
	}
	return false
}

// documents reports the start of a second document.
func (e *explainer) documents() bool {
	if !e.is("expected single document") {
		return false
	}
	started := false
	for number := 1; number <= e.Lines(); number++ {
		line := e.Line(number)
		marker := bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))
		if start, end := e.bounds(number); marker && started {
			hint := "one file holds one service: put the next one into a file of its own"
			if _, more := e.after(number); !more {
				hint = "remove this line: nothing follows it"
			}
			e.report(start, end, hint, "more than one YAML document in the file")
			return true
		}
		started = started || len(stripComment(string(line))) > 0 && line[0] != '%'
	}
	e.report(0, 1, "one file holds one service", "more than one YAML document in the file")
	return true
}

// tab reports a tab in the indentation of the line.
func (e *explainer) tab() bool {
	if e.line == 0 {
		return false
	}
	start, end := e.bounds(e.line)
	for at := start; at < end && isBlank(e.Text[at]); at++ {
		if e.Text[at] == '\t' {
			e.report(at, at+1, "YAML is indented with spaces, not tabs", "a tab in the indentation")
			return true
		}
	}
	return false
}

// otherSpace reports white space that looks like a space, but is text to YAML, on the line or the one above: in the
// indentation, or after a colon.
func (e *explainer) otherSpace() bool {
	lines := []int{e.line}
	if above, ok := e.before(e.line); ok {
		lines = []int{above.number, e.line}
	}
	for _, number := range lines {
		if number == 0 {
			continue
		}
		start, _ := e.bounds(number)
		expected := true
		for i, r := range string(e.Line(number)) {
			if expected && r > unicode.MaxASCII && unicode.IsSpace(r) {
				e.report(start+i, start+i+utf8.RuneLen(r), "replace it with a normal space", "U+%04X is not a space in YAML", r)
				return true
			}
			expected = r == ':' || r == ' ' && expected
		}
	}
	return false
}

func (e *explainer) unclosedQuote(start int) {
	e.report(start, start+1, fmt.Sprintf("end the text with %c", e.Text[start]), "this quote is not closed")
}

// scalar explains a problem with a single value.
func (e *explainer) scalar() {
	start, end := e.at, e.valueEnd(e.at)
	switch {
	case e.is("cannot start any token"):
		text := string(e.Text[start:end])
		e.report(start, start+1, "put it in quotes: "+quoted(text), "plain text cannot begin with %q", firstRune(text))
	case e.is("block sequence entries are not allowed"), e.is("mapping keys are not allowed"):
		text := string(e.Text[start:end])
		e.report(start, start+1, "put it in quotes if it is text: "+quoted(text), "%q is not allowed here", firstRune(text))
	case e.is("unknown escape character"):
		e.report(e.at, e.at+2, `write \\ for a backslash, or put the text in single quotes`, "%s is not an escape sequence", e.Text[e.at:min(e.at+2, len(e.Text))])
	case strings.Contains(e.contextMessage, "block scalar"):
		text := string(e.Text[e.context:e.valueEnd(e.context)])
		e.report(e.context, e.context+1, "put it in quotes: "+quoted(text), "after %q the text begins on the next line", firstRune(text))
	case strings.Contains(e.contextMessage, "anchor"), strings.Contains(e.contextMessage, "alias"):
		text := string(e.Text[e.context:e.valueEnd(e.context)])
		e.report(e.context, e.context+1, "put it in quotes: "+quoted(text), "plain text cannot begin with %q", firstRune(text))
	case e.is("unknown anchor"):
		text := string(e.Text[start:end])
		hint := fmt.Sprintf("put it in quotes if it is text; if it is an alias, mark the value with &%s above", text[1:])
		if i := bytes.Index(e.Text[end:], []byte("&"+text[1:])); i >= 0 {
			line, _ := e.Position(end + i)
			hint = fmt.Sprintf("the anchor on line %d must come first", line)
		}
		e.report(start, end, hint, "alias %s names no anchor", text)
	default:
		e.report(e.at, e.at+1, "", "%s", strings.TrimPrefix(e.message, "yaml: "))
	}
}

func firstRune(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

// valueEnd returns the end of the plain text at an offset, without a comment or trailing white space.
func (e *explainer) valueEnd(at int) int {
	line, _ := e.Position(at)
	_, end := e.bounds(line)
	return at + len(stripComment(string(e.Text[at:max(at, end)])))
}

// stripComment returns a line without its comment and trailing white space.
func stripComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return strings.TrimRight(line, " \t\r")
}

// quoted returns text in the kind of quotes that needs fewer escapes.
func quoted(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
