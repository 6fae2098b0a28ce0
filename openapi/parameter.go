package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

const (
	// contextParameter is the query parameter that carries context.
	contextParameter = "ctx"

	// maxPlaceholder is the maximum length of an example that fits into an input, in bytes.
	maxPlaceholder = 200
)

// parameter is a parameter of an operation or of its path.
type parameter struct {
	name, in, description string
	node                  *tree.Node
	notes                 []string
}

func (p *parameter) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// conversion is what a parameter becomes. Operations that refer to the same one share it.
type conversion struct {
	modifier signpost.Modifier
	notes    []string
	err      error // why there is none
}

// shared identifies a parameter. A reference may describe it in its own words.
type shared struct {
	node        *tree.Node
	description string
}

// addModifiers converts the query parameters of an operation to modifiers.
func (im *importer) addModifiers(op *operation) {
	parameters := im.parameters(op)
	op.modifiers = make([]signpost.Modifier, 0, len(parameters))
	for _, p := range parameters {
		if (p.in == "path" || p.in == "") && slices.Contains(op.url.Placeholders(), p.name) {
			continue
		}
		c, known := im.converted[shared{p.node, p.description}]
		if !known {
			c.modifier, c.err = im.modifier(&p)
			c.notes = p.notes
			im.converted[shared{p.node, p.description}] = c
		}
		if c.err != nil {
			op.note(p.node, "parameter %q is left out: %v", p.name, c.err)
			continue
		}
		op.modifiers = append(op.modifiers, c.modifier)
		for _, note := range c.notes {
			op.note(p.node, "parameter %q: %s", p.name, note)
		}
	}
}

// parameters returns the parameters of the path, followed by those of the operation. A parameter of the operation
// replaces one of the path with the same name.
func (im *importer) parameters(op *operation) []parameter {
	var all []parameter
	index := make(map[[2]string]int)
	for _, owner := range []*tree.Node{op.item, op.node} {
		inherited := len(all)
		key, list := owner.Field("parameters")
		list, err := im.deref(list)
		if err != nil {
			op.note(key, "the parameters are left out: %v", err)
			continue
		}
		nodes := im.list(list)
		all = slices.Grow(all, len(nodes))
		for _, n := range nodes {
			target, err := im.deref(n)
			p := parameter{name: str(get(target, "name")), in: strings.ToLower(str(get(target, "in"))), node: target}
			if err == nil && p.name == "" {
				err = errors.New("it has no name")
			}
			if err != nil {
				op.note(n, "a parameter is left out: %v", err)
				continue
			}
			p.description = cmp.Or(sentence(get(n, "description")), sentence(get(target, "description")))
			i, known := index[[2]string{p.name, p.in}]
			switch {
			case !known:
				index[[2]string{p.name, p.in}] = len(all)
				all = append(all, p)
			case i < inherited:
				all[i] = p
			default:
				op.note(target, "parameter %q is duplicated; using the first", p.name)
			}
		}
	}
	return all
}

