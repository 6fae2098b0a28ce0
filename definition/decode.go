package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

// decoder turns the tree into the values of a [File]. It reports fields that do not belong and values of
// the wrong type; what the values say is for lint to judge. A value that it cannot use is left at zero,
// never skipped, so that the n-th item of a list stays the n-th.
type decoder struct {
	*parser
	file      *File
	served    bool // it is a manifest: nothing is shared or short in it
	modifiers []sharedModifier
	features  []declaredFeature
	enable    []*node

	allowances []*allowance
}

type sharedModifier struct {
	field
	modifier signpost.Modifier
	used     bool
}

type declaredFeature struct {
	field
	feature signpost.Feature
}

// reader says how one field of an object is read.
type reader struct {
	name string
	read func(*node)
}

// object reads the fields of an object, whose name in messages is what.
func (d *decoder) object(n *node, what string, readers ...reader) bool {
	if !d.is(n, what, kindObject) {
		return false
	}
	for _, f := range n.fields {
		i := slices.IndexFunc(readers, func(r reader) bool { return r.name == f.key.text })
		if i < 0 {
			names := make([]string, len(readers))
			for i, r := range readers {
				names[i] = r.name
			}
			d.unknown(ruleUnknownField, f.key, names, fmt.Sprintf("unknown field %q in %s", f.key.text, what))
			continue
		}
		readers[i].read(f.value)
	}
	return true
}

// unknown reports a name that is not one of the known ones, with the nearest of them.
func (d *decoder) unknown(rule string, at *node, known []string, message string) {
	hint := ""
	if near := spell.Nearest(at.text, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(known) > 0 {
		hint = "known: " + strings.Join(known, ", ")
	}
	at.broken = true
	d.add(rule, hint, at, "%s", message)
}

// is reports whether the value is of a kind, and reports a finding if it is not.
func (d *decoder) is(n *node, what string, want kind) bool {
	if n.kind == want {
		return !n.broken
	}
	if n.broken {
		return false
	}
	n.broken = true
	hint := ""
	switch {
	case want == kindString && (n.kind == kindNumber || n.kind == kindBool):
		hint = fmt.Sprintf("put it in quotes: %q", n.text)
	case want == kindBool && n.kind == kindString:
		hint = "write true or false, without quotes"
	case want == kindNumber && n.kind == kindString:
		hint = "write the number without quotes"
	case n.kind == kindNull:
		hint = "give it a value, or leave the field out"
	}
	d.add(signpost.RuleWrongType, hint, n, "%s must be %s, not %s", what, want, n.kind)
	return false
}

func (d *decoder) list(n *node, what string) []*node {
	if !d.is(n, what, kindArray) {
		return nil
	}
	return n.items
}

// text returns a reader of a text field. Empty text is no text: it counts as a field that is missing.
func (d *decoder) text(name string, to *string) reader {
	return reader{name, func(n *node) {
		d.is(n, name, kindString)
		*to = n.text // of 20, where "20" was meant, too: the other checks can go on
	}}
}

func (d *decoder) truth(name string, to *bool) reader {
	return reader{name, func(n *node) {
		if d.is(n, name, kindBool) {
			*to = n.text == "true"
		}
	}}
}

// scalar returns a reader of a default value: text, number or truth value.
func (d *decoder) scalar(name string, to *any) reader {
	return reader{name, func(n *node) {
		switch {
		case n.broken:
		case n.kind == kindString:
			*to = n.text
		case n.kind == kindNumber:
			*to = json.Number(n.text)
		case n.kind == kindBool:
			*to = n.text == "true"
		default:
			n.broken = true
			hint := ""
			if n.kind == kindNull {
				hint = "give it a value, or leave the field out"
			}
			d.add(signpost.RuleWrongType, hint, n, "%s must be text, a number, true or false, not %s", name, n.kind)
		}
	}}
}

func (d *decoder) definition(root *node) {
	f := d.file
	if root.kind == kindObject {
		f.basePathAt = &node{line: root.line, column: root.column} // without all that is below it
	}
	var modifiers, features, versions *node
	ok := d.object(root, "the definition",
		reader{"$schema", func(n *node) { d.is(n, "$schema", kindString) }}, // for editors
		d.text("service", &f.Service),
		d.allowField(nil),
		reader{"base_path", d.basePath},
		reader{"enable", func(n *node) {
			for _, item := range d.list(n, "enable") {
				if d.is(item, "a feature to enable", kindString) {
					d.enable = append(d.enable, item)
				}
			}
		}},
		reader{"features", func(n *node) { features = n }},
		reader{"modifiers", func(n *node) { modifiers = n }},
		reader{"versions", func(n *node) { versions = n }},
	)
	if !ok {
		return
	}
	// Modifiers come first, wherever they stand: endpoints refer to them.
	if modifiers != nil && d.is(modifiers, "modifiers", kindObject) {
		for _, field := range modifiers.fields {
			d.modifiers = append(d.modifiers, sharedModifier{field: field, modifier: d.modifier(field.value)})
		}
	}
	d.readFeatures(features)
	if versions == nil || versions.kind == kindObject && len(versions.fields) == 0 {
		hint := "versions: {v1: {endpoints: {…}}}"
		if key, _ := root.field("endpoints"); key != nil {
			hint = "put endpoints under versions: and v1:"
		}
		d.add(signpost.RuleRequiredField, hint, root, "the definition has no versions")
		return
	}
	d.readVersions(versions)
}

func (d *decoder) basePath(n *node) {
	d.file.basePathAt = n
	if !d.is(n, "base_path", kindString) {
		return
	}
	path, err := routes.CleanBasePath(n.text)
	if err != nil {
		d.add(ruleBasePath, "such as / or /feeds", n, "%v", err)
		return
	}
	d.file.BasePath = path
}

// readFeatures fills in the features of the file: the built-in ones, as overridden, then the declared ones.
func (d *decoder) readFeatures(n *node) {
	all := []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()}
	if n != nil && d.is(n, "features", kindObject) {
		for _, field := range n.fields {
			i := slices.IndexFunc(all, func(f signpost.Feature) bool { return f.Name == field.key.text })
			if i < 0 {
				i = len(all)
				all = append(all, signpost.Feature{Name: field.key.text})
			}
			// A field that an override leaves out stays as the built-in feature has it: another token key
			// must not be sent to more endpoints because nobody repeated the suffix.
			d.feature(field.value, &all[i])
			d.features = append(d.features, declaredFeature{field, all[i]})
		}
	}
	d.file.features = all
}

