package cli

import (
	"io"

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

// snippets is a definition or another text with findings.
type snippets interface {
	Snippet(line, column, width int) (text string, first int)
}

func printFinding(w io.Writer, p palette, file snippets, f signpost.Finding) {
	printf(w, "%s", safe(definition.Renderer{Color: bool(p)}.Render(file, f)))
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