// modifier returns the modifier for a parameter. The error says why there is none.
func (im *importer) modifier(p *parameter) (m signpost.Modifier, err error) {
	schema := get(p.node, "schema")
	s := im.shape(schema)
	findings := signpost.Text(signpost.ModifierInput{ID: p.name, Name: p.name, Key: p.name, Label: p.name}).Validate()
	switch {
	case p.in != "query":
		return m, fmt.Errorf("it is in %q, and only query parameters become modifiers", p.in)
	case p.name == contextParameter:
		return m, errors.New("it carries context: declare the keys that clients send in context_obj")
	case isTrue(get(p.node, "deprecated")) && !im.opts.Deprecated:
		return m, errors.New("deprecated parameters are imported only with --deprecated")
	case len(findings) > 0:
		return m, errors.New(findings[0].Message)
	case im.isCredential(p, s):
		return m, errors.New("it carries a credential, which editors must not set")
	case s.err != nil:
		return m, s.err
	case str(get(p.node, "style")) == "deepObject":
		return m, errors.New("a modifier has a single value, but deepObject has several")
	case schema == nil && get(p.node, "content") != nil:
		return m, errors.New("a modifier has a plain value, but this has a content type")
	}
	if s.isCollection() {
		s, err = im.oneOfMany(p, s)
		if err != nil {
			return m, err
		}
	} else if slices.Contains(s.collections, "array") {
		p.note("it also takes several values; the control sets one")
	}
	if isTrue(get(p.node, "required")) {
		p.note("it is required, but editors can leave a modifier empty")
	}
	var choices []signpost.Option
	kind := s.kind()
	switch {
	case kind == signpost.KindSelect:
		choices = p.options(s.values)
		if len(choices) == 0 {
			return m, errors.New("none of its values can be an option")
		}
	case kind == signpost.KindText && !slices.Equal(s.types, []string{"string"}):
		p.note("imported as text: its type is %s", cmp.Or(strings.Join(s.types, " or "), "not declared"))
	}
	label := cmp.Or(humanise(p.name), p.name)
	in := signpost.ModifierInput{
		ID: p.name, Name: cmp.Or(p.description, s.description, label), Key: p.name, Label: label, Options: choices,
	}
	in.DefaultValue, err = defaultValue(s.initial, kind, choices)
	if err != nil {
		p.note("the default %q is left out: %v", shown(s.initial), err)
	}
	if kind == signpost.KindText || kind == signpost.KindNumber {
		in.Placeholder = placeholder(cmp.Or(get(p.node, "example"), s.example))
	}
	for _, k := range signpost.Kinds() {
		if k.Name == kind {
			m = k.Build(in)
		}
	}
	return m, nil
}

// oneOfMany returns the shape of a single array element, and notes that.
func (im *importer) oneOfMany(p *parameter, array *shape) (*shape, error) {
	items := im.shape(array.items)
	switch {
	case array.collections[0] != "array":
		return nil, errors.New("a modifier has a single value, but this is an object")
	case items.isCollection():
		return nil, fmt.Errorf("a modifier has a single value, but this is an array of type %s", items.collections[0])
	}
	one := *array
	one.collections = nil
	isPlural := func(c choice) bool { return !isScalar(c.value) }
	one.values = slices.DeleteFunc(slices.Clone(array.values), isPlural) // those next to items
	one.merge(items)
	if is(one.initial, tree.List) && len(one.initial.Items) == 0 {
		one.initial = nil
	} else if is(one.initial, tree.List) && len(one.initial.Items) == 1 {
		one.initial = one.initial.Items[0]
	}
	p.note("it takes several values; the control sets one")
	return &one, one.err
}

// placeholder returns an example as the placeholder of an input. For a list, it is the first item.
func placeholder(example *tree.Node) string {
	if is(example, tree.List) && len(example.Items) > 0 {
		example = example.Items[0]
	}
	text := str(example)
	if len(text) > maxPlaceholder {
		return ""
	}
	return text
}

// defaultValue returns a value of the document as the default of a modifier, or nil if there is none. The error says
// why it does not fit.
func defaultValue(n *tree.Node, kind string, choices []signpost.Option) (any, error) {
	if n == nil || n.Kind == tree.Null {
		return nil, nil
	}
	lower := strings.ToLower(n.Text)
	_, notNumber := strconv.ParseFloat(n.Text, 64)
	isThis := func(o signpost.Option) bool { return o.Value == n.Text }
	switch {
	case n.Kind == tree.List:
		return nil, errors.New("a modifier has one value")
	case kind == signpost.KindText && isScalar(n), kind == signpost.KindSelect && slices.ContainsFunc(choices, isThis):
		return n.Text, nil
	case kind == signpost.KindNumber && notNumber == nil && json.Valid([]byte(n.Text)): // neither 0x10 nor 1e400
		return json.Number(n.Text), nil
	case kind == signpost.KindBoolean && (lower == "true" || lower == "false"):
		return lower == "true", nil
	case kind == signpost.KindSelect:
		return nil, errors.New("it is not one of the values")
	}
	return nil, errors.New("it is not a " + kind)
}

// shown returns a value for a message.
func shown(n *tree.Node) string {
	if !isScalar(n) {
		return n.Kind.String()
	}
	return str(n)
}
