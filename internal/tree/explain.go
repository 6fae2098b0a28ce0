package tree

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

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
	{"no documents in stream", func(*explainer) bool { return true }}, // the caller reports an empty file
	{"exceeded max depth", func(e *explainer) bool { return e.tooDeep(e.at) }},

	// These come next because they confuse everything below them.
	{"", shows(whole, conflictMarker.String(), mergeConflict, chooseOne)},
	{"control characters",
		shows(whole, `([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{84}\x{86}-\x{9f}])`, "a control character", "remove it")},
	{"expected single document", shows(whole, `(?m)^ *[^\s#%].*(?:\n.*)*?\n(---|\.\.\.)`,
		"more than one YAML document in the file", "one file holds one service: put the next one into a file of its own")},
	{"", shows(here, `^ *(\t)`, "a tab in the indentation", "YAML is indented with spaces, not tabs")},
	{"", shows(nearby, `(?m)(?:^|:) *([\x{85}\x{a0}\p{Zl}\p{Zp}\x{1680}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}])`,
		"a no-break space, or another that YAML takes for text", "replace it with a normal space")},

	{"unexpected end of stream while scanning a quoted scalar",
		func(e *explainer) bool { return e.unclosed(e.context) }},
	{"escape character", shows(behind, `^(\\[^/])`, notAnEscape, writeTwo+", or use single quotes")},
	{"hexadecimal number", shows(here, `"[^"]*?(\\[xuU])`, notAnEscape, writeTwo+", or use single quotes")},
	{"mapping values are not allowed", dash},
	{"mapping values are not allowed",
		shows(nearby, `(?m)^ *(-(\w+: .*))$`, "missing space after the dash", "- $2")},
	{"mapping values are not allowed", (*explainer).colonInText},
	{"mapping values are not allowed", (*explainer).noColonAbove},
	{"mapping values are not allowed", (*explainer).indentation},
	{"could not find expected ':'", func(e *explainer) bool { return e.noColon(e.blockAt(e.context)) }},
	{"did not find expected key", (*explainer).quoteAbove},
	{"did not find expected key", shows(here, `^ *(?:- +)?(?:[^{ ].*?: +)?(\{\{.*?)(?:\s*:(?:\s.*)?)?$`,
		"text that begins with {{ needs quotes", "put it in quotes: …")},
	{"did not find expected key", (*explainer).behindValue},
	{"did not find expected key", (*explainer).indentation},
	{"expected '-' indicator", dash},
	{"expected '-' indicator", func(e *explainer) bool { return e.line.item && e.indentation() }},
	{"expected '-' indicator", (*explainer).fieldInList},
	{"expected <document start>", (*explainer).firstIndented},
	{"expected ',' or", (*explainer).bracketInWord},
	{"expected ',' or", shows(before, `[,{[][^,{[]*?: ([^,{[]*):$`,
		`text with ": " in it needs quotes`, "put the text in quotes, or a comma before the next key")},
	{"expected ',' or", (*explainer).unclosedBracket},
	{"expected node content", (*explainer).unclosedAtEnd},
	{"unknown anchor", shows(behind, `^(\*[^\s,\]}]+)`,
		"* begins an alias, and there is no such anchor", "if it is text, put it in quotes: …")},
	{"block sequence entries", shows(behind, `^(-.*)`, "a list item behind a key",
		"put it on the next line; if it is text, put it in quotes: …")},
	{"scanning a block scalar", shows(here, `[:-] +(([|>]).+)$`, "text on the line of $2",
		"begin it on the next line, or put all of it in quotes: …")},
	{"scanning an a", shows(here, `[:-] +(([*&])[^\[\]{}]*)$`, `plain text cannot begin with "$2"`,
		"put it in quotes: …")},
	{"scanning an alias", shows(here, `^ *(\*) `, `"$1" does not begin a list item`, "begin a list item with -")},
	{"cannot start any token", shows(here, "^(```.*)", "a fence of Markdown", "remove it")},
	{"cannot start any token", shows(behind, `^((.).*)`, `plain text cannot begin with "$2"`, "put it in quotes: …")},
}