func (d *decoder) feature(n *node, to *signpost.Feature) {
	d.object(n, "feature",
		d.text("url_suffix", &to.URLSuffix),
		reader{"context_obj", func(n *node) { to.ContextObj = d.contextItems(n) }},
	)
}

func (d *decoder) readVersions(n *node) {
	if !d.is(n, "versions", kindObject) {
		return
	}
	for _, f := range n.fields {
		if !routes.ValidVersion(f.key.text) {
			d.add(ruleUnknownField, "such as v1", f.key, "%q is not a version: a version is v and a number", f.key.text)
			continue
		}
		d.manifest(f, f.key.text)
	}
}

// manifest reads the value of a field as the manifest of a version. It has one field, endpoints.
func (d *decoder) manifest(f field, name string) {
	v := version{name: name, endpoints: make(map[string]field)}
	what := "version " + name
	if name == "" {
		what = "the manifest"
	}
	ok := d.object(f.value, what, reader{"endpoints", func(n *node) {
		if !d.is(n, "endpoints", kindObject) {
			return
		}
		for _, e := range n.fields {
			v.endpoints[e.key.text] = e
			v.manifest.Endpoints = append(v.manifest.Endpoints, d.endpoint(e))
		}
	}})
	if key, _ := f.value.field("endpoints"); ok && key == nil {
		d.add(signpost.RuleRequiredField, "", f.key, "%s has no endpoints", what)
	}
	d.file.versions = append(d.file.versions, v)
}

func (d *decoder) endpoint(f field) signpost.Endpoint {
	e := signpost.Endpoint{URL: f.key.text}
	readers := []reader{
		d.text("name", &e.Name),
		d.text("method", &e.Method),
		d.text("mime_type", &e.MIMEType),
		reader{"context_obj", func(n *node) { e.ContextObj = d.contextItems(n) }},
		reader{"modifiers", func(n *node) {
			for _, item := range d.list(n, "modifiers") {
				e.Modifiers = append(e.Modifiers, d.modifierOrName(item))
			}
		}},
	}
	if !d.served {
		readers = append(readers, d.allowField(f.value))
	}
	d.object(f.value, "endpoint", readers...)
	return e
}

func (d *decoder) contextItems(n *node) []signpost.ContextItem {
	var items []signpost.ContextItem
	for _, item := range d.list(n, "context_obj") {
		var c signpost.ContextItem
		d.object(item, "context item",
			d.text("key", &c.Key),
			d.text("type", &c.Type),
			d.truth("required", &c.Required),
			reader{"mapper", func(n *node) {
				switch {
				case n.kind == kindNull: // the spec's way to say that there is none
				case !d.is(n, "mapper", kindString):
				case n.text == "":
					d.add(signpost.RuleWrongType, "name the alias, or leave mapper out", n, "mapper is empty")
				default:
					c.Mapper = n.text
				}
			}},
		)
		items = append(items, c)
	}
	return items
}

