package draft

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// object collects the fields of an object in braces.
type object []string

// text adds a field with a text, unless it is empty.
func (o *object) text(name, value string) {
	if value != "" {
		o.add(name, tree.Scalar(value))
	}
}

// add adds a field with a value that is YAML already.
func (o *object) add(name, value string) { *o = append(*o, name+": "+value) }

// extra adds the fields beyond the specification.
func (o *object) extra(x signpost.Extra) {
	for name, value := range x.All() {
		*o = append(*o, extraField(name, value, " "))
	}
}

func (o object) String() string { return "{" + strings.Join(o, ", ") + "}" }

// extraField returns a field beyond the specification, with its plus. The indentation is that of [tree.Pair].
func extraField(name string, value json.RawMessage, indent string) string {
	return tree.Pair(tree.Scalar(signpost.Beyond+name), tree.Parse(value, true).Root.Flow(), indent)
}

func contextItem(c signpost.ContextItem) string {
	var o object
	o.text("key", c.Key)
	o.text("type", c.Type)
	if c.Required {
		o.add("required", "true")
	}
	o.text("mapper", c.Mapper)
	o.extra(c.Extra)
	return o.String()
}

// modifier returns a modifier as YAML, with each option on a line of its own.
func modifier(m signpost.Modifier) string {
	var o object
	if kind := shortForm(m); kind != "" {
		p := m.Params[0]
		o.add("kind", kind)
		o.text("id", m.ID)
		o.text("name", m.Name)
		o.text("key", p.Key)
		o.text("label", p.UI.Label)
		o.value("defaultValue", p.Schema.Default)
		o.text("placeholder", p.UI.Placeholder)
		o.options(p.UI.Options)
		return o.String()
	}
	o.text("id", m.ID)
	o.text("name", m.Name)
	var params []string
	for _, p := range m.Params {
		params = append(params, param(p))
	}
	o.add("params", list(params))
	o.extra(m.Extra)
	return o.String()
}

// shortForm returns the kind whose short form gives the modifier, or "" if there is none.
func shortForm(m signpost.Modifier) string {
	if len(m.Params) != 1 {
		return ""
	}
	p := m.Params[0]
	beyond := func(o signpost.Option) bool { return o.Extra != "" }
	if slices.ContainsFunc(p.UI.Options, beyond) {
		return ""
	}
	in := signpost.ModifierInput{
		ID: m.ID, Name: m.Name, Key: p.Key, Label: p.UI.Label, DefaultValue: p.Schema.Default,
		Placeholder: p.UI.Placeholder, Options: p.UI.Options,
	}
	for _, kind := range signpost.Kinds() {
		isSelect := kind.Name == signpost.KindSelect
		if isSelect == (len(p.UI.Options) > 0) && reflect.DeepEqual(kind.Build(in), m) {
			return kind.Name
		}
	}
	return ""
}

func param(p signpost.Param) string {
	var o, ui, schema object
	ui.text("label", p.UI.Label)
	ui.text("placeholder", p.UI.Placeholder)
	ui.options(p.UI.Options)
	ui.extra(p.UI.Extra)
	schema.text("type", p.Schema.Type)
	schema.value("default", p.Schema.Default)
	if len(p.Schema.Enum) > 0 {
		var values []string
		for _, value := range p.Schema.Enum {
			values = append(values, tree.Scalar(value))
		}
		schema.add("enum", list(values))
	}
	schema.extra(p.Schema.Extra)
	o.text("key", p.Key)
	o.add("ui", ui.String())
	o.add("schema", schema.String())
	o.extra(p.Extra)
	return o.String()
}

// value adds a default, unless there is none.
func (o *object) value(name string, value any) {
	if text, ok := value.(string); ok {
		o.add(name, tree.Scalar(text))
	} else if value != nil {
		o.add(name, fmt.Sprint(value)) // a number in its notation, or a Boolean
	}
}

func (o *object) options(options []signpost.Option) {
	var lines []string
	for _, option := range options {
		var fields object
		fields.text("value", option.Value)
		fields.text("label", option.Label)
		fields.extra(option.Extra)
		lines = append(lines, "\n"+fields.String())
	}
	if len(lines) > 0 {
		o.add("options", "["+strings.Join(lines, ",")+"]")
	}
}

func list(items []string) string { return "[" + strings.Join(items, ", ") + "]" }
