package adopt

import (
	"fmt"
	"slices"

	"signpost"
	"signpost/internal/draft"
	"signpost/internal/spell"
)

// counter counts the places that a note is about.
type counter struct {
	order []string
	uses  map[string]int
}

func (c *counter) add(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	if c.uses[note] == 0 {
		c.order = append(c.order, note)
	}
	c.uses[note]++
}

// carried is the end of notes about what a definition writes with a plus.
const carried = "is beyond the specification: carried with a plus"

// value returns a value as definitions have it: with a plus, and counted, if the specification does not know it.
func (c *counter) value(name, value string, known ...string) string {
	if value == "" || slices.Contains(known, value) {
		return value
	}
	c.add("%s %q %s", name, value, carried)
	return signpost.Beyond + value
}

// notes returns the notes, in the order of their first places.
func (c *counter) notes() []string {
	var notes []string
	for _, note := range c.order {
		notes = append(notes, draft.Note("%s, %s", note, spell.Count(c.uses[note], "time")))
	}
	return notes
}

// suggested returns the built-in features that give the same manifests as keys that the endpoints declare themselves.
func suggested(versions []draft.Version) []string {
	builtIn := signpost.BuiltIn()
	for _, features := range [][]signpost.Feature{builtIn, builtIn[:1], builtIn[1:]} {
		if giveTheSame(versions, features) {
			var names []string
			for _, f := range features {
				names = append(names, f.Name)
			}
			return names
		}
	}
	return nil
}

// giveTheSame reports whether features give the manifests from endpoints without their keys. Some endpoint must have
// these.
func giveTheSame(versions []draft.Version, features []signpost.Feature) bool {
	removed := make(map[string]bool) // features with a key that an endpoint has
	for _, v := range versions {
		var without signpost.Manifest
		for _, e := range v.Endpoints {
			var left []signpost.ContextItem
			for _, item := range e.ContextObj {
				if owner := ownerOf(item, features); owner != "" {
					removed[owner] = true
				} else {
					left = append(left, item)
				}
			}
			e.Endpoint.ContextObj = left
			without.Endpoints = append(without.Endpoints, e.Endpoint)
		}
		for i, e := range without.WithFeatures(features...).Endpoints {
			if !slices.Equal(e.ContextObj, v.Endpoints[i].ContextObj) {
				return false
			}
		}
	}
	return len(removed) == len(features)
}

// ownerOf returns the feature that adds an item, or "".
func ownerOf(item signpost.ContextItem, features []signpost.Feature) string {
	for _, f := range features {
		if slices.Contains(f.ContextObj, item) {
			return f.Name
		}
	}
	return ""
}