// dash finds a list item that begins with a dash instead of a hyphen.
var dash = shows(nearby, `(?m)^ *([–—])(?: |$)`, `"$1" does not begin a list item`, "begin a list item with -")

// keyless are the forms of a line that should have a key.
var keyless = []func(*explainer) bool{
	shows(atKeyless, `^((//|/\*).*)`, "YAML has no comments with $2", "begin a comment with #"),
	shows(atKeyless, `^([^\s:;]+;[^\s:;]+;.*)`, "this looks like a table",
		"write one field per line, such as name: Feeds"),
	shows(atKeyless, `^(\{.*)`, "an object in braces among the fields of an object",
		"remove the braces around the field"),
	shows(atKeyless, `^(("[^"]*):")$`, "the colon belongs after the closing quote", `$2":`),
	shows(atKeyless, `^(([^\s:]+):([^\s/]\S*))$`, "missing space after the colon", "$2: $3"),
	shows(atKeyless, `^((\S+?)\s*(?:(?:=>|=|：)(?:\s|$)|\s|$)\s*(.*))$`, `missing colon after "$2"`, "$2: $3"),
}

// explainer looks for the mistake behind an error of the library.
type explainer struct {
	*Document
	at      int       // where the library stopped
	line    blockLine // line of at
	above   blockLine // the nearest line above it that is not blank; its number is 0 if there is none
	context int       // start of the quoted text, key, mapping or list that the library was reading
	keyless blockLine // a line that should have a key
}

// explainYAML reports why the library could not read the text.
func (d *Document) explainYAML(err error) {
	e := explainer{Document: d}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		message = strings.TrimPrefix(strings.TrimSpace(one.Message+" "+one.ContextMsg), "yaml: ")
		e.at = d.Offset(one.Mark.Line, one.Mark.Column)
		e.context = d.Offset(one.ContextMark.Line, one.ContextMark.Column)
	}
	e.line = e.blockAt(e.at)
	e.above = e.next(e.line, -1)
	for _, m := range mistakes {
		if strings.Contains(message, m.says) && m.explain(&e) {
			return
		}
	}
	e.syntax(e.at, e.at+1, "", "%s", message)
}

// Parts of the text in which a mistake shows, as offsets.
func whole(e *explainer) (start, end int)  { return 0, len(e.Text) }
func nearby(e *explainer) (start, end int) { return e.Offset(max(e.above.number, 1), 1), e.line.end }
func here(e *explainer) (start, end int)   { return e.Offset(e.line.number, 1), e.line.end }
func before(e *explainer) (start, end int) {
	return e.Offset(e.line.number, 1), min(e.at+1, len(e.Text))
}
func behind(e *explainer) (start, end int) { return e.at, max(e.at, e.line.end) }
func atKeyless(e *explainer) (start, end int) {
	return e.keyless.end - len(e.keyless.text), e.keyless.end
}

// shows returns an explanation for a mistake that a regular expression finds. Its first group is the mistake. The
// message and the hint may refer to groups; … in the hint stands for the first one in quotes.
func shows(where func(*explainer) (start, end int), form, message, hint string) func(*explainer) bool {
	expression := regexp.MustCompile(form)
	return func(e *explainer) bool {
		start, end := where(e)
		text := string(e.Text[start:end])
		m := expression.FindStringSubmatchIndex(text)
		if m == nil {
			return false
		}
		expand := func(template string) string {
			return strings.TrimSpace(string(expression.ExpandString(nil, template, text, m)))
		}
		return e.syntax(start+m[2], start+m[3], strings.Replace(expand(hint), "…", quoted(text[m[2]:m[3]]), 1), "%s",
			expand(message))
	}
}

// unclosed reports the quote or bracket at an offset.
func (d *Document) unclosed(at int) bool {
	c := d.Text[at]
	if closer := closing[c]; closer != 0 {
		return d.syntax(at, at+1, fmt.Sprintf("add the missing %c", closer), "%q is not closed", string(c))
	}
	return d.syntax(at, at+1, fmt.Sprintf("end the text with %c", c), "this quote is not closed")
}

