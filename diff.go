package signpost

import (
	"fmt"
	"maps"
	"slices"
)

// Change is one difference between two states of a service, as someone meets it who registered the old one:
// with feeds, with values that the studio saved under modifier ids, and with apps that send requests.
type Change struct {
	Rule     string `json:"rule"`
	Level    Level  `json:"level"`
	Version  string `json:"version"`  // empty where it is not known
	Endpoint string `json:"endpoint"` // its URL; empty where the change is about the version as a whole
	Message  string `json:"message"`

	// Old and New are what has changed, as the manifest has it: a text, an option, a whole endpoint. Nil
	// stands for what is not there.
	Old any `json:"old"`
	New any `json:"new"`
}

// Level is the weight of a change.
type Level string

// A breaking change loses feeds, saved values or requests. A notable one is seen by editors or by the service.
// A compatible one only adds what nobody uses yet.
const (
	LevelBreaking   Level = "breaking"
	LevelNotable    Level = "notable"
	LevelCompatible Level = "compatible"
)

// The rules of changes.
const (
	ChangeVersionRemoved  = "version-removed"
	ChangeVersionAdded    = "version-added"
	ChangeEndpointRemoved = "endpoint-removed"
	ChangeEndpointAdded   = "endpoint-added"
	ChangeMethod          = "method-changed"
	ChangeMIMEType        = "mime-type-changed"
	ChangeName            = "name-changed"
	ChangeContextRequired = "context-required"
	ChangeContextAdded    = "context-added"
	ChangeContextRemoved  = "context-removed"
	ChangeContextType     = "context-type-changed"
	ChangeContextMapper   = "context-mapper-changed"
	ChangeContextShadowed = "context-shadowed"
	ChangeModifierRemoved = "modifier-removed"
	ChangeModifierAdded   = "modifier-added"
	ChangeModifier        = "modifier-changed"
	ChangeParamKey        = "param-key-changed"
	ChangeParamType       = "param-type-changed"
	ChangeDefault         = "default-changed"
	ChangeOptionRemoved   = "option-removed"
	ChangeOptionAdded     = "option-added"
	ChangeOrder           = "order-changed"
)

var changeLevels = map[string]Level{
	ChangeVersionRemoved:  LevelBreaking,
	ChangeVersionAdded:    LevelCompatible,
	ChangeEndpointRemoved: LevelBreaking,
	ChangeEndpointAdded:   LevelCompatible,
	ChangeMethod:          LevelBreaking,
	ChangeMIMEType:        LevelBreaking,
	ChangeName:            LevelNotable,
	ChangeContextRequired: LevelBreaking,
	ChangeContextAdded:    LevelCompatible,
	ChangeContextRemoved:  LevelNotable,
	ChangeContextType:     LevelBreaking,
	ChangeContextMapper:   LevelBreaking,
	ChangeContextShadowed: LevelBreaking,
	ChangeModifierRemoved: LevelBreaking,
	ChangeModifierAdded:   LevelCompatible,
	ChangeModifier:        LevelNotable,
	ChangeParamKey:        LevelBreaking,
	ChangeParamType:       LevelBreaking,
	ChangeDefault:         LevelNotable,
	ChangeOptionRemoved:   LevelBreaking,
	ChangeOptionAdded:     LevelNotable,
	ChangeOrder:           LevelNotable,
}

// ChangeRules returns the rules that a change can have, each with its level.
func ChangeRules() map[string]Level { return maps.Clone(changeLevels) }

// Diff returns what has changed from old to new, never nil: version by version, and in each the endpoints of
// old in their order, then those that are new. Where the JSON of a manifest differs there is at least one
// change. Both sides must have {{host}} resolved in the same way, or not at all.
func Diff(old, new []Version) []Change {
	d := differ{changes: []Change{}}
	// Each version has a route of its own, so nobody sees their order.
	versions, _ := pairUp(old, new, func(v *Version) string { return v.Name })
	for _, v := range versions {
		switch {
		case v.new == nil:
			d.version = v.old.Name
			d.add(ChangeVersionRemoved, NewManifest(v.old.Manifest.Endpoints...), nil, "version removed, with all of its endpoints")
		case v.old == nil:
			d.version = v.new.Name
			d.add(ChangeVersionAdded, nil, NewManifest(v.new.Manifest.Endpoints...), "version added")
		default:
			d.version = v.old.Name
			d.manifest(v.old.Manifest, v.new.Manifest)
		}
	}
	return d.changes
}

