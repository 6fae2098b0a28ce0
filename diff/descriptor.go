package diff

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
)

func (d *differ) descriptor(old, new signpost.Endpoint) {
	d.text(ChangeName, subject{}, "name", old.Name, new.Name)
	d.text(ChangeMethod, subject{}, "method", old.Method, new.Method)
	mimeType := subject{}
	if sameMediaType(old.MIMEType, new.MIMEType) {
		mimeType.level = Notable
	}
	d.text(ChangeMIMEType, mimeType, "mime_type", old.MIMEType, new.MIMEType)
	d.extra(subject{}, old.Extra, new.Extra)

	key := func(c *signpost.ContextItem) string { return c.Key }
	items, moved := pairUp(old.ContextObj, new.ContextObj, key)
	for _, p := range items {
		d.contextItem(p)
	}
	if moved {
		d.add(ChangeOrder, subject{path: []string{subjectContext}}, keysOf(old.ContextObj, key), keysOf(new.ContextObj, key),
			"context keys are in another order")
	}

	id := func(m *signpost.Modifier) string { return m.ID }
	modifiers, moved := pairUp(old.Modifiers, new.Modifiers, id)
	keys := func(m *signpost.Modifier) string { return strings.Join(keysOf(m.Params, paramKey), "\x00") }
	for _, p := range pairRest(modifiers, keys) { // with the same query parameters, only the id has changed
		switch {
		case p.new == nil && isNothing(*p.old) && d.isFaulty(wholeModifier(""), p.old):
			// the name of a shared one that does not exist
		case p.new == nil:
			d.add(ChangeModifierRemoved, wholeModifier(p.old.ID), p.old.Clone(), nil, "removed")
		case p.old == nil:
			d.add(ChangeModifierAdded, wholeModifier(p.new.ID), nil, p.new.Clone(), "added")
		default:
			if p.old.ID != p.new.ID {
				d.add(ChangeModifierRemoved, wholeModifier(p.old.ID).sub("renamed", p.new.ID), p.old.Clone(), p.new.Clone(),
					"renamed to %q: values saved under the old id are lost", p.new.ID)
			}
			d.modifier(*p.old, *p.new)
		}
	}
	if moved {
		d.add(ChangeModifier, subject{path: []string{"modifiers"}}, keysOf(old.Modifiers, id), keysOf(new.Modifiers, id),
			"modifiers are in another order")
	}
}

// sameMediaType reports whether two media types differ in letter case and parameters only.
func sameMediaType(a, b string) bool {
	first, _, err := mime.ParseMediaType(a)
	second, _, other := mime.ParseMediaType(b)
	return a == b || err == nil && other == nil && first == second
}

// The first steps to what is inside an endpoint.
const (
	subjectContext  = "context"
	subjectModifier = "modifier"
)

// isNothing reports whether nothing of a modifier could be read.
func isNothing(m signpost.Modifier) bool { return m.ID == "" && m.Name == "" && len(m.Params) == 0 }

// wholeModifier returns a modifier as a subject.
func wholeModifier(id string) subject {
	return subject{prefix: fmt.Sprintf("modifier %q ", id), path: []string{subjectModifier, id}}
}

func (d *differ) contextItem(p pair[signpost.ContextItem]) {
	at := func(key string) subject {
		return subject{prefix: fmt.Sprintf("context key %q ", key), path: []string{subjectContext, key}}
	}
	switch {
	case p.new == nil:
		d.add(ChangeContextRemoved, at(p.old.Key), *p.old, nil, "removed")
		return
	case p.old == nil && p.new.Required:
		d.add(ChangeContextRequired, at(p.new.Key), nil, *p.new, "added, and required")
		return
	case p.old == nil:
		d.add(ChangeContextAdded, at(p.new.Key), nil, *p.new, "added, optional")
		return
	}
	old, new := *p.old, *p.new
	required := at(old.Key).sub("required")
	required.closed = true // the rest of the item is compared below
	switch {
	case !old.Required && new.Required:
		d.add(ChangeContextRequired, required, old, new, "is now required")
	case old.Required && !new.Required:
		d.add(ChangeContextRemoved, required, old, new, "is no longer required")
	}
	inside := subject{prefix: fmt.Sprintf("context key %q: ", old.Key), path: []string{subjectContext, old.Key}}
	d.text(ChangeContextType, inside, "type", old.Type, new.Type)
	d.extra(inside, old.Extra, new.Extra)
	if old.SentAs() == new.SentAs() {
		inside.level, inside.remark = Notable, ", which is the key itself: it is sent under the same name"
	}
	d.text(ChangeContextMapper, inside, "mapper", old.Mapper, new.Mapper)
}

