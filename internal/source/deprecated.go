package source

import (
	"time"

	"signpost/diff"
)

// LowerDeprecated applies [definition.File.LowerDeprecated] to the changes of several services.
func LowerDeprecated(changes []diff.Change, old []*Service, today time.Time) {
	for i, c := range changes {
		for _, s := range old {
			if c.Service == "" || c.Service == s.State().BasePath {
				s.File.LowerDeprecated(changes[i:i+1], today)
				break
			}
		}
	}
}