// pair is an item of two lists, nil where a list does not have it.
type pair[T any] struct{ old, new *T }

// pairUp finds the items of two lists that belong together: the n-th with a key in one and the n-th with it in
// the other. The items of old come first, in their order, then those that only new has. It also reports whether
// the items that both have are in another order.
func pairUp[T any](old, new []T, key func(*T) string) (pairs []pair[T], moved bool) {
	open := make(map[string][]int, len(new)) // items of new without a partner, by key
	for i := range new {
		k := key(&new[i])
		open[k] = append(open[k], i)
	}
	taken := make([]bool, len(new))
	last := -1
	for i := range old {
		p := pair[T]{old: &old[i]}
		k := key(p.old)
		if at := open[k]; len(at) > 0 {
			open[k] = at[1:]
			p.new = &new[at[0]]
			taken[at[0]] = true
			moved = moved || at[0] < last
			last = at[0]
		}
		pairs = append(pairs, p)
	}
	for i := range new {
		if !taken[i] {
			pairs = append(pairs, pair[T]{new: &new[i]})
		}
	}
	return pairs, moved
}

// keysOf returns the keys of the items, in their order.
func keysOf[T any](items []T, key func(*T) string) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = key(&items[i])
	}
	return keys
}

// differ collects the changes of the version and the endpoint that it is at.
type differ struct {
	version, endpoint string
	changes           []Change
}

func (d *differ) add(rule string, old, new any, format string, args ...any) {
	d.changes = append(d.changes, Change{
		Rule: rule, Level: changeLevels[rule], Version: d.version, Endpoint: d.endpoint,
		Message: fmt.Sprintf(format, args...), Old: old, New: new,
	})
}

// text compares a text of the manifest, whose empty form means that it is not there.
func (d *differ) text(rule, what, old, new string) {
	switch {
	case old == new:
	case old == "":
		d.add(rule, nil, new, "%s %q added", what, new)
	case new == "":
		d.add(rule, old, nil, "%s %q removed", what, old)
	default:
		d.add(rule, old, new, "%s changed from %q to %q", what, old, new)
	}
}

func (d *differ) manifest(old, new Manifest) {
	url := func(e *Endpoint) string { return e.URL }
	pairs, moved := pairUp(old.Endpoints, new.Endpoints, url)

	// An endpoint has no id, so a new URL is a new endpoint. Its name may still tell where an old one went.
	places := make(map[string][]string)
	for _, p := range pairs {
		if p.old == nil {
			places[p.new.Name] = append(places[p.new.Name], p.new.URL)
		}
	}
	var before *Index // answers as the old manifest does
	for _, p := range pairs {
		switch {
		case p.new == nil:
			d.endpoint = p.old.URL
			hint := ""
			if to := places[p.old.Name]; len(to) == 1 {
				hint = fmt.Sprintf("; perhaps moved to %q, which has the same name", to[0])
			}
			d.add(ChangeEndpointRemoved, p.old.clone(), nil, "endpoint %q removed%s", p.old.Name, hint)
		case p.old == nil:
			d.endpoint = p.new.URL
			d.add(ChangeEndpointAdded, nil, p.new.clone(), "endpoint %q added", p.new.Name)
			if before == nil {
				before = NewIndex(Version{Manifest: keptKeys(pairs)})
			}
			d.takenOver(before, *p.new)
		default:
			d.endpoint = p.old.URL
			d.descriptor(*p.old, *p.new)
		}
	}
	d.endpoint = ""
	if moved {
		d.add(ChangeOrder, keysOf(old.Endpoints, url), keysOf(new.Endpoints, url), "endpoints are in another order")
	}
}

