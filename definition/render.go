package definition

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/internal/escape"
)

// Renderer renders findings for people, as signpost lint prints them. The zero value renders plain text.
type Renderer struct {
	Color bool // with the escape sequences of a terminal
}

// Render returns a finding with its source line, a caret under the position, and the hint, each on lines of their own.
// file is the [File] that the finding is about. Characters on which a terminal might act are escaped.
func (r Renderer) Render(file interface {
	Snippet(line, column, width int) (text string, first int)
}, f signpost.Finding) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %s %s\n", r.style(bold, fmt.Sprintf("%s:%d:%d:", f.File, f.Line, f.Column)),
		r.style(colors[f.Severity], string(f.Severity)+":"), r.style(bold, f.Message), r.style(dim, "["+f.Rule+"]"))
	gutter := strings.Repeat(" ", len(strconv.Itoa(f.Line))) // below the line number
	if line, first := file.Snippet(f.Line, f.Column, maxLine); line != "" {
		text, carets := mark(f, line, first)
		fmt.Fprintf(&out, "%s\n", r.style(dim, gutter+" |"))
		fmt.Fprintf(&out, "%s %s\n", r.style(dim, fmt.Sprintf("%d |", f.Line)), text)
		marked := strings.TrimLeft(carets, " ")
		indent := carets[:len(carets)-len(marked)]
		fmt.Fprintf(&out, "%s %s%s\n", r.style(dim, gutter+" |"), indent, r.style(colors[f.Severity], marked))
	}
	if f.Hint != "" {
		fmt.Fprintf(&out, "%s %s %s\n", gutter, r.style(dim, "= hint:"), escape.Text(f.Hint, ""))
	}
	return out.String()
}

// maxLine is the maximum number of characters shown of a line; for a longer one, the part around the position. This
// keeps a definition on a single line readable.
const maxLine = 160

// Parameters of the escape sequences that style text.
const bold, dim = "1", "2"

var colors = map[signpost.Severity]string{signpost.SeverityError: "31", signpost.SeverityWarning: "33"} // red and yellow

// style escapes a text and, with colour, puts it between an escape sequence and the one that ends it.
func (r Renderer) style(code, text string) string {
	text = escape.Text(text, "")
	if !r.Color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// mark returns a part of a line, which starts at column first, and the carets that mark the position below it.
func mark(f signpost.Finding, line string, first int) (text, carets string) {
	runes := []rune(strings.ReplaceAll(line, "\t", " ")) // a column is one character
	start := min(max(0, f.Column-first), len(runes))
	end := min(start+f.Width, len(runes))
	before, marked := escape.Text(string(runes[:start]), ""), escape.Text(string(runes[start:end]), "")
	indent := strings.Repeat(" ", utf8.RuneCountInString(before)+f.Column-first-start)
	carets = indent + "^" + strings.Repeat("~", max(1, utf8.RuneCountInString(marked))-1)
	return before + marked + escape.Text(string(runes[end:]), ""), carets
}
