package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

func (d *decoder) endpoint(f tree.Field, version string) signpost.Endpoint {
	e := signpost.Endpoint{URL: f.Key.Text}
	d.current = f.Value
	defer func() { d.current = nil }()
	var deprecated *Deprecation
	var modifiers []modifierDeprecation
	readers := []reader{
		d.text("name", &e.Name),
		d.text("method", &e.Method),
		d.text("mime_type", &e.MIMEType),
		{"context_obj", func(n *tree.Node) { e.ContextObj = d.contextItems(n) }},
		{"modifiers", func(n *tree.Node) {
			for _, item := range d.names(n, "modifiers", d.sharedNames) {
				m, dep := d.modifierOrName(item)
				e.Modifiers = append(e.Modifiers, m)
				if dep != nil {
					modifiers = append(modifiers, modifierDeprecation{m.ID, dep})
				}
			}
		}},
	}
	if !d.served {
		readers = append(readers, d.allowField(f.Value), d.deprecation(func(dep *Deprecation) { deprecated = dep }))
	}
	d.object(f.Value, "endpoint", readers...)
	d.file.deprecate(version, e.URL, deprecated, modifiers)
	return e
}

func (d *decoder) contextItems(n *tree.Node) []signpost.ContextItem {
	if d.oneItemPerField(n, "key", "type", "required", "mapper") {
		return nil
	}
	var items []signpost.ContextItem
	for _, item := range d.list(n, "context_obj") {
		var c signpost.ContextItem
		d.object(item, "context item",
			d.text("key", &c.Key),
			d.text("type", &c.Type),
			d.truth("required", &c.Required),
			reader{"mapper", func(n *tree.Node) {
				switch {
				case n.Kind == tree.Null: // allowed by the spec
				case !d.is(n, "mapper", tree.String):
				case n.Text == "":
					d.add(signpost.RuleWrongType, "name the alias, or remove mapper", n, "mapper is empty")
				default:
					c.Mapper = n.Text
				}
			}},
		)
		if _, at := d.field(item, "key"); at != nil && !d.broken[at] && c.Key != "" {
			d.contextKeys = append(d.contextKeys, keyUse{c.Key, at, d.current})
		}
		items = append(items, c)
	}
	return items
}

// oneItemPerField reports a list in which each field of its first item is an item of its own.
func (d *decoder) oneItemPerField(n *tree.Node, fields ...string) bool {
	if n.Kind != tree.List || len(n.Items) < 2 || d.served || d.broken[n] {
		return false
	}
	for _, item := range n.Items {
		if item.Kind != tree.Object || len(item.Fields) != 1 || !slices.Contains(fields, item.Fields[0].Key.Text) {
			return false
		}
		fields = slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == item.Fields[0].Key.Text })
	}
	d.broken[n] = true
	first, second := n.Items[0].Fields[0].Key, n.Items[1].Fields[0].Key
	d.add(signpost.RuleWrongType, "put the fields of an item together: only the first has a dash", second, "%s is an item of its own, next to %s", second.Text, first.Text)
	return true
}

type sharedModifier struct {
	tree.Field
	modifier   signpost.Modifier
	deprecated *Deprecation
	lean       signpost.Modifier // the parts relevant to an endpoint: without options and defaults
	size       int               // in a manifest, in bytes
	said       map[string]bool   // findings about the modifier itself, by rule and message
	used       bool
}

// The number of bytes that shared modifiers and features add to the manifests of a file is limited: a small file that
// repeats a large modifier thousands of times must not become a manifest too large for memory. A file may add
// freeShared bytes plus sharedPerByte for each of its own bytes. Ten modifiers on each of ten thousand endpoints stay
// below that.
const (
	freeShared    = 8 << 20
	sharedPerByte = 4
)

func (d *decoder) maxShared() int { return freeShared + sharedPerByte*len(d.doc.Text) }

