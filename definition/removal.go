package definition

import (
	"fmt"
	"time"

	"signpost"
	"signpost/diff"
)

// LowerDeprecated makes the removal of items that the file deprecates notable if their last day is over, and says so in
// the message. The deprecation of a version covers its endpoints, and that of an endpoint its modifiers.
func (f *File) LowerDeprecated(changes []diff.Change, today time.Time) {
	for i := range changes {
		c := &changes[i]
		modifier := ""
		switch c.Rule {
		case diff.ChangeVersionRemoved, diff.ChangeEndpointRemoved:
		case diff.ChangeModifierRemoved:
			if m, ok := c.Old.(signpost.Modifier); ok {
				modifier = m.ID
			}
		default:
			continue
		}
		d := f.removable(c.Version, c.Written, modifier, today)
		if d == nil || d.Until.IsZero() {
			continue
		}
		until := d.Until.Format(time.DateOnly)
		if d.Over(today) {
			c.Level = diff.Notable
			c.Message += fmt.Sprintf("; it was deprecated until %s", until)
		} else {
			c.Message += fmt.Sprintf("; it is deprecated until %s and can be removed after that", until)
		}
	}
}

// removable returns the deprecation that permits a removal: one that is over, or otherwise the item's own.
func (f *File) removable(version, endpoint, modifier string, today time.Time) *Deprecation {
	var own *Deprecation
	for _, d := range []*Deprecation{
		f.Deprecation(version, endpoint, modifier), f.Deprecation(version, endpoint, ""), f.Deprecation(version, "", ""),
	} {
		if d == nil {
			continue
		}
		if d.Over(today) {
			return d
		}
		if own == nil {
			own = d
		}
	}
	return own
}

// Diff returns what changed for studios that registered old, as signpost diff does: from one base path, with the
// features that each file enables, to another, and with the removal of what old deprecated until a day that is over
// only notable. It returns an error if a file has errors.
func Diff(old, new *File) ([]diff.Change, error) {
	var states [2]signpost.Service
	for i, f := range []*File{old, new} {
		versions, err := f.Manifests(nil)
		if err != nil {
			return nil, fmt.Errorf("definition %q: %w", f.Name, err)
		}
		states[i] = signpost.Service{BasePath: f.KnownBasePath(), Versions: versions}
	}
	changes := diff.Diff(states[0], states[1])
	old.LowerDeprecated(changes, time.Now())
	return changes, nil
}