// keptKeys returns the endpoints of old, each with the context keys that it had and still has. What an endpoint
// loses by itself is reported there; what is left here can only be lost to another endpoint.
func keptKeys(pairs []pair[Endpoint]) Manifest {
	var m Manifest
	for _, p := range pairs {
		if p.old == nil {
			continue
		}
		e := Endpoint{URL: p.old.URL}
		if p.new != nil {
			gone := missingKeys(p.old.ContextObj, p.new.ContextObj)
			e.ContextObj = slices.DeleteFunc(slices.Clone(p.old.ContextObj), func(c ContextItem) bool {
				return slices.Contains(gone, c.Key)
			})
		}
		m.Endpoints = append(m.Endpoints, e)
	}
	return m
}

// takenOver reports that feeds get fewer keys because a new endpoint answers for them in place of a shorter one.
func (d *differ) takenOver(before *Index, added Endpoint) {
	m, ok := before.Match(added.URL)
	if !ok {
		return
	}
	if lost := missingKeys(m.ContextObj, added.ContextObj); len(lost) > 0 {
		d.add(ChangeContextShadowed, Shadowed{m.Endpoint, lost}, nil,
			"takes feeds over from %q; lost context keys: %s", m.Endpoint, quotedList(lost))
	}
}

func (d *differ) descriptor(old, new Endpoint) {
	d.text(ChangeName, "name", old.Name, new.Name)
	d.text(ChangeMethod, "method", old.Method, new.Method)
	d.text(ChangeMIMEType, "mime_type", old.MIMEType, new.MIMEType)

	key := func(c *ContextItem) string { return c.Key }
	items, moved := pairUp(old.ContextObj, new.ContextObj, key)
	for _, p := range items {
		d.contextItem(p)
	}
	if moved {
		d.add(ChangeOrder, keysOf(old.ContextObj, key), keysOf(new.ContextObj, key), "context keys are in another order")
	}

	id := func(m *Modifier) string { return m.ID }
	modifiers, moved := pairUp(old.Modifiers, new.Modifiers, id)
	for _, p := range modifiers {
		switch {
		case p.new == nil:
			d.add(ChangeModifierRemoved, p.old.clone(), nil, "modifier %q removed", p.old.ID)
		case p.old == nil:
			d.add(ChangeModifierAdded, nil, p.new.clone(), "modifier %q added", p.new.ID)
		default:
			d.modifier(*p.old, *p.new)
		}
	}
	if moved {
		d.add(ChangeModifier, keysOf(old.Modifiers, id), keysOf(new.Modifiers, id), "modifiers are in another order")
	}
}

func (d *differ) contextItem(p pair[ContextItem]) {
	switch {
	case p.new == nil:
		d.add(ChangeContextRemoved, *p.old, nil, "context key %q removed", p.old.Key)
		return
	case p.old == nil && p.new.Required:
		d.add(ChangeContextRequired, nil, *p.new, "context key %q added, and required", p.new.Key)
		return
	case p.old == nil:
		d.add(ChangeContextAdded, nil, *p.new, "context key %q added, optional", p.new.Key)
		return
	}
	old, new := *p.old, *p.new
	switch {
	case !old.Required && new.Required:
		d.add(ChangeContextRequired, old, new, "context key %q is now required", old.Key)
	case old.Required && !new.Required:
		d.add(ChangeContextRemoved, old, new, "context key %q is no longer required", old.Key)
	}
	d.text(ChangeContextType, fmt.Sprintf("context key %q: type", old.Key), old.Type, new.Type)
	d.text(ChangeContextMapper, fmt.Sprintf("context key %q: mapper", old.Key), old.Mapper, new.Mapper)
}

func (d *differ) modifier(old, new Modifier) {
	where := fmt.Sprintf("modifier %q", old.ID)
	d.text(ChangeModifier, where+": name", old.Name, new.Name)

	params, moved := pairParams(old.Params, new.Params)
	for _, p := range params {
		switch {
		case p.new == nil:
			d.add(ChangeParamKey, p.old.Key, nil, "%s: param %q removed", where, p.old.Key)
		case p.old == nil:
			d.add(ChangeModifier, nil, p.new.Key, "%s: param %q added", where, p.new.Key)
		case len(params) == 1:
			d.param(where+": ", *p.old, *p.new)
		default:
			d.param(fmt.Sprintf("%s, param %q: ", where, p.old.Key), *p.old, *p.new)
		}
	}
	if moved {
		d.add(ChangeModifier, keysOf(old.Params, paramKey), keysOf(new.Params, paramKey), "%s: params are in another order", where)
	}
}

