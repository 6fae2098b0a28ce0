package source

import (
	"fmt"
	"time"

	"signpost"
	"signpost/definition"
)

// LowerDeprecated makes the removal of deprecated items notable if their last day is over, and says so in the message.
// The deprecation of a version covers its endpoints, and that of an endpoint its modifiers.
func LowerDeprecated(changes []signpost.Change, old []*Service, today time.Time) {
	for i := range changes {
		c := &changes[i]
		id := ""
		switch c.Rule {
		case signpost.ChangeVersionRemoved, signpost.ChangeEndpointRemoved:
		case signpost.ChangeModifierRemoved:
			if m, ok := c.Old.(signpost.Modifier); ok {
				id = m.ID
			}
		default:
			continue
		}
		for _, s := range old {
			if c.Service != "" && c.Service != s.File.BasePath {
				continue
			}
			if d := s.deprecation(c.Version, c.Endpoint, id, today); d != nil && !d.Until.IsZero() {
				until := d.Until.Format(time.DateOnly)
				if d.Over(today) {
					c.Level = signpost.LevelNotable
					c.Message += fmt.Sprintf("; it was deprecated until %s", until)
				} else {
					c.Message += fmt.Sprintf("; it is deprecated until %s and can be removed after that", until)
				}
			}
			break
		}
	}
}

// deprecation returns the deprecation that permits a removal: one that is over, or otherwise the item's own.
func (s *Service) deprecation(version, endpoint, modifier string, today time.Time) *definition.Deprecation {
	if s.Host != signpost.HostPlaceholder {
		endpoint = signpost.CutURL(endpoint).Unresolve(s.Host).String()
	}
	var own *definition.Deprecation
	for _, d := range []*definition.Deprecation{
		s.File.Deprecation(version, endpoint, modifier), s.File.Deprecation(version, endpoint, ""), s.File.Deprecation(version, "", ""),
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
