package tree

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"signpost/internal/spell"
)

// mistakes are those that authors make, each with the part of the library's message that it causes. The library often
// points at a later place, where the text stops making sense; an explanation points at the mistake. The first one that
// applies wins. For anything else, the library's own text stands.
var mistakes = []struct {
	says    string
	explain func(*explainer) bool
}{
	// These come first because they confuse everything below them.
	{"", (*explainer).conflict},
	{"control characters", (*explainer).control},
	{"expected single document", (*explainer).documents},
	{"", (*explainer).tab},
	{"", (*explainer).otherSpace},

	{"unexpected end of stream while scanning a quoted scalar", func(e *explainer) bool { return e.unclosed(e.context) }},
	{"mapping values are not allowed", (*explainer).dash},
	{"mapping values are not allowed", (*explainer).colonInText},
	{"mapping values are not allowed", (*explainer).noColonAbove},
	{"mapping values are not allowed", (*explainer).tooDeep},
	{"mapping values are not allowed", (*explainer).colonInLines},
	{"could not find expected ':'", func(e *explainer) bool { return e.noColon(e.blockAt(e.context)) }},
	{"did not find expected key", (*explainer).quoteAbove},
	{"did not find expected key", (*explainer).placeholder},
	{"did not find expected key", (*explainer).behindValue},
	{"did not find expected key", (*explainer).item},
	{"did not find expected key", (*explainer).indentation},
	{"expected '-' indicator", (*explainer).item},
	{"expected '-' indicator", (*explainer).fieldInList},
	{"expected <document start>", (*explainer).firstIndented},
	{"expected ',' or", (*explainer).bracketInWord},
	{"expected ',' or", (*explainer).colonInFlow},
	{"expected ',' or", (*explainer).unclosedBracket},
	{"expected node content", (*explainer).unclosedAtEnd},
	{"cannot start any token", (*explainer).needsQuotes},
}

// explainer looks for the mistake behind an error of the library.
type explainer struct {
	*Document
	at      int       // where the library stopped
	line    blockLine // line of at
	above   blockLine // the nearest line above it that is not blank; its number is 0 if there is none
	context int       // start of the quoted text, key, mapping or list that the library was reading
}

// explainYAML reports why the library could not read the text.
func (d *Document) explainYAML(err error, maxDepth int) {
	e := explainer{Document: d}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	var one *yaml.LoadError
	if errors.As(err, &one) {
		message = strings.TrimPrefix(strings.TrimSpace(one.Message+" "+one.ContextMsg), "yaml: ")
		e.at = d.Offset(one.Mark.Line, one.Mark.Column)
		e.context = d.Offset(one.ContextMark.Line, one.ContextMark.Column)
	}
	if strings.Contains(message, "no documents in stream") {
		return // the caller reports an empty file
	}
	if strings.Contains(message, errTooDeep.Error()) {
		d.tooDeep(e.at, maxDepth)
		return
	}
	e.line = e.blockAt(e.at)
	e.above = e.before(e.line)
	for _, m := range mistakes {
		if strings.Contains(message, m.says) && m.explain(&e) {
			return
		}
	}
	e.char(e.at, "", "%s", message)
}

// report adds a problem with the text between two offsets.
func (e *explainer) report(start, end int, hint, format string, args ...any) bool {
	e.syntax(hint, start, end, format, args...)
	return true
}

// char reports the character at an offset.
func (e *explainer) char(at int, hint, format string, args ...any) bool {
	return e.report(at, at+1, hint, format, args...)
}

var conflictMarker = regexp.MustCompile(`(?m)^(<{7} .*?|>{7} .*?|={7})\r?$`)

func (e *explainer) conflict() bool {
	at := conflictMarker.FindSubmatchIndex(e.Text)
	return at != nil && e.report(at[2], at[3], "choose one of the two versions and remove the conflict markers", "unresolved merge conflict")
}

