package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
	"signpost/internal/tree"
)

// decoder turns the tree into the values of a [File]. It reports fields that do not belong and values of
// the wrong type; what the values say is for lint to judge. A value that it cannot use is left at zero,
// never skipped, so that the n-th item of a list stays the n-th.
type decoder struct {
	*parser
	file        *File
	served      bool // it is a manifest: nothing is shared or short in it
	modifiers   []*sharedModifier
	shared      map[string]*sharedModifier // the same by name
	sharedNames []string
	features    []declaredFeature
	enable      []*tree.Node

	allowances []*allowance
	allowed    map[allowKey][]*allowance

	suggestions int // how many names were compared to find the nearest
}

type sharedModifier struct {
	tree.Field
	modifier signpost.Modifier
	findings []signpost.Finding // about the modifier alone
	used     bool
}

type declaredFeature struct {
	tree.Field
	feature signpost.Feature
}

// reader says how one field of an object is read.
type reader struct {
	name string
	read func(*tree.Node)
}

// object reads the fields of an object, whose name in messages is what.
func (d *decoder) object(n *tree.Node, what string, readers ...reader) bool {
	if !d.is(n, what, tree.Object) {
		return false
	}
	for _, f := range n.Fields {
		i := slices.IndexFunc(readers, func(r reader) bool { return r.name == f.Key.Text })
		if i < 0 {
			names := make([]string, len(readers))
			for i, r := range readers {
				names[i] = r.name
			}
			d.unknown(ruleUnknownField, f.Key, names, fmt.Sprintf("unknown field %q in %s", f.Key.Text, what))
			continue
		}
		readers[i].read(f.Value)
	}
	return true
}