// modifierOrName reads an item of an endpoint's modifiers: the name of a shared one, or an inline one.
func (d *decoder) modifierOrName(n *tree.Node) (signpost.Modifier, *Deprecation) {
	if n.Kind != tree.String || d.served {
		return d.modifier(n)
	}
	shared := d.shared[n.Text]
	switch {
	case shared == nil && d.unreadModifiers:
		d.broken[n] = true
	case shared == nil && d.broken[n]:
	case shared == nil:
		if words := strings.Fields(n.Text); len(words) > 1 && !slices.ContainsFunc(words, func(name string) bool { return d.shared[name] == nil }) {
			for _, name := range words {
				d.shared[name].used = true
			}
			d.broken[n] = true
			d.add(RuleUnknownModifier, "separate the names with commas: "+strings.Join(words, ", "), n, "there is no shared modifier %q", n.Text)
			break
		}
		meant := d.unknown(RuleUnknownModifier, n, d.sharedNames, fmt.Sprintf("there is no shared modifier %q", n.Text))
		if other := d.shared[meant]; other != nil {
			other.used = true
		} else {
			d.incomplete = true
		}
	case d.sharedSize > d.maxShared(): // already reported
		d.broken[n] = true
	default:
		shared.used = true
		if d.sharedSize += shared.size; d.sharedSize > d.maxShared() {
			d.broken[n] = true
			d.add(RuleSyntax, "split the service into several files", n,
				"shared modifiers make the manifests larger by more than %d MiB", d.maxShared()>>20)
			break
		}
		return shared.modifier, shared.deprecated
	}
	return signpost.Modifier{}, nil
}

// lean returns a modifier without the parts that are checked once, at its declaration.
func lean(m signpost.Modifier) signpost.Modifier {
	params := make([]signpost.Param, len(m.Params))
	for i, p := range m.Params {
		params[i] = signpost.Param{Key: p.Key, UI: signpost.UI{Label: p.UI.Label}, Schema: signpost.Schema{Type: p.Schema.Type}}
	}
	m.Params = params
	return m
}

// renderedSize returns how many bytes a value takes in a manifest, or 0 if it cannot be part of one.
func renderedSize(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(text)
}

// kinds lists the modifier kinds of the short form; otherKinds maps other words that people use.
var (
	kinds      = []string{signpost.KindText, signpost.KindNumber, signpost.KindBoolean, signpost.KindSelect}
	otherKinds = map[string]string{
		"string": signpost.KindText, "input": signpost.KindText, "integer": signpost.KindNumber, "int": signpost.KindNumber,
		"float": signpost.KindNumber, "bool": signpost.KindBoolean, "toggle": signpost.KindBoolean, "checkbox": signpost.KindBoolean,
		"switch": signpost.KindBoolean, "dropdown": signpost.KindSelect, "enum": signpost.KindSelect, "list": signpost.KindSelect,
	}
)

// modifier reads a modifier, either in short form, with kind, or in the manifest's form, with params.
func (d *decoder) modifier(n *tree.Node) (signpost.Modifier, *Deprecation) {
	if n.Kind == tree.String && !d.served && !d.broken[n] {
		d.broken[n] = true
		d.add(signpost.RuleWrongType, forms[form{"modifier", tree.Object}], n, "modifier must be an object, not text")
	}
	if !d.is(n, "modifier", tree.Object) {
		return signpost.Modifier{}, nil
	}
	if key, _ := n.Field("params"); key != nil || d.served {
		return d.fullModifier(n)
	}
	var in signpost.ModifierInput
	var deprecated *Deprecation
	kind, unread := "", false
	d.object(n, "modifier",
		d.text("kind", &kind),
		d.text("id", &in.ID),
		d.text("name", &in.Name),
		d.text("key", &in.Key),
		d.text("label", &in.Label),
		d.scalar("defaultValue", &in.DefaultValue),
		d.text("placeholder", &in.Placeholder),
		reader{"options", func(n *tree.Node) { in.Options, unread = d.options(n) }},
		d.deprecation(func(dep *Deprecation) { deprecated = dep }),
	)
	if unread {
		in.DefaultValue = nil // it may be right
	}
	kind = d.kindOf(n, kind)
	if optionsKey, _ := d.field(n, "options"); optionsKey != nil && kind != "" && kind != signpost.KindSelect {
		d.add(signpost.RuleSelectOptions, "options belong to kind: select", optionsKey, "a %s modifier has options", kind)
		in.Options = nil
	}
	switch kind {
	case signpost.KindText:
		return signpost.Text(in), deprecated
	case signpost.KindNumber:
		return signpost.Number(in), deprecated
	case signpost.KindBoolean:
		return signpost.Boolean(in), deprecated
	case signpost.KindSelect:
		return signpost.Select(in), deprecated
	}
	d.broken[n] = true // nothing else can be checked
	return signpost.Modifier{}, nil
}