// modifier compares two versions of a modifier, ignoring the id.
func (d *differ) modifier(old, new signpost.Modifier) {
	at := subject{prefix: fmt.Sprintf("modifier %q: ", old.ID), path: []string{subjectModifier, old.ID}}
	d.text(ChangeModifier, at, "name", old.Name, new.Name)
	d.extra(at, old.Extra, new.Extra)

	params, moved := pairParams(old.Params, new.Params)
	for _, p := range params {
		switch {
		case p.new == nil:
			d.add(ChangeParamKey, at.sub("param"), p.old.Key, nil, "param %q removed", p.old.Key)
		case p.old == nil:
			d.add(ChangeModifier, at.sub("param"), nil, p.new.Key, "param %q added", p.new.Key)
		default:
			in := at.sub("param", p.old.Key)
			if len(params) > 1 {
				in.prefix = fmt.Sprintf("modifier %q, param %q: ", old.ID, p.old.Key)
			}
			d.param(in, *p.old, *p.new)
		}
	}
	if moved {
		d.add(ChangeModifier, at.sub("params"), keysOf(old.Params, paramKey), keysOf(new.Params, paramKey),
			"params are in another order")
	}
}

func paramKey(p *signpost.Param) string { return p.Key }

// pairParams pairs params by key, then the remaining ones by position: their key has changed.
func pairParams(old, new []signpost.Param) (pairs []pair[signpost.Param], moved bool) {
	pairs, moved = pairUp(old, new, paramKey)
	kept, added := pairs[:len(old)], pairs[len(old):]
	for i := range kept {
		if kept[i].new == nil && len(added) > 0 {
			kept[i].new, added = added[0].new, added[1:]
		}
	}
	return append(kept, added...), moved
}

func (d *differ) param(at subject, old, new signpost.Param) {
	d.text(ChangeParamKey, at, "key", old.Key, new.Key)
	d.text(ChangeModifier, at, "label", old.UI.Label, new.UI.Label)
	d.text(ChangeModifier, at, "placeholder", old.UI.Placeholder, new.UI.Placeholder)
	d.extra(at, old.Extra, new.Extra)
	d.extra(at.sub("ui"), old.UI.Extra, new.UI.Extra)
	d.extra(at.sub("schema"), old.Schema.Extra, new.Schema.Extra)

	was, is := old.Kind(), new.Kind()
	switch {
	case old.Schema.Type == new.Schema.Type && was == signpost.KindSelect && is == signpost.KindText:
		d.add(ChangeModifier, at.sub("kind"), was, is,
			"kind changed from select to text, which takes every value that an option had")
	case old.Schema.Type != new.Schema.Type || was != is:
		d.add(ChangeParamType, at.sub("kind"), was, is, "kind changed from %s to %s", was, is)
	default:
		d.options(at, old, new)
	}

	before, after := jsonText(old.Schema.Default), jsonText(new.Schema.Default)
	in := at.sub("default")
	switch {
	case before == after:
	case old.Schema.Default == nil:
		d.add(ChangeDefault, in, nil, new.Schema.Default, "default %s added", after)
	case new.Schema.Default == nil:
		d.add(ChangeDefault, in, old.Schema.Default, nil, "default %s removed", before)
	default:
		d.add(ChangeDefault, in, old.Schema.Default, new.Schema.Default, "default changed from %s to %s", before, after)
	}
}

// jsonText returns a value as it appears in the manifest, where 20 and json.Number("20") are the same.
func jsonText(value any) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value) // Validate rejects it
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// options compares the options of a dropdown by value.
func (d *differ) options(at subject, old, new signpost.Param) {
	reported := len(d.changes)
	value := func(o *signpost.Option) string { return o.Value }
	was, is := choices(old), choices(new)
	pairs, moved := pairUp(was, is, value)
	for _, p := range pairs {
		switch {
		case p.new == nil:
			d.add(ChangeOptionRemoved, at.sub("option", p.old.Value), *p.old, nil, "option %q removed", p.old.Value)
		case p.old == nil:
			d.add(ChangeOptionAdded, at.sub("option", p.new.Value), nil, *p.new, "option %q added", p.new.Value)
		default:
			in := at.sub("option", p.old.Value)
			in.prefix += fmt.Sprintf("option %q: ", p.old.Value)
			d.text(ChangeModifier, in, "label", p.old.Label, p.new.Label)
			d.extra(in, p.old.Extra, p.new.Extra)
		}
	}
	if moved {
		d.add(ChangeModifier, at.sub("options"), keysOf(was, value), keysOf(is, value), "options are in another order")
	}
	// The enum mirrors the options; report it only if it changed on its own.
	same := slices.Equal(old.Schema.Enum, new.Schema.Enum) && len(old.UI.Options) == len(new.UI.Options)
	if len(d.changes) == reported && !same {
		d.add(ChangeModifier, at.sub("enum"), slices.Clone(old.Schema.Enum), slices.Clone(new.Schema.Enum),
			"schema.enum changed from [%s] to [%s]", spell.Quoted(old.Schema.Enum), spell.Quoted(new.Schema.Enum))
	}
}

// choices returns the options, or unlabelled ones made from the enum if there are none.
func choices(p signpost.Param) []signpost.Option {
	if len(p.UI.Options) > 0 {
		return p.UI.Options
	}
	options := make([]signpost.Option, len(p.Schema.Enum))
	for i, value := range p.Schema.Enum {
		options[i].Value = value
	}
	return options
}