func (e *explainer) control() bool {
	at := strings.IndexFunc(string(e.Text), func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) })
	return at >= 0 && e.char(at, "remove it", "the file has the control character U+%04X", e.Text[at])
}

// documents finds the start of the second document.
func (e *explainer) documents() bool {
	started := false
	for number := 1; number <= e.Lines(); number++ {
		b := e.block(number)
		if started && (strings.HasPrefix(b.text, "---") || strings.HasPrefix(b.text, "...")) && b.indent == 0 {
			return e.reportLine(b, "one file holds one service: put the next one into a file of its own", "more than one YAML document in the file")
		}
		started = started || b.text != "" && b.text[0] != '%'
	}
	return false
}

func (e *explainer) tab() bool {
	text := e.Line(e.line.number)
	for i := 0; i < len(text) && isBlank(text[i]); i++ {
		if text[i] == '\t' {
			at := e.Offset(e.line.number, 1) + i
			return e.char(at, "YAML is indented with spaces, not tabs", "a tab in the indentation")
		}
	}
	return false
}

// otherSpace finds white space that looks like a space but is text to YAML, in the indentation or after a colon, on the
// line or the one above.
func (e *explainer) otherSpace() bool {
	for _, number := range []int{e.above.number, e.line.number} {
		expected := true
		for i, r := range string(e.Line(number)) {
			if expected && r > unicode.MaxASCII && unicode.IsSpace(r) {
				at := e.Offset(number, 1) + i
				return e.report(at, at+len(string(r)), "replace it with a normal space", "U+%04X is not a space in YAML", r)
			}
			expected = r == ':' || r == ' ' && expected
		}
	}
	return false
}

// unclosed reports the quote or bracket at an offset.
func (e *explainer) unclosed(at int) bool {
	c := e.Text[at]
	if closer := closing[c]; closer != 0 {
		return e.char(at, fmt.Sprintf("add the missing %c", closer), "%q is not closed", string(c))
	}
	return e.char(at, fmt.Sprintf("end the text with %c", c), "this quote is not closed")
}

// closing maps opening to closing brackets.
var closing = map[byte]byte{'{': '}', '[': ']'}

// dash finds what text processors make of a dash, on the line or the one above.
func (e *explainer) dash() bool {
	for _, b := range []blockLine{e.above, e.line} {
		if first, _, _ := strings.Cut(b.text, " "); first == "–" || first == "—" {
			return e.report(b.start, b.start+len(first), "begin a list item with -", "%q does not begin a list item", first)
		}
	}
	return false
}

// colonInText finds name: Media: all.
func (e *explainer) colonInText() bool {
	b := e.line
	start := b.end - len(b.value)
	return b.value != "" && e.at > start && e.report(start, b.end, b.key+": "+quoted(b.value), `text with ": " in it needs quotes`)
}

// noColonAbove finds a line without a key above one that has one.
func (e *explainer) noColonAbove() bool {
	return e.above.number > 0 && e.above.key == "" && !e.continues(e.above) && e.noColon(e.above)
}

// continues reports whether a line continues the plain text of a line above it.
func (e *explainer) continues(b blockLine) bool {
	above := e.before(b)
	for above.number > 0 && above.key == "" && !above.item {
		above = e.before(above)
	}
	return above.value != "" && b.indent > above.indent
}

// keys are forms of a line that should have a key, with what to say about its first word and the rest.
var keys = []struct {
	form          *regexp.Regexp
	message, hint string
}{
	{regexp.MustCompile(`^//`), "YAML has no comments with //", "begin a comment with #"},
	{regexp.MustCompile(`^\{`), "an object in braces among the fields of an object", "remove the braces around the field"},
	{regexp.MustCompile(`^("[^"]*):"$`), "the colon belongs after the closing quote", `$1":`},
	{regexp.MustCompile(`^([^\s:]+):([^\s/]\S*)$`), "missing space after the colon", "$1: $2"},
	{regexp.MustCompile(`^(\S+?)\s*(?:=>|=|：)(?:\s+(.*))?$`), "missing colon after %s", "$1: $2"},
	{regexp.MustCompile(`^(\S+)\s*(.*)$`), "missing colon after %s", "$1: $2"},
}

