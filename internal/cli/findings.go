package cli

import (
	"io"

	"signpost"
	"signpost/definition"
	"signpost/internal/spell"
)

// printFindings writes findings for people: each with its source line and a caret under the position.
func printFindings(w io.Writer, files []*definition.File, findings []signpost.Finding) {
	byName := make(map[string]*definition.File, len(files))
	for _, f := range files {
		byName[f.Name] = f
	}
	for _, f := range findings {
		printf(w, "%s", safe(definition.Renderer{Color: bool(paletteOf(w))}.Render(byName[f.File], f)))
	}
}

// printBriefly writes findings about manifests of others for people, each on one line: they are seldom the reader's to
// fix.
func printBriefly(w io.Writer, findings []signpost.Finding) {
	for _, f := range findings {
		printf(w, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
	}
}

// reportLines writes lines to standard error.
func (c *CLI) reportLines(lines []string) {
	for _, line := range lines {
		printf(c.Stderr, "%s\n", line)
	}
}

func hasErrors(findings []signpost.Finding) bool {
	return count(findings, signpost.SeverityError) > 0
}

// tally counts errors and warnings for a summary.
func tally(findings []signpost.Finding) string {
	errors, warnings := count(findings, signpost.SeverityError), count(findings, signpost.SeverityWarning)
	return spell.Count(errors, "error") + ", " + spell.Count(warnings, "warning")
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
