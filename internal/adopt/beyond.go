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

// beyond counts something beyond the specification, such as field "x" of endpoints.
func (c *counter) beyond(format string, args ...any) {
	c.add("%s is beyond the specification: carried with a plus", fmt.Sprintf(format, args...))
}

func (c *counter) extra(x signpost.Extra, of string) {
	for name := range x.All() {
		c.beyond("field %q of %s", name, of)
	}
}

func (c *counter) endpoint(e signpost.Endpoint) {
	c.extra(e.Extra, "endpoints")
	if beyond(e.Method, signpost.MethodGet, signpost.MethodPost) != e.Method {
		c.beyond("method %q", e.Method)
	}
	for _, item := range e.ContextObj {
		c.extra(item.Extra, "context items")
		if beyond(item.Type, signpost.ContextTypes()...) != item.Type {
			c.beyond("context type %q", item.Type)
		}
	}
	for _, m := range e.Modifiers {
		c.extra(m.Extra, "modifiers")
		for _, p := range m.Params {
			c.extra(p.Extra, "params")
			c.extra(p.UI.Extra, "ui")
			c.extra(p.Schema.Extra, "schema")
			for _, o := range p.UI.Options {
				c.extra(o.Extra, "options")
			}
		}
	}
}

// notes returns the notes, in the order of their first places.
func (c *counter) notes() []string {
	var notes []string
	for _, note := range c.order {
		notes = append(notes, line("%s, %s", note, spell.Count(c.uses[note], "time")))
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
