package definition

import (
	"strings"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// beyond handles a field that is beyond the specification, and reports whether it is one. In a definition, it begins
// with a plus; a manifest may have any.
func (d *decoder) beyond(n *tree.Node, f tree.Field, v *fields.Value, what string) bool {
	if d.served {
		d.add(RuleUnknownField, "", f.Key, "unknown field %q in %s", f.Key.Text, what)
		return v.Plus
	}
	name, marked := strings.CutPrefix(f.Key.Text, signpost.Beyond)
	known := v.Field(name)
	switch {
	case !marked:
		return false
	case v == fields.ShortModifier:
		d.add(RuleUnknownField, "write it in full, with id, name and params", f.Key,
			"field %q in the short form of a modifier", f.Key.Text)
	case v == fields.Definition && name != "":
		d.add(RuleUnknownField, "put it into a version, for the top of its manifest", f.Key,
			"unknown field %q in %s", f.Key.Text, what)
	case name == "" || !v.Plus:
		return false
	case known != nil && !known.Local:
		found := d.add(RuleUnknownField, "write "+name, f.Key,
			"field %q needs no plus: the specification knows it", f.Key.Text)
		if !n.Has(name) {
			found.Fix = d.replacement(f.Key, name)
			n.Rename(f.Key, name)
		}
	}
	return true
}

// extraOf returns the fields of an object that are beyond the specification, as they are served.
func (d *decoder) extraOf(n *tree.Node, v *fields.Value) signpost.Extra {
	var members []string
	for _, f := range n.Fields {
		name, marked := strings.CutPrefix(f.Key.Text, signpost.Beyond)
		if d.served {
			name, marked = f.Key.Text, v.Field(f.Key.Text) == nil
		}
		if !marked || name == "" && !d.served {
			continue
		}
		if known := v.Field(name); known != nil && !known.Local {
			continue
		}
		value, ok := f.Value.JSON(maxManifest)
		if d.grows(len(value), f.Key) || !ok {
			break
		}
		members = append(members, tree.Quote(name)+":"+value)
	}
	return signpost.Extra(strings.Join(members, ","))
}

// plusInManifest reports a value of a manifest that begins with a plus, which only definitions have.
func (d *decoder) plusInManifest(rule, what string, at *tree.Node) {
	if d.served && strings.HasPrefix(at.Text, signpost.Beyond) {
		d.add(rule, "only a definition marks a value with a plus", at, "%s %q begins with a plus", what, at.Text)
	}
}
