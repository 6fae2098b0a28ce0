package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/definition"
)

// printFindings writes findings for people: each with its source line and a caret under the position.
func printFindings(w io.Writer, p palette, files []*definition.File, findings []signpost.Finding) {
	byName := make(map[string]*definition.File, len(files))
	for _, f := range files {
		byName[f.Name] = f
	}
	for _, f := range findings {
		printFinding(w, p, byName[f.File], f)
	}
}

// snippets returns parts of the lines of a definition or any other document.
type snippets interface {
	Snippet(line, column, width int) (text string, first int)
}

func printFinding(w io.Writer, p palette, file snippets, f signpost.Finding) {
	printf(w, "%s %s %s %s\n", p.bold(fmt.Sprintf("%s:%d:%d:", f.File, f.Line, f.Column)), p.mark(f.Severity, string(f.Severity)+":"),
		p.bold(f.Message), p.dim("["+f.Rule+"]"))
	if line, from := file.Snippet(f.Line, f.Column, maxLine); line != "" {
		printPlace(w, p, f, line, from)
	}
	if f.Hint != "" {
		printf(w, "%s %s %s\n", gutter(f), p.dim("= hint:"), f.Hint)
	}
}

// gutter returns the space below the line number of a finding.
func gutter(f signpost.Finding) string { return strings.Repeat(" ", len(strconv.Itoa(f.Line))) }

// maxLine is the maximum number of characters shown of a line; for a longer one, the part around the position. This
// keeps a definition on a single line readable.
const maxLine = 160

// printPlace writes a part of a line, which starts at column from, and marks the position below it.
func printPlace(w io.Writer, p palette, f signpost.Finding, line string, from int) {
	runes := []rune(strings.ReplaceAll(line, "\t", " ")) // a column is one character
	start := min(max(0, f.Column-from), len(runes))
	end := min(start+f.Width, len(runes))
	before, marked := printable(string(runes[:start])), printable(string(runes[start:end]))
	indent := strings.Repeat(" ", utf8.RuneCountInString(before)+f.Column-from-start)
	carets := "^" + strings.Repeat("~", max(1, utf8.RuneCountInString(marked))-1)
	printf(w, "%s\n", p.dim(gutter(f)+" |"))
	printf(w, "%s %s\n", p.dim(fmt.Sprintf("%d |", f.Line)), before+marked+string(runes[end:]))
	printf(w, "%s %s%s\n", p.dim(gutter(f)+" |"), indent, p.mark(f.Severity, carets))
}

func hasErrors(findings []signpost.Finding) bool {
	return count(findings, signpost.SeverityError) > 0
}

func count(findings []signpost.Finding, severity signpost.Severity) int {
	n := 0
	for _, f := range findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// plural returns "1 error", "2 errors" and so on.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