// closing maps opening to closing brackets.
var closing = map[byte]byte{'{': '}', '[': ']'}

// colonInText finds name: Media: all.
func (e *explainer) colonInText() bool {
	b := e.line
	start := b.end - len(b.value)
	return b.value != "" && e.at > start && e.syntax(start, b.end, b.key+": "+quoted(b.value),
		`text with ": " in it needs quotes`)
}

// noColonAbove finds a line without a key above one that has one, unless it continues the plain text of a line above
// it, or both are list items, of which the second one is indented more.
func (e *explainer) noColonAbove() bool {
	b := e.above
	owner := e.up(b, func(above blockLine) bool { return above.key != "" || above.item })
	continues := owner.value != "" && b.indent > owner.indent
	return b.number > 0 && b.key == "" && !continues && !(b.item && e.line.item) && e.noColon(b)
}

// noColon reports a line that should have a key, or that is text below | and not indented.
func (e *explainer) noColon(b blockLine) bool {
	e.keyless = b
	if above := e.next(b, -1); above.value == "|" || above.value == ">" {
		return e.reportLine(b, "indent it by more than "+shortened(above.key), "the text below %s is not indented",
			above.value)
	}
	return slices.ContainsFunc(keyless, func(explain func(*explainer) bool) bool { return explain(e) })
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
	b := e.up(e.line, func(above blockLine) bool { return strings.Count(above.text, quote)%2 != 0 })
	return b.number > 0 && e.unclosed(b.end-len(b.text)+strings.LastIndex(b.text, quote))
}

// behindValue finds text after the end of a value.
func (e *explainer) behindValue() bool {
	b := e.line
	if e.at <= b.start || b.value == "" {
		return false
	}
	if rest := string(e.Text[e.at:max(e.at, b.end)]); rest != "" && strings.Contains(",]}", rest[:1]) {
		return e.syntax(e.at, e.at+1, "remove it", "unexpected %q after the value", rest[:1])
	}
	value, last := b.value, len(b.value)-1
	if value[0] == value[last] && strings.Contains(`"'`, value[:1]) {
		value = value[1:last] // quotes around it, and one of them inside
	}
	return e.syntax(e.at, b.end, "put all of it in quotes: "+quoted(value), "unexpected text after the value")
}

// indentation finds a line that is indented unlike the one that it belongs to: of the line above and those around it,
// the one whose indentation is nearest.
func (e *explainer) indentation() bool {
	b, like := e.line, e.above
	below := e.next(b, +1)
	if before := e.next(like, -1); like.value != "" && !like.item && like.indent < b.indent && before.indent == b.indent {
		return e.misplaced(like, b) // a field among others that are indented more
	}
	for level := like; level.number > 0; {
		nearer := b.distance(level) - b.distance(like)
		// A line that has children belongs one level further out than they do.
		if nearer < 0 || nearer == 0 && b.value == "" && below.indent > b.indent && like.indent >= below.indent {
			like = level
		}
		inner := level.indent
		level = e.up(level, func(above blockLine) bool { return above.indent < inner })
	}
	switch {
	case b.item && (!like.item || like.indent == b.indent):
		return e.syntax(b.start, b.start+1, "put the list below the field that it belongs to, or in brackets behind it",
			"a list item among the fields of an object")
	case like.number == 0 || b.distance(like) == 0:
		return false
	case like == e.above && e.firstIsWrong():
		return e.misplaced(like, b)
	}
	return e.misplaced(b, like)
}

// firstIsWrong reports whether the line above, which is the first of its object, is indented wrongly, and this line,
// the second, is not: it is not indented at all, or no other line is indented as it is, while others are as the second.
func (e *explainer) firstIsWrong() bool {
	first, second, parent := e.above, e.line, e.next(e.above, -1)
	if parent.key == "" || parent.value != "" || first.item || second.item {
		return false
	}
	lines := make(map[int]int) // by indentation
	for b := e.next(blockLine{}, +1); b.number > 0; b = e.next(b, +1) {
		lines[b.inner]++
	}
	isNotIndented := parent.inner == first.indent && second.indent > first.indent
	return isNotIndented || lines[first.indent] == 1 && lines[second.indent] > 1
}

