package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"signpost"
	"signpost/definition"
)

// printFindings writes findings for people: each with its line of the file and a caret under the place.
func printFindings(w io.Writer, files []*definition.File, findings []signpost.Finding) {
	byName := make(map[string]*definition.File, len(files))
	for _, f := range files {
		byName[f.Name] = f
	}
	for _, f := range findings {
		fmt.Fprintln(w, f)
		if line := byName[f.File].Line(f.Line); line != "" {
			printPlace(w, f, line)
		}
		if f.Hint != "" {
			fmt.Fprintf(w, "%*s = hint: %s\n", len(fmt.Sprint(f.Line)), "", f.Hint)
		}
	}
}

// maxContext is how many characters of a line are shown on either side of a place. A definition on one
// long line is still readable then.
const maxContext = 100

func printPlace(w io.Writer, f signpost.Finding, line string) {
	runes := []rune(strings.ReplaceAll(line, "\t", " ")) // as wide as the column counts it
	at := min(f.Column-1, len(runes))
	from, to := max(0, at-maxContext), min(len(runes), at+maxContext)
	number := fmt.Sprint(f.Line)
	gutter := strings.Repeat(" ", len(number))
	width := max(1, min(f.Width, to-at))
	fmt.Fprintf(w, "%s |\n", gutter)
	fmt.Fprintf(w, "%s | %s\n", number, string(runes[from:to]))
	fmt.Fprintf(w, "%s | %s^%s\n", gutter, strings.Repeat(" ", at-from), strings.Repeat("~", width-1))
}

func printFindingsJSON(w io.Writer, findings []signpost.Finding) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(findings)
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

// plural returns "1 error", "2 errors".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