// unknown reports a name that is not one of the known ones, with the nearest of them.
func (d *decoder) unknown(rule string, at *tree.Node, known []string, message string) {
	hint := ""
	if near := d.nearest(at.Text, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if len(known) > maxListed {
		hint = fmt.Sprintf("known: %s and %d more", strings.Join(known[:maxListed], ", "), len(known)-maxListed)
	} else if len(known) > 0 {
		hint = "known: " + strings.Join(known, ", ")
	}
	d.broken[at] = true
	d.add(rule, hint, at, "%s", message)
}

// maxListed is how many known names a hint lists. An object has no more fields than that, and more shared
// modifiers or features would hide the rest of the finding.
const maxListed = 12

// maxComparisons bounds how many names of a file are compared to find the nearest to misspelt ones, so that
// thousands of misspelt names and thousands of known ones do not take the product of both.
const maxComparisons = 100_000

// nearest returns the known name that is most like the given one, or "".
func (d *decoder) nearest(name string, known []string) string {
	if d.suggestions += len(known); d.suggestions > maxComparisons {
		return ""
	}
	return spell.Nearest(name, known)
}

// is reports whether the value is of a kind, and reports a finding if it is not.
func (d *decoder) is(n *tree.Node, what string, want tree.Kind) bool {
	if n.Kind == want {
		return !d.broken[n]
	}
	if d.broken[n] {
		return false
	}
	d.broken[n] = true
	hint := ""
	switch {
	case want == tree.String && (n.Kind == tree.Number || n.Kind == tree.Bool):
		hint = fmt.Sprintf("put it in quotes: %q", n.Text)
	case want == tree.Bool && n.Kind == tree.String:
		hint = "write true or false, without quotes"
	case want == tree.Number && n.Kind == tree.String:
		hint = "write the number without quotes"
	case n.Kind == tree.Null:
		hint = "give it a value, or leave the field out"
	}
	d.add(signpost.RuleWrongType, hint, n, "%s must be %s, not %s", what, want, n.Kind)
	return false
}

func (d *decoder) list(n *tree.Node, what string) []*tree.Node {
	if !d.is(n, what, tree.List) {
		return nil
	}
	return n.Items
}

// text returns a reader of a text field. Empty text is no text: it counts as a field that is missing.
func (d *decoder) text(name string, to *string) reader {
	return reader{name, func(n *tree.Node) {
		d.is(n, name, tree.String)
		*to = n.Text // of 20, where "20" was meant, too: the other checks can go on
	}}
}

func (d *decoder) truth(name string, to *bool) reader {
	return reader{name, func(n *tree.Node) {
		if d.is(n, name, tree.Bool) {
			*to = n.Text == "true"
		}
	}}
}

// scalar returns a reader of a default value: text, number or truth value.
func (d *decoder) scalar(name string, to *any) reader {
	return reader{name, func(n *tree.Node) {
		switch {
		case d.broken[n]:
		case n.Kind == tree.String:
			*to = n.Text
		case n.Kind == tree.Number:
			*to = json.Number(n.Text)
		case n.Kind == tree.Bool:
			*to = n.Text == "true"
		default:
			d.broken[n] = true
			hint := ""
			if n.Kind == tree.Null {
				hint = "give it a value, or leave the field out"
			}
			d.add(signpost.RuleWrongType, hint, n, "%s must be text, a number, true or false, not %s", name, n.Kind)
		}
	}}
}

func (d *decoder) definition(root *tree.Node) {
	f := d.file
	if root.Kind == tree.Object {
		f.basePathAt = d.doc.NodeAt(root.Start(), root.Start()) // without all that is below it
	}
	var modifiers, features, versions *tree.Node
	ok := d.object(root, "the definition",
		reader{"$schema", func(n *tree.Node) { d.is(n, "$schema", tree.String) }}, // for editors
		d.text("service", &f.Service),
		d.allowField(nil),
		reader{"base_path", d.basePath},
		reader{"enable", func(n *tree.Node) {
			for _, item := range d.list(n, "enable") {
				if d.is(item, "a feature to enable", tree.String) {
					d.enable = append(d.enable, item)
				}
			}
		}},
		reader{"features", func(n *tree.Node) { features = n }},
		reader{"modifiers", func(n *tree.Node) { modifiers = n }},
		reader{"versions", func(n *tree.Node) { versions = n }},
	)
	if !ok {
		return
	}
	// Modifiers come first, wherever they stand: endpoints refer to them.
	if modifiers != nil && d.is(modifiers, "modifiers", tree.Object) {
		d.shared = make(map[string]*sharedModifier, len(modifiers.Fields))
		for _, field := range modifiers.Fields {
			m := &sharedModifier{Field: field, modifier: d.modifier(field.Value)}
			d.modifiers = append(d.modifiers, m)
			d.shared[field.Key.Text] = m
			d.sharedNames = append(d.sharedNames, field.Key.Text)
		}
	}
	d.readFeatures(features)
	if versions == nil || versions.Kind == tree.Object && len(versions.Fields) == 0 {
		hint := "versions: {v1: {endpoints: {…}}}"
		if key, _ := root.Field("endpoints"); key != nil {
			hint = "put endpoints under versions: and v1:"
		}
		d.add(signpost.RuleRequiredField, hint, root, "the definition has no versions")
		return
	}
	d.readVersions(versions)
}

func (d *decoder) basePath(n *tree.Node) {
	d.file.basePathAt = n
	if !d.is(n, "base_path", tree.String) {
		return
	}
	path, err := routes.CleanBasePath(n.Text)
	if err != nil {
		d.add(ruleBasePath, "such as / or /feeds", n, "%v", err)
		return
	}
	d.file.BasePath = path
}

// readFeatures fills in the features of the file: the built-in ones, as overridden, then the declared ones.
func (d *decoder) readFeatures(n *tree.Node) {
	all := []signpost.Feature{signpost.Authentication(), signpost.GeoRestriction()}
	if n != nil && d.is(n, "features", tree.Object) {
		for _, field := range n.Fields {
			i := slices.IndexFunc(all, func(f signpost.Feature) bool { return f.Name == field.Key.Text })
			if i < 0 {
				i = len(all)
				all = append(all, signpost.Feature{Name: field.Key.Text})
			}
			// A field that an override leaves out stays as the built-in feature has it: another token key
			// must not be sent to more endpoints because nobody repeated the suffix.
			d.feature(field.Value, &all[i])
			d.features = append(d.features, declaredFeature{field, all[i]})
		}
	}
	d.file.features = all
}

func (d *decoder) feature(n *tree.Node, to *signpost.Feature) {
	d.object(n, "feature",
		d.text("url_suffix", &to.URLSuffix),
		reader{"context_obj", func(n *tree.Node) { to.ContextObj = d.contextItems(n) }},
	)
}

func (d *decoder) readVersions(n *tree.Node) {
	if !d.is(n, "versions", tree.Object) {
		return
	}
	for _, f := range n.Fields {
		if !routes.ValidVersion(f.Key.Text) {
			d.add(ruleUnknownField, "such as v1", f.Key, "%q is not a version: a version is v and a number", f.Key.Text)
			continue
		}
		d.manifest(f, f.Key.Text)
	}
}

// manifest reads the value of a field as the manifest of a version. It has one field, endpoints.
func (d *decoder) manifest(f tree.Field, name string) {
	v := version{name: name, endpoints: make(map[string]tree.Field)}
	what := "version " + name
	if name == "" {
		what = "the manifest"
	}
	ok := d.object(f.Value, what, reader{"endpoints", func(n *tree.Node) {
		if !d.is(n, "endpoints", tree.Object) {
			return
		}
		for _, e := range n.Fields {
			v.endpoints[e.Key.Text] = e
			v.manifest.Endpoints = append(v.manifest.Endpoints, d.endpoint(e))
		}
	}})
	if key, _ := f.Value.Field("endpoints"); ok && key == nil {
		d.add(signpost.RuleRequiredField, "", f.Key, "%s has no endpoints", what)
	}
	d.file.versions = append(d.file.versions, v)
}

func (d *decoder) endpoint(f tree.Field) signpost.Endpoint {
	e := signpost.Endpoint{URL: f.Key.Text}
	readers := []reader{
		d.text("name", &e.Name),
		d.text("method", &e.Method),
		d.text("mime_type", &e.MIMEType),
		reader{"context_obj", func(n *tree.Node) { e.ContextObj = d.contextItems(n) }},
		reader{"modifiers", func(n *tree.Node) {
			for _, item := range d.list(n, "modifiers") {
				e.Modifiers = append(e.Modifiers, d.modifierOrName(item))
			}
		}},
	}
	if !d.served {
		readers = append(readers, d.allowField(f.Value))
	}
	d.object(f.Value, "endpoint", readers...)
	return e
}

func (d *decoder) contextItems(n *tree.Node) []signpost.ContextItem {
	var items []signpost.ContextItem
	for _, item := range d.list(n, "context_obj") {
		var c signpost.ContextItem
		d.object(item, "context item",
			d.text("key", &c.Key),
			d.text("type", &c.Type),
			d.truth("required", &c.Required),
			reader{"mapper", func(n *tree.Node) {
				switch {
				case n.Kind == tree.Null: // the spec's way to say that there is none
				case !d.is(n, "mapper", tree.String):
				case n.Text == "":
					d.add(signpost.RuleWrongType, "name the alias, or leave mapper out", n, "mapper is empty")
				default:
					c.Mapper = n.Text
				}
			}},
		)
		items = append(items, c)
	}
	return items
}

// modifierOrName reads an item of an endpoint's modifiers: the name of a shared one, or one of its own.
func (d *decoder) modifierOrName(n *tree.Node) signpost.Modifier {
	if n.Kind != tree.String || d.served {
		return d.modifier(n)
	}
	if shared := d.shared[n.Text]; shared != nil {
		shared.used = true
		return shared.modifier
	}
	names := d.sharedNames
	if shared := d.shared[d.nearest(n.Text, names)]; shared != nil {
		shared.used = true // a misspelt name is not another modifier left unused
	}
	d.unknown(ruleUnknownModifier, n, names, fmt.Sprintf("there is no shared modifier %q", n.Text))
	return signpost.Modifier{}
}

// modifier reads a modifier, in the short form that has a kind or in the manifest's own that has params.
func (d *decoder) modifier(n *tree.Node) signpost.Modifier {
	if !d.is(n, "modifier", tree.Object) {
		return signpost.Modifier{}
	}
	if key, _ := n.Field("params"); key != nil || d.served {
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
		reader{"options", func(n *tree.Node) { in.Options = d.options(n) }},
	)
	_, kindAt := n.Field("kind")
	if optionsKey, _ := n.Field("options"); optionsKey != nil && kind != "" && kind != signpost.KindSelect {
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
	d.broken[n] = true
	kinds := []string{signpost.KindText, signpost.KindNumber, signpost.KindBoolean, signpost.KindSelect}
	switch {
	case kindAt == nil:
		d.add(signpost.RuleRequiredField, "text, number, boolean or select; or params, for the manifest's own form", n, "modifier has no kind")
	case kindAt.Kind == tree.String:
		d.unknown(signpost.RuleWrongType, kindAt, kinds, fmt.Sprintf("there is no kind %q", kind))
	}
	return signpost.Modifier{}
}

func (d *decoder) fullModifier(n *tree.Node) signpost.Modifier {
	var m signpost.Modifier
	d.object(n, "modifier with params",
		d.text("id", &m.ID),
		d.text("name", &m.Name),
		reader{"params", func(n *tree.Node) {
			for _, item := range d.list(n, "params") {
				m.Params = append(m.Params, d.param(item))
			}
		}},
	)
	return m
}

func (d *decoder) param(n *tree.Node) signpost.Param {
	var p signpost.Param
	d.object(n, "param",
		d.text("key", &p.Key),
		reader{"ui", func(n *tree.Node) {
			d.object(n, "ui",
				d.text("label", &p.UI.Label),
				d.text("placeholder", &p.UI.Placeholder),
				reader{"options", func(n *tree.Node) { p.UI.Options = d.options(n) }},
			)
		}},
		reader{"schema", func(n *tree.Node) {
			d.object(n, "schema",
				d.text("type", &p.Schema.Type),
				d.scalar("default", &p.Schema.Default),
				reader{"enum", func(n *tree.Node) {
					p.Schema.Enum = []string{}
					for _, item := range d.list(n, "enum") {
						d.is(item, "a value of enum", tree.String)
						p.Schema.Enum = append(p.Schema.Enum, item.Text)
					}
				}},
			)
		}},
	)
	return p
}

// options returns the options of a dropdown, never nil: options that are there but empty are a mistake.
func (d *decoder) options(n *tree.Node) []signpost.Option {
	options := []signpost.Option{}
	for _, item := range d.list(n, "options") {
		var o signpost.Option
		d.object(item, "option", d.text("value", &o.Value), d.text("label", &o.Label))
		options = append(options, o)
	}
	return options
}