// misplaced reports a line that should be indented like another one.
func (e *explainer) misplaced(b, other blockLine) bool {
	indent := b.column(other)
	hint, is := "indent it by "+spell.Count(indent, "space"), fmt.Sprintf("indented by %d", indent)
	if indent == 0 {
		hint, is = "start it without spaces", "not indented"
	}
	name := shortened(cmp.Or(other.key, other.text))
	if b.item {
		name = "the item"
	}
	return e.reportLine(b, hint, "indented by %s, but %s on line %d is %s", spell.Count(b.indent, "space"), name,
		other.number, is)
}

func (e *explainer) fieldInList() bool {
	return e.reportLine(e.line, `begin it with "- ", or indent it like the other fields of its item`,
		"a field among the items of a list")
}

func (e *explainer) firstIndented() bool {
	first := e.next(blockLine{}, +1)
	return first.indent > e.line.indent && e.misplaced(first, e.line)
}

// bracketInWord finds text with braces, such as a URL, inside brackets.
func (e *explainer) bracketInWord() bool {
	if e.at == len(e.Text) || closing[e.Text[e.at]] == 0 || isBlank(e.Text[e.at-1]) {
		return false
	}
	opened := e.blockAt(e.context)
	if e.line.number > opened.number && e.line.indent <= opened.indent {
		return false
	}
	start := strings.LastIndexAny(string(e.Text[:e.at]), " \t\r\n,{[") + 1
	return e.syntax(start, e.at+1, "put it in quotes", "text with %q in it needs quotes inside brackets",
		string(e.Text[e.at]))
}

// unclosedBracket finds a bracket that is not closed before the next key, before another one that closes, or at all.
func (e *explainer) unclosedBracket() bool {
	inside := e.at < len(e.Text) && e.Text[e.at] != ']' && e.Text[e.at] != '}'
	if closing[e.Text[e.context]] == 0 || inside && (e.line.number == e.blockAt(e.context).number || e.line.key == "") {
		return false // an anchor or a tag precedes it, or something else is wrong
	}
	return e.unclosed(e.context)
}

// unclosedAtEnd finds the bracket that is not closed before the end of the text.
func (e *explainer) unclosedAtEnd() bool {
	offsets := Unclosed(string(e.Text))
	if e.at != len(e.Text) || len(offsets) == 0 {
		return false
	}
	last := offsets[len(offsets)-1]
	return closing[e.Text[last]] != 0 && e.unclosed(last)
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

// next returns the nearest line below (+1) or above (-1) that is not blank.
func (e *explainer) next(b blockLine, step int) blockLine {
	for number := b.number + step; 1 <= number && number <= e.Lines(); number += step {
		if b := e.block(number); b.text != "" || b.item {
			return b
		}
	}
	return blockLine{}
}

// up returns the nearest line above that is not blank and that is the one to find.
func (e *explainer) up(b blockLine, isIt func(blockLine) bool) blockLine {
	b = e.next(b, -1)
	for b.number > 0 && !isIt(b) {
		b = e.next(b, -1)
	}
	return b
}

// column returns the indentation that a line has beside another one: a field begins where that of a list item does.
func (b blockLine) column(other blockLine) int {
	if other.item && !b.item {
		return other.inner
	}
	return other.indent
}

// distance returns how far a line is from being indented like another one.
func (b blockLine) distance(other blockLine) int {
	return max(b.indent-b.column(other), b.column(other)-b.indent)
}

// reportLine reports the key of a line or, if it has none or is an item, all of it.
func (e *explainer) reportLine(b blockLine, hint, format string, args ...any) bool {
	end := b.end
	if b.key != "" && !b.item {
		end = b.start + len(b.key)
	}
	return e.syntax(b.start, end, hint, format, args...)
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
