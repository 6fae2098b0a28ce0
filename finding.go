package signpost

import (
	"fmt"
	"slices"
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
	Fix  *Fix   `json:"fix"`  // nil where nothing is certain to be right

	Path  Path `json:"-"` // the place in the manifest
	Width int  `json:"-"` // how many characters of the line the finding is about

	// Replacement is the value that certainly belongs at Path instead of the one there: a string, json.Number
	// or bool. For a Path that ends at an endpoint it is the URL. Package definition, which knows how the value
	// is written, makes a Fix of it.
	Replacement any `json:"-"`
}

// Fix is a change to a definition file that settles a finding without a decision of the author's.
type Fix struct {
	Message string `json:"message"` // what the fix does, such as: write "get"
	Edits   []Edit `json:"edits"`   // in the order of the file, none overlapping
}

// Edit replaces the text between two places of a file, counted like those of a finding. The end is exclusive.
type Edit struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Text      string `json:"text"`
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

// Path leads to a value in a manifest. The first step is the endpoint's URL.
type Path []Step

// Step is one step of a [Path]: a [Field] or an [Item].
type Step interface{ isStep() }

// Field is the step to a field of an object or, first in a path, to the endpoint with that URL.
type Field string

// Item is the step to an item of a list, counted from 0.
type Item int

func (Field) isStep() {}
func (Item) isStep()  {}

// Endpoint returns the URL of the endpoint that the path leads into, or "" if it leads into none.
func (p Path) Endpoint() string {
	if len(p) == 0 {
		return ""
	}
	url, _ := p[0].(Field)
	return string(url)
}

// then returns a copy of the path with more steps.
func (p Path) then(steps ...Step) Path { return slices.Concat(p, steps) }

func (p Path) String() string {
	var out strings.Builder
	for i, step := range p {
		switch step := step.(type) {
		case Item:
			fmt.Fprintf(&out, "[%d]", step)
		case Field:
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(string(step))
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