func (e *explainer) noColon(b blockLine) bool {
	if value := e.before(b).value; value == "|" || value == ">" {
		return false // text that is not indented
	}
	for _, k := range keys {
		if m := k.form.FindStringSubmatchIndex(b.text); m != nil {
			hint := strings.TrimSpace(string(k.form.ExpandString(nil, k.hint, b.text, m)))
			message := k.message
			if strings.Contains(message, "%s") {
				message = fmt.Sprintf(message, shortened(b.text[m[2]:m[3]]))
			}
			return e.reportLine(b, hint, "%s", message)
		}
	}
	return false
}

// tooDeep finds a line that is indented deeper than a field with a value above it, or the reverse: the indentation of
// which the text has fewer lines is the mistake.
func (e *explainer) tooDeep() bool {
	b, above := e.line, e.above
	if above.value == "" || b.indent <= above.inner {
		return false
	}
	parent := e.before(above)
	first := parent.key != "" && parent.value == "" && !above.item // the field above is the first of its object
	if first && (parent.inner == above.indent || e.count(above.indent) < e.count(b.indent)) {
		return e.misplaced(above, b)
	}
	hint := "indent it by " + spell.Count(above.inner, "space") + " as well"
	if above.inner == 0 {
		hint = "start it without spaces"
	}
	return e.reportLine(b, hint, "indented by %s, deeper than %s on line %d, which has a value already", spell.Count(b.indent, "space"), shortened(above.key), above.number)
}

// count returns the number of lines with an indentation.
func (e *explainer) count(indent int) (lines int) {
	for number := 1; number <= e.Lines(); number++ {
		if b := e.block(number); b.text != "" && b.inner == indent {
			lines++
		}
	}
	return lines
}

func (e *explainer) colonInLines() bool {
	return e.reportLine(e.line, "put the text in quotes", `text over several lines that has ": " in it needs quotes`)
}

// quoteAbove finds a quote that was only closed by the one that should open the text on this line.
func (e *explainer) quoteAbove() bool {
	if e.at == 0 || e.Text[e.at-1] != '"' && e.Text[e.at-1] != '\'' {
		return false
	}
	quote := string(e.Text[e.at-1])
	if first := e.Offset(e.line.number, 1); strings.Contains(string(e.Text[first:e.at-1]), quote) {
		return false
	}
	b := e.above
	for b.number > 0 && strings.Count(b.text, quote)%2 == 0 {
		b = e.before(b)
	}
	return b.number > 0 && e.unclosed(b.end-len(b.text)+strings.LastIndex(b.text, quote))
}

// placeholder finds a key or a value that YAML takes for an object in braces.
func (e *explainer) placeholder() bool {
	b := e.line
	text, start := cmp.Or(b.key, b.text), b.end-len(b.text)
	if !strings.HasPrefix(text, "{{") {
		text, start = b.value, b.end-len(b.value)
	}
	return strings.HasPrefix(text, "{{") &&
		e.report(start, start+len(text), "put it in quotes: "+quoted(text), "text that begins with {{ needs quotes")
}

// behindValue finds text after the end of a value.
func (e *explainer) behindValue() bool {
	b := e.line
	if e.at <= b.start || b.value == "" {
		return false
	}
	if rest := string(e.Text[e.at:max(e.at, b.end)]); rest != "" && strings.Contains(",]}", rest[:1]) {
		return e.char(e.at, "remove it", "unexpected %q after the value", rest[:1])
	}
	value, last := b.value, len(b.value)-1
	if value[0] == value[last] && strings.Contains(`"'`, value[:1]) {
		value = value[1:last] // quotes around it, and one of them inside
	}
	return e.report(e.at, b.end, "put all of it in quotes: "+quoted(value), "unexpected text after the value")
}

