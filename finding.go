package signpost

import (
	"fmt"
	"strings"
)

// Finding says what is wrong with a manifest or a definition, and where.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`

	// File, Line and Column are the place in a definition file, counted in characters from 1. They are
	// zero where the manifest was not read from a file.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`

	Hint string `json:"hint"` // what would be right, where that can be said

	Path  Path `json:"-"` // the place in the manifest
	Width int  `json:"-"` // how many characters of the line the finding is about
}

// Severity is the weight of a finding.
type Severity string

// An error keeps a manifest from being published; a warning does not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// String returns the finding as one line: place, severity, message and rule.
func (f Finding) String() string {
	place := f.Path.String()
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	return fmt.Sprintf("%s: %s: %s [%s]", place, f.Severity, f.Message, f.Rule)
}

// Path leads to a value in a manifest. An int is an index, a string a field or, first, an endpoint's URL.
type Path []any

func (p Path) String() string {
	var out strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		default:
			if i > 0 {
				out.WriteByte('.')
			}
			fmt.Fprint(&out, step)
		}
	}
	return out.String()
}

// InvalidError is returned for a manifest that cannot be published.
type InvalidError struct {
	Findings []Finding // at least one
}

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