// modifierOrName reads an item of an endpoint's modifiers: the name of a shared one, or one of its own.
func (d *decoder) modifierOrName(n *node) signpost.Modifier {
	if n.kind != kindString || d.served {
		return d.modifier(n)
	}
	var names []string
	for i, shared := range d.modifiers {
		if shared.key.text == n.text {
			d.modifiers[i].used = true
			return shared.modifier
		}
		names = append(names, shared.key.text)
	}
	near := spell.Nearest(n.text, names)
	for i := range d.modifiers { // a misspelt name is not another modifier left unused
		d.modifiers[i].used = d.modifiers[i].used || d.modifiers[i].key.text == near
	}
	d.unknown(ruleUnknownModifier, n, names, fmt.Sprintf("there is no shared modifier %q", n.text))
	return signpost.Modifier{}
}

// modifier reads a modifier, in the short form that has a kind or in the manifest's own that has params.
func (d *decoder) modifier(n *node) signpost.Modifier {
	if !d.is(n, "modifier", kindObject) {
		return signpost.Modifier{}
	}
	if key, _ := n.field("params"); key != nil || d.served {
		return d.fullModifier(n)
	}
	var in signpost.ModifierInput
	kind := ""
	d.object(n, "modifier",
		d.text("kind", &kind),
		d.text("id", &in.ID),
		d.text("name", &in.Name),
		d.text("key", &in.Key),
		d.text("label", &in.Label),
		d.scalar("defaultValue", &in.DefaultValue),
		d.text("placeholder", &in.Placeholder),
		reader{"options", func(n *node) { in.Options = d.options(n) }},
	)
	_, kindAt := n.field("kind")
	if optionsKey, _ := n.field("options"); optionsKey != nil && kind != "" && kind != signpost.KindSelect {
		d.add(signpost.RuleSelectOptions, "options belong to kind: select", optionsKey, "a %s modifier has options", kind)
		in.Options = nil
	}
	switch kind {
	case signpost.KindText:
		return signpost.Text(in)
	case signpost.KindNumber:
		return signpost.Number(in)
	case signpost.KindBoolean:
		return signpost.Boolean(in)
	case signpost.KindSelect:
		return signpost.Select(in)
	}
	n.broken = true
	kinds := []string{signpost.KindText, signpost.KindNumber, signpost.KindBoolean, signpost.KindSelect}
	switch {
	case kindAt == nil:
		d.add(signpost.RuleRequiredField, "text, number, boolean or select; or params, for the manifest's own form", n, "modifier has no kind")
	case kindAt.kind == kindString:
		d.unknown(signpost.RuleWrongType, kindAt, kinds, fmt.Sprintf("there is no kind %q", kind))
	}
	return signpost.Modifier{}
}

func (d *decoder) fullModifier(n *node) signpost.Modifier {
	var m signpost.Modifier
	d.object(n, "modifier with params",
		d.text("id", &m.ID),
		d.text("name", &m.Name),
		reader{"params", func(n *node) {
			for _, item := range d.list(n, "params") {
				m.Params = append(m.Params, d.param(item))
			}
		}},
	)
	return m
}

func (d *decoder) param(n *node) signpost.Param {
	var p signpost.Param
	d.object(n, "param",
		d.text("key", &p.Key),
		reader{"ui", func(n *node) {
			d.object(n, "ui",
				d.text("label", &p.UI.Label),
				d.text("placeholder", &p.UI.Placeholder),
				reader{"options", func(n *node) { p.UI.Options = d.options(n) }},
			)
		}},
		reader{"schema", func(n *node) {
			d.object(n, "schema",
				d.text("type", &p.Schema.Type),
				d.scalar("default", &p.Schema.Default),
				reader{"enum", func(n *node) {
					p.Schema.Enum = []string{}
					for _, item := range d.list(n, "enum") {
						d.is(item, "a value of enum", kindString)
						p.Schema.Enum = append(p.Schema.Enum, item.text)
					}
				}},
			)
		}},
	)
	return p
}

// options returns the options of a dropdown, never nil: options that are there but empty are a mistake.
func (d *decoder) options(n *node) []signpost.Option {
	options := []signpost.Option{}
	for _, item := range d.list(n, "options") {
		var o signpost.Option
		d.object(item, "option", d.text("value", &o.Value), d.text("label", &o.Label))
		options = append(options, o)
	}
	return options
}