// item finds a list item that is indented unlike the one above it, or that is among fields.
func (e *explainer) item() bool {
	b := e.line
	if !b.item {
		return false
	}
	first := e.blockAt(e.context)
	for above := e.above; above.number >= max(1, first.number); above = e.before(above) {
		if above.item && above.indent != b.indent {
			return e.reportLine(b, "indent it by "+spell.Count(above.indent, "space")+" as well",
				"indented by %s, but the item on line %d is indented by %d", spell.Count(b.indent, "space"), above.number, above.indent)
		}
	}
	return e.char(b.start, "put the list below the field that it belongs to, or in brackets behind it", "a list item among the fields of an object")
}

// indentation finds the enclosing level whose indentation is nearest to that of the line.
func (e *explainer) indentation() bool {
	b := e.line
	best := e.above
	next := e.after(b.number)
	for level := best; level.number > 0; level = e.outer(level) {
		nearer := distance(level, b) - distance(best, b)
		// A line that has children belongs one level further out than they do.
		if nearer < 0 || nearer == 0 && b.value == "" && next.indent > b.indent && best.indent >= next.indent {
			best = level
		}
	}
	return best.number > 0 && best.indent != b.indent && e.misplaced(b, best)
}

func distance(a, b blockLine) int { return max(a.indent-b.indent, b.indent-a.indent) }

// outer returns the nearest line above that is indented less.
func (e *explainer) outer(b blockLine) blockLine {
	above := e.before(b)
	for above.number > 0 && above.indent >= b.indent {
		above = e.before(above)
	}
	return above
}

// misplaced reports a line that should be indented like another one.
func (e *explainer) misplaced(b, other blockLine) bool {
	hint, is := "indent it by "+spell.Count(other.indent, "space"), fmt.Sprintf("indented by %d", other.indent)
	if other.indent == 0 {
		hint, is = "start it without spaces", "not indented"
	}
	name := other.text
	if other.item {
		name = "-"
	} else if other.key != "" {
		name = other.key
	}
	return e.reportLine(b, hint, "indented by %s, but %s on line %d is %s", spell.Count(b.indent, "space"), shortened(name), other.number, is)
}

func (e *explainer) fieldInList() bool {
	return e.reportLine(e.line, `begin it with "- ", or indent it like the other fields of its item`, "a field among the items of a list")
}

func (e *explainer) firstIndented() bool {
	first := e.after(0)
	return first.indent > e.line.indent && e.misplaced(first, e.line)
}

// bracketInWord finds text with braces, such as a URL, inside brackets.
func (e *explainer) bracketInWord() bool {
	opened := e.blockAt(e.context)
	if e.at == len(e.Text) || closing[e.Text[e.at]] == 0 || isBlank(e.Text[e.at-1]) || e.line.number > opened.number && e.line.indent <= opened.indent {
		return false
	}
	const delimiters = " \t\r\n,"
	start := strings.LastIndexAny(string(e.Text[:e.at]), delimiters+"{[") + 1
	word := string(e.Text[start:])
	if i := strings.IndexAny(word, delimiters); i >= 0 {
		word = word[:i]
	}
	word = strings.TrimSuffix(word, ":")
	for strings.Count(word, "}")+strings.Count(word, "]") > strings.Count(word, "{")+strings.Count(word, "[") {
		word = word[:len(word)-1] // closes what was opened before the word
	}
	return e.report(start, start+len(word), "put it in quotes: "+quoted(word), "text with %q in it needs quotes inside brackets", string(e.Text[e.at]))
}

// colonInFlow finds a second colon in {key: value: more}, where a comma or quotes may be missing.
func (e *explainer) colonInFlow() bool {
	if e.at == len(e.Text) || e.Text[e.at] != ':' || e.line.number != e.blockAt(e.context).number {
		return false
	}
	start := strings.LastIndexAny(string(e.Text[:e.at]), ",{[") + 1
	_, value, found := strings.Cut(string(e.Text[start:e.at]), ": ")
	return found && e.report(e.at-len(value), e.at, "put the text in quotes, or a comma before the next key", `text with ": " in it needs quotes`)
}