func paramKey(p *Param) string { return p.Key }

// pairParams pairs the params with the same key, then those that are left, one by one: their key has changed.
func pairParams(old, new []Param) (pairs []pair[Param], moved bool) {
	pairs, moved = pairUp(old, new, paramKey)
	kept, added := pairs[:len(old)], pairs[len(old):]
	for i := range kept {
		if kept[i].new == nil && len(added) > 0 {
			kept[i].new, added = added[0].new, added[1:]
		}
	}
	return append(kept, added...), moved
}

func (d *differ) param(where string, old, new Param) {
	d.text(ChangeParamKey, where+"key", old.Key, new.Key)
	d.text(ChangeModifier, where+"label", old.UI.Label, new.UI.Label)
	d.text(ChangeModifier, where+"placeholder", old.UI.Placeholder, new.UI.Placeholder)

	was, is := kind(old), kind(new)
	switch {
	case old.Schema.Type == new.Schema.Type && was == KindSelect && is == KindText:
		d.add(ChangeModifier, was, is, "%skind changed from select to text, which takes every value that an option had", where)
	case old.Schema.Type != new.Schema.Type || was != is:
		d.add(ChangeParamType, was, is, "%skind changed from %s to %s", where, was, is)
	default:
		d.options(where, old, new)
	}

	before, after := jsonText(old.Schema.Default), jsonText(new.Schema.Default)
	switch {
	case before == after:
	case old.Schema.Default == nil:
		d.add(ChangeDefault, nil, new.Schema.Default, "%sdefault %s added", where, after)
	case new.Schema.Default == nil:
		d.add(ChangeDefault, old.Schema.Default, nil, "%sdefault %s removed", where, before)
	default:
		d.add(ChangeDefault, old.Schema.Default, new.Schema.Default, "%sdefault changed from %s to %s", where, before, after)
	}
}

// kind returns the kind of modifier that has such a param. What no builder makes is known by its type.
func kind(p Param) string {
	switch {
	case p.Schema.Type != TypeString:
		return p.Schema.Type
	case len(p.UI.Options) > 0 || len(p.Schema.Enum) > 0:
		return KindSelect
	}
	return KindText
}

// jsonText returns a default as the manifest has it: 20 and json.Number("20") are the same there.
func jsonText(value any) string {
	text, err := marshal(value)
	if err != nil {
		return fmt.Sprint(value) // Validate refuses it
	}
	return string(text)
}

// options compares the choices of a dropdown, by their value.
func (d *differ) options(where string, old, new Param) {
	told := len(d.changes)
	value := func(o *Option) string { return o.Value }
	was, is := choices(old), choices(new)
	pairs, moved := pairUp(was, is, value)
	for _, p := range pairs {
		switch {
		case p.new == nil:
			d.add(ChangeOptionRemoved, *p.old, nil, "%soption %q removed", where, p.old.Value)
		case p.old == nil:
			d.add(ChangeOptionAdded, nil, *p.new, "%soption %q added", where, p.new.Value)
		default:
			d.text(ChangeModifier, fmt.Sprintf("%soption %q: label", where, p.old.Value), p.old.Label, p.new.Label)
		}
	}
	if moved {
		d.add(ChangeModifier, keysOf(was, value), keysOf(is, value), "%soptions are in another order", where)
	}
	// The enum repeats the values of the options, so it is worth a word only where it changes alone.
	same := slices.Equal(old.Schema.Enum, new.Schema.Enum) && len(old.UI.Options) == len(new.UI.Options)
	if len(d.changes) == told && !same {
		d.add(ChangeModifier, slices.Clone(old.Schema.Enum), slices.Clone(new.Schema.Enum),
			"%sschema.enum changed from [%s] to [%s]", where, quotedList(old.Schema.Enum), quotedList(new.Schema.Enum))
	}
}

// choices returns the options or, where there is only an enum, options without a label.
func choices(p Param) []Option {
	if len(p.UI.Options) > 0 {
		return p.UI.Options
	}
	options := make([]Option, len(p.Schema.Enum))
	for i, value := range p.Schema.Enum {
		options[i].Value = value
	}
	return options
}
