package diff

import (
	"fmt"
	"strings"
	"unicode"
)

// Acceptance accepts a change.
type Acceptance struct {
	Change string `json:"-"` // the fingerprint
	Reason string `json:"reason"`
	Until  string `json:"until,omitempty"` // last day of validity; empty means no limit
	Line   int    `json:"-"`               // in its file

	matched bool
}

// expired reports whether the entry is no longer valid today.
func (e *Acceptance) expired(today string) bool { return e.Until != "" && e.Until < today }

// Accepted is a file of accepted changes. The zero value accepts nothing.
type Accepted struct {
	Name    string
	Entries []*Acceptance // each for another change
}

// AcceptedChange is a change and the entry that accepts it, or nil.
type AcceptedChange struct {
	Change
	Accepted *Acceptance `json:"accepted,omitempty"`
}

// Apply pairs changes with the entries that accept them today, a date such as 2027-01-31.
func (f *Accepted) Apply(changes []Change, today string) []AcceptedChange {
	byChange := make(map[string]*Acceptance, len(f.Entries))
	for _, entry := range f.Entries {
		byChange[entry.Change] = entry
	}
	applied := make([]AcceptedChange, len(changes))
	for i, change := range changes {
		applied[i].Change = change
		if entry := byChange[change.Fingerprint]; entry != nil {
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
	for _, entry := range f.Entries {
		switch {
		case !entry.matched:
			lines = append(lines, fmt.Sprintf("%s:%d: %s matches no change: remove the entry",
				f.Name, entry.Line, entry.Change))
		case entry.expired(today):
			lines = append(lines, fmt.Sprintf("%s:%d: acceptance of %s expired on %s",
				f.Name, entry.Line, entry.Change, entry.Until))
		}
	}
	return lines
}

// AcceptanceOf returns an entry for a change; it takes effect once its reason is filled in.
func AcceptanceOf(c Change) string {
	about := strings.Join(strings.Fields(strings.Join([]string{c.Rule, c.Service, c.Version, c.Endpoint}, " ")), " ")
	about = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar // not allowed in a YAML comment
	}, about)
	return fmt.Sprintf("- change: %s # %s\n  reason: \n", c.Fingerprint, about)
}
