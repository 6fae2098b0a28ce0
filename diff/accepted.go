package diff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"signpost"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// MaxAccepted is the maximum size of a file of accepted changes, in bytes.
const MaxAccepted = tree.MaxSize

// Acceptance accepts a change.
type Acceptance struct {
	Reason string `json:"reason"`
	Until  string `json:"until,omitempty"` // last day of validity; empty means no limit

	change  string // the fingerprint
	line    int
	matched bool
}

// expired reports whether the entry is no longer valid today.
func (e *Acceptance) expired(today string) bool { return e.Until != "" && e.Until < today }

// Accepted is a parsed file of accepted changes. The zero value accepts nothing.
type Accepted struct {
	Name     string
	Findings []signpost.Finding // problems in the file, sorted by position

	doc      *tree.Document
	entries  []*Acceptance
	byChange map[string]*Acceptance
}

// ParseAccepted reads a YAML list of {change, reason, until}. It is strict: a misspelt field could turn acceptance for a month
// into acceptance forever. All problems become findings.
func ParseAccepted(name string, text []byte) *Accepted {
	f := &Accepted{Name: name, doc: tree.Parse(text, false), byChange: make(map[string]*Acceptance)}
	f.read()
	slices.SortStableFunc(f.Findings, func(a, b signpost.Finding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return f
}

// Snippet returns at most width characters of a line around a column, and the column of the first of them.
func (f *Accepted) Snippet(line, column, width int) (text string, first int) {
	return f.doc.Snippet(line, column, width)
}

func (f *Accepted) add(rule, hint string, at *tree.Node, format string, args ...any) {
	line, column := f.doc.Position(at.Start())
	f.Findings = append(f.Findings, signpost.Finding{
		Rule: rule, Severity: signpost.SeverityError, Message: fmt.Sprintf(format, args...), Hint: hint,
		File: f.Name, Line: line, Column: column, Width: at.Width(),
	})
}

func (f *Accepted) read() {
	for _, p := range f.doc.Problems {
		rules := map[tree.ProblemKind]string{tree.DuplicateKey: signpost.RuleDuplicateKey, tree.BadValue: signpost.RuleWrongType}
		f.add(cmp.Or(rules[p.Kind], "syntax"), p.Hint, p.At, "%s", p.Message)
	}
	root := f.doc.Root
	switch {
	case root == nil || root.Kind == tree.Null: // nothing is accepted
		return
	case root.Kind != tree.List:
		f.add(signpost.RuleWrongType, "write - {change: FINGERPRINT, reason: TEXT, until: YYYY-MM-DD}", root, "accepted changes must be a list, not %s", root.Kind)
		return
	}
	for _, item := range root.Items {
		if item.Kind != tree.Object {
			f.add(signpost.RuleWrongType, "write {change: FINGERPRINT, reason: TEXT, until: YYYY-MM-DD}", item, "an accepted change must be an object, not %s", item.Kind)
			continue
		}
		entry := f.entry(item)
		if first := f.byChange[entry.change]; first != nil && entry.change != "" {
			f.add(signpost.RuleDuplicateKey, "keep one of the two", item, "change %q is already accepted on line %d", entry.change, first.line)
			continue
		}
		f.byChange[entry.change] = entry
		f.entries = append(f.entries, entry)
	}
}

var (
	fingerprintForm = regexp.MustCompile(`^[0-9a-f]{12}$`)
	fields          = []string{"change", "reason", "until"}
)

func (f *Accepted) entry(item *tree.Node) *Acceptance {
	entry := &Acceptance{line: item.Line()}
	misspelt := make(map[string]bool) // already reported, so not reported as missing
	for _, field := range item.Fields {
		if name := field.Key.Text; !slices.Contains(fields, name) {
			hint := "known: " + strings.Join(fields, ", ")
			if near := spell.Nearest(name, fields); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
				misspelt[near] = true
			}
			f.add("unknown-field", hint, field.Key, "unknown field %q", name)
		}
	}
	text := func(field string) (string, *tree.Node) {
		_, value := item.Field(field)
		switch {
		case value == nil || value.Kind == tree.Null:
			return "", nil
		case value.Kind != tree.String:
			f.add(signpost.RuleWrongType, "", value, "%s must be text, not %s", field, value.Kind)
			return "", value
		}
		return strings.TrimSpace(value.Text), value
	}
	var at *tree.Node
	if entry.change, at = text("change"); at == nil && !misspelt["change"] {
		f.add(signpost.RuleRequiredField, "copy the fingerprint from diff --format json", item, "the entry has no change")
	} else if at != nil && at.Kind == tree.String && !fingerprintForm.MatchString(entry.change) {
		f.add(signpost.RuleWrongType, "copy it from diff --format json", at, "%q is not a fingerprint (12 hexadecimal digits)", entry.change)
	}
	if entry.Reason, at = text("reason"); at == nil && !misspelt["reason"] || at != nil && at.Kind == tree.String && entry.Reason == "" {
		f.add(signpost.RuleRequiredField, "say why the change is intended", item, "the entry has no reason")
	}
	if entry.Until, at = text("until"); at != nil && at.Kind == tree.String {
		if _, err := time.Parse(time.DateOnly, entry.Until); err != nil {
			f.add(signpost.RuleWrongType, "write it as 2027-01-31", at, "%q is not a date", entry.Until)
		}
	}
	return entry
}

// AcceptedChange is a change and the entry that accepts it, or nil.
type AcceptedChange struct {
	Change
	Accepted *Acceptance `json:"accepted,omitempty"`
}

// Apply pairs changes with the entries that accept them today, a date such as 2027-01-31.
func (f *Accepted) Apply(changes []Change, today string) []AcceptedChange {
	applied := make([]AcceptedChange, len(changes))
	for i, change := range changes {
		applied[i].Change = change
		if entry := f.byChange[change.Fingerprint]; entry != nil {
			entry.matched = true
			if !entry.expired(today) {
				applied[i].Accepted = entry
			}
		}
	}
	return applied
}

// Unused returns a line for each entry that had no effect. Call it after Apply.
func (f *Accepted) Unused(today string) []string {
	var lines []string
	for _, entry := range f.entries {
		switch {
		case !entry.matched:
			lines = append(lines, fmt.Sprintf("%s:%d: %s matches no change: remove the entry", f.Name, entry.line, entry.change))
		case entry.expired(today):
			lines = append(lines, fmt.Sprintf("%s:%d: acceptance of %s expired on %s", f.Name, entry.line, entry.change, entry.Until))
		}
	}
	return lines
}

// AcceptanceOf returns an entry for a change; it takes effect once its reason is filled in.
func AcceptanceOf(c Change) string {
	place := strings.Join(strings.Fields(strings.Join([]string{c.Rule, c.Service, c.Version, c.Endpoint}, " ")), " ")
	place = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar // not allowed in a YAML comment
	}, place)
	return fmt.Sprintf("- change: %s # %s\n  reason: \n", c.Fingerprint, place)
}
