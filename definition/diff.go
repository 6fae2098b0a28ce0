package definition

import (
	"fmt"

	"signpost"
	"signpost/diff"
)

// Diff returns what changed for studios that registered old, as signpost diff does, with the features that each file
// enables. It returns an error if a file has errors.
func Diff(old, new *File) ([]diff.Change, error) {
	var states [2]signpost.Service
	for i, f := range []*File{old, new} {
		versions, err := f.Manifests(nil)
		if err != nil {
			return nil, fmt.Errorf("definition %q: %w", f.Name, err)
		}
		states[i] = f.State(versions)
	}
	return diff.Diff(states[0], states[1]), nil
}