// kindOf returns the kind of a modifier. It reports a wrong one and returns the kind that was meant, or "".
func (d *decoder) kindOf(n *tree.Node, kind string) string {
	_, at := d.field(n, "kind")
	switch {
	case at == nil:
		d.add(signpost.RuleRequiredField, "text, number, boolean or select; or params, for the manifest's own form", n, "modifier has no kind")
		return ""
	case d.broken[at]:
		return ""
	}
	for _, known := range kinds {
		if kind == known {
			return kind
		}
	}
	message := fmt.Sprintf("there is no kind %q", kind)
	if meant := otherKinds[kind]; meant != "" {
		d.broken[at] = true
		d.report(signpost.Finding{
			Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Message: message,
			Hint: fmt.Sprintf("did you mean %q?", meant), Fix: d.replacement(at, meant),
		}, at)
		return meant
	}
	return d.unknown(signpost.RuleWrongType, at, kinds, message)
}

func (d *decoder) fullModifier(n *tree.Node) (signpost.Modifier, *Deprecation) {
	var m signpost.Modifier
	var deprecated *Deprecation
	readers := []reader{
		d.text("id", &m.ID),
		d.text("name", &m.Name),
		{"params", func(n *tree.Node) {
			for _, item := range d.list(n, "params") {
				m.Params = append(m.Params, d.param(item))
			}
		}},
	}
	if !d.served {
		readers = append(readers, d.deprecation(func(dep *Deprecation) { deprecated = dep }))
	}
	d.object(n, "modifier with params", readers...)
	return m, deprecated
}

func (d *decoder) param(n *tree.Node) signpost.Param {
	var p signpost.Param
	unread := false
	d.object(n, "param",
		d.text("key", &p.Key),
		reader{"ui", func(n *tree.Node) {
			d.object(n, "ui",
				d.text("label", &p.UI.Label),
				d.text("placeholder", &p.UI.Placeholder),
				reader{"options", func(n *tree.Node) { p.UI.Options, unread = d.options(n) }},
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
	if unread { // what depends on the options may be right
		p.Schema.Default, p.Schema.Enum = nil, nil
		for _, o := range p.UI.Options {
			p.Schema.Enum = append(p.Schema.Enum, o.Value)
		}
	}
	return p
}

// options returns the options of a dropdown, and whether some could not be read. The options are never nil, because
// empty options are a mistake.
func (d *decoder) options(n *tree.Node) (options []signpost.Option, unread bool) {
	options = []signpost.Option{}
	if d.oneItemPerField(n, "value", "label") {
		return options, true
	}
	for _, item := range d.list(n, "options") {
		var o signpost.Option
		unread = unread || d.broken[item]
		if item.Kind == tree.String || item.Kind == tree.Number || item.Kind == tree.Bool {
			o = d.bareOption(item)
		} else {
			unread = !d.object(item, "option", d.text("value", &o.Value), d.text("label", &o.Label)) || unread
			if _, value := d.field(item, "value"); value != nil && value.Kind == tree.Null {
				unread = true
			}
		}
		options = append(options, o)
	}
	return options, unread
}

// bareOption reads an option that is only a value. It reports that, and makes up a label.
func (d *decoder) bareOption(n *tree.Node) signpost.Option {
	o := signpost.Option{Value: n.Text, Label: labelFor(n.Text)}
	if !d.broken[n] && !d.served {
		fix := d.optionFix(n, o)
		f := signpost.Finding{
			Rule: signpost.RuleWrongType, Severity: signpost.SeverityError, Fix: fix,
			Message: fmt.Sprintf("option must be an object with value and label, not %s", n.Kind),
		}
		if fix != nil {
			f.Hint = "write " + fix.Edits[0].Text
		}
		d.report(f, n)
	} else if !d.broken[n] {
		d.is(n, "option", tree.Object)
	}
	d.broken[n] = true
	return o
}
