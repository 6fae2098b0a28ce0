package signpost

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is a problem in a manifest or a definition.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`

	// File, Line and Column locate the finding in a definition file. Lines and columns count from 1, columns in
	// characters. They are zero if the manifest was not read from a file.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`

	Hint string `json:"hint"` // how to fix it, if known
	Fix  *Fix   `json:"fix"`  // nil unless a fix is certain to be right

	Path  Path `json:"-"` // location in the manifest
	Width int  `json:"-"` // number of characters to underline

	// Replacement is the value that should certainly replace the one at Path: a string, json.Number or bool. If Path
	// ends at an endpoint, it is the URL. Package definition, which knows how the value is written, turns it into a
	// Fix.
	Replacement any `json:"-"`
}

// Fix is a change to a definition file that resolves a finding and leaves the author nothing to decide.
type Fix struct {
	Message string `json:"message"` // what the fix does, such as: write "get"
	Edits   []Edit `json:"edits"`   // in file order, not overlapping
}

// Edit replaces a range of text. Positions count as in a Finding; the end is exclusive.
type Edit struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Text      string `json:"text"`
}

// Severity says how serious a finding is.
type Severity string

// An error prevents a manifest from being published; a warning does not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// String formats the finding on one line: location, severity, message and rule.
func (f Finding) String() string {
	at := f.Path.String()
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	return fmt.Sprintf("%s: %s: %s [%s]", at, f.Severity, f.Message, f.Rule)
}

// Path locates a value in a manifest by steps, each a [Field] or an [Item]. The first one is the endpoint's URL.
type Path []step

// step is a [Field] or an [Item].
type step interface{ isStep() }

// Field is the step to a field of an object. As the first step of a path, it is the URL of an endpoint.
type Field string

// Item is the step to an element of an array, counted from 0.
type Item int

func (Field) isStep() {}
func (Item) isStep()  {}

// Endpoint returns the URL of the endpoint that the path leads into, or "".
func (p Path) Endpoint() string {
	if len(p) == 0 {
		return ""
	}
	url, _ := p[0].(Field)
	return string(url)
}

// then returns a copy of the path with steps appended.
func (p Path) then(steps ...step) Path { return slices.Concat(p, steps) }

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

// InvalidError is the error for a manifest that cannot be published.
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
