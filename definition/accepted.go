package definition

import (
	"regexp"
	"strings"

	"signpost"
	"signpost/diff"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

var fingerprint = regexp.MustCompile(`^[0-9a-f]{12}$`)

// ParseAccepted reads a file of accepted changes: a YAML list of {change, reason, until}. It is strict: a misspelt
// field could turn acceptance for a month into acceptance forever. The findings are those of the file, which has
// nothing else.
func ParseAccepted(name string, text []byte) (*diff.Accepted, *File) {
	d := newDecoder(&File{Name: name}, text, Options{})
	accepted := &diff.Accepted{Name: name}
	d.allowEmpty() // nothing is accepted
	if root := d.doc.Root; root != nil {
		d.check(root, fields.Accepted, fields.Accepted.What)
		lines := make(map[string]int)
		for _, item := range root.Items {
			entry := d.acceptance(item)
			if first := lines[entry.Change]; first == 0 {
				lines[entry.Change] = item.Line()
			} else if entry.Change != "" {
				d.add(signpost.RuleDuplicateKey, "keep one of the two", item,
					"change %q is already accepted on line %d", entry.Change, first)
			}
			accepted.Entries = append(accepted.Entries, entry)
		}
	}
	return accepted, d.finish()
}

// acceptance reads an entry of a file of accepted changes.
func (d *decoder) acceptance(item *tree.Node) *diff.Acceptance {
	change, reason := item.Get("change"), item.Get("reason")
	entry := &diff.Acceptance{
		Change: strings.TrimSpace(change.Text), Reason: strings.TrimSpace(reason.Text),
		Until: item.Get("until").Text, Line: item.Line(),
	}
	if item.Kind != tree.Object {
		return entry
	}
	const copyIt = "copy the fingerprint from diff --format json"
	switch {
	case d.broken[change]:
	case change.Kind != tree.String:
		d.add(signpost.RuleRequiredField, copyIt, item, "the entry has no change")
	case !fingerprint.MatchString(entry.Change):
		d.add(signpost.RuleWrongType, copyIt, change, "%q is not a fingerprint (12 hexadecimal digits)", entry.Change)
	}
	if entry.Reason == "" && !d.broken[reason] {
		d.add(signpost.RuleRequiredField, "say why the change is intended", item, "the entry has no reason")
	}
	return entry
}