// unclosedBracket finds a bracket that is not closed before the next key, before another one that closes, or at all.
func (e *explainer) unclosedBracket() bool {
	inside := e.at < len(e.Text) && e.Text[e.at] != ']' && e.Text[e.at] != '}'
	if closing[e.Text[e.context]] == 0 || inside && (e.line.number == e.blockAt(e.context).number || e.line.key == "") {
		return false // an anchor or a tag precedes it, or something else is wrong
	}
	return e.unclosed(e.context)
}

// unclosedAtEnd finds the bracket that is open at the end of the text.
func (e *explainer) unclosedAtEnd() bool {
	open := Open(string(e.Text))
	return e.at == len(e.Text) && len(open) > 0 && closing[e.Text[open[len(open)-1]]] != 0 && e.unclosed(open[len(open)-1])
}

func (e *explainer) needsQuotes() bool {
	text := string(e.Text[e.at:max(e.at, e.line.end)])
	return text != "" && e.char(e.at, "put it in quotes: "+quoted(text), "plain text cannot begin with %q", text[:1])
}

// blockLine is a line of block YAML. It may be a list item, and may have a key with a value.
type blockLine struct {
	number     int
	start, end int    // offsets of its text, without indentation, comment and trailing white space
	indent     int    // number of spaces before the text
	item       bool   // it begins with "- "
	inner      int    // number of characters before text
	text       string // without "- "; empty if the line is blank
	key, value string // key is empty if there is none
}

var keyAndValue = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^"'].*?)\s*:(?:\s+(.*))?$`)

func (e *explainer) block(number int) blockLine {
	line := string(e.Line(number))
	b := blockLine{number: number, text: strings.TrimLeft(line, " ")}
	b.indent = len(line) - len(b.text)
	b.start = e.Offset(number, 1) + b.indent
	if i := strings.Index(" "+b.text, " #"); i >= 0 {
		b.text = b.text[:i]
	}
	b.text = strings.TrimRight(b.text, " \t\r")
	b.end = b.start + len(b.text)
	if rest, ok := strings.CutPrefix(b.text, "- "); ok || b.text == "-" {
		b.item, b.text = true, strings.TrimLeft(rest, " ")
	}
	b.inner = b.indent + b.end - b.start - len(b.text)
	if m := keyAndValue.FindStringSubmatch(b.text); m != nil {
		b.key, b.value = m[1], m[2]
	}
	return b
}

func (e *explainer) blockAt(offset int) blockLine {
	number, _ := e.Position(offset)
	return e.block(number)
}

// before returns the nearest line above that is not blank.
func (e *explainer) before(b blockLine) blockLine { return e.next(b.number, -1) }

// after returns the nearest line below that is not blank.
func (e *explainer) after(number int) blockLine { return e.next(number, +1) }

func (e *explainer) next(number, step int) blockLine {
	for number += step; 1 <= number && number <= e.Lines(); number += step {
		if b := e.block(number); b.text != "" || b.item {
			return b
		}
	}
	return blockLine{}
}

// reportLine reports the key of a line or, if it has none or is an item, all of it.
func (e *explainer) reportLine(b blockLine, hint, format string, args ...any) bool {
	end := b.end
	if b.key != "" && !b.item {
		end = b.start + len(b.key)
	}
	return e.report(b.start, end, hint, format, args...)
}

// quoted returns text in the kind of quotes that needs fewer escapes.
func quoted(text string) string {
	if strings.ContainsAny(text, `"\`) && !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// shortened returns text in quotes, truncated if it is too long for a message.
func shortened(text string) string {
	const most = 40 // characters: keeps a URL recognizable and the message on one line
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
