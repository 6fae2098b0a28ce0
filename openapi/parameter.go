package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"signpost"
)

// contextParameter is the query parameter in which clients send context.
const contextParameter = "ctx"

// modifier is a modifier in the short form of a definition.
type modifier struct {
	kind string
	signpost.ModifierInput
}

func (m modifier) build() signpost.Modifier {
	switch m.kind {
	case signpost.KindNumber:
		return signpost.Number(m.ModifierInput)
	case signpost.KindBoolean:
		return signpost.Boolean(m.ModifierInput)
	case signpost.KindSelect:
		return signpost.Select(m.ModifierInput)
	}
	return signpost.Text(m.ModifierInput)
}

// parameter is a parameter of an operation, or of its path.
type parameter struct {
	name, in, headline string
	node               *node
}

// addModifiers turns the query parameters of an operation into modifiers.
func (im *importer) addModifiers(op *operation) {
	for _, p := range im.parameters(op) {
		inPath := strings.Contains(op.url, "{{"+p.name+"}}")
		switch {
		case p.in == "query":
			m, err := im.modifier(op, p)
			if err != nil {
				op.note(p.node, "parameter %q is left out: %v", p.name, err)
				continue
			}
			op.modifiers = append(op.modifiers, m)
		case inPath && (p.in == "path" || p.in == ""):
		case p.in == "path":
			op.note(p.node, "parameter %q is left out: it is not in the path", p.name)
		default:
			op.note(p.node, "parameter %q is left out: it is in %q, and modifiers are query parameters", p.name, p.in)
		}
	}
}

// parameters returns the parameters of the path, then those of the operation. One of the operation stands
// in the place of one of the path with the same name.
func (im *importer) parameters(op *operation) []parameter {
	var all []parameter
	index := make(map[[2]string]int)
	for _, owner := range []*node{op.item, op.node} {
		inherited := len(all)
		for _, n := range owner.get("parameters").list() {
			im.expanded++
			target, err := im.deref(n)
			p := parameter{name: target.get("name").string(), in: strings.ToLower(target.get("in").string()), node: target}
			if p.name == "" && err == nil {
				err = errors.New("it has no name")
			}
			if err != nil {
				op.note(n, "a parameter is left out: %v", err)
				continue
			}
			p.headline = cmp.Or(headline(n.get("description")), headline(target.get("description")))
			i, known := index[[2]string{p.name, p.in}]
			switch {
			case !known:
				index[[2]string{p.name, p.in}] = len(all)
				all = append(all, p)
			case i < inherited:
				all[i] = p
			default:
				op.note(target, "parameter %q is there twice: the first counts", p.name)
			}
		}
	}
	return all
}

// modifier returns the modifier for a query parameter. The error says why there is none.
func (im *importer) modifier(op *operation, p parameter) (modifier, error) {
	note := func(at *node, format string, args ...any) {
		op.note(at, "parameter %q: %s", p.name, fmt.Sprintf(format, args...))
	}
	schema := p.node.get("schema")
	switch {
	case p.name == contextParameter:
		return modifier{}, errors.New("it carries context; declare the keys that clients send in context_obj")
	case p.node.get("deprecated").isTrue() && !im.opts.Deprecated:
		return modifier{}, errors.New("deprecated parameters are imported on request only")
	case p.node.get("style").string() == "deepObject":
		return modifier{}, errors.New("a modifier has one value, and deepObject has several")
	case schema == nil && p.node.get("content") != nil:
		return modifier{}, errors.New("a modifier has a plain value, and this has a content type")
	case schema == nil && p.node.get("type") != nil:
		note(p.node, "its type is not in a schema, but is taken all the same")
		schema = p.node
	}
	misspelt(note, p.node, "parameter")
	if schema != p.node {
		misspelt(note, schema, "schema")
	}
	var s shape
	if err := im.read(schema, &s); err != nil {
		return modifier{}, err
	}
	im.expanded += len(s.values)
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, isPlain) {
		return modifier{}, fmt.Errorf("a modifier has one value, and this is an %s", s.types[0])
	}
	if p.node.get("required").isTrue() {
		note(p.node, "it is required, but editors may leave a modifier empty")
	}
	label := cmp.Or(humanise(p.name), p.name)
	m := modifier{kind: s.kind(), ModifierInput: signpost.ModifierInput{
		ID: p.name, Key: p.name, Label: label, Name: cmp.Or(p.headline, s.headline, label),
	}}
	switch {
	case m.kind == signpost.KindSelect:
		m.Options = s.options(func(format string, args ...any) { note(p.node, format, args...) })
	case m.kind == signpost.KindText && !slices.Equal(s.types, []string{"string"}):
		note(p.node, "it is taken as text: its type is %s", cmp.Or(strings.Join(s.types, " or "), "not declared"))
	}
	if m.DefaultValue = m.convert(s.dflt); m.DefaultValue == nil && s.dflt != nil && !s.dflt.is(null) {
		reason := "it is not a " + m.kind
		if m.kind == signpost.KindSelect {
			reason = "it is not one of the values"
		}
		note(p.node, "the default %q is left out: %s", cmp.Or(s.dflt.string(), string(s.dflt.kind)), reason)
	}
	if m.kind == signpost.KindText || m.kind == signpost.KindNumber {
		m.Placeholder = cmp.Or(p.node.get("example"), s.example).string()
	}
	if findings := m.build().Validate(); len(findings) > 0 {
		return modifier{}, errors.New(findings[0].Message)
	}
	return m, nil
}

// isPlain reports whether values of the type fit into a modifier.
func isPlain(t string) bool { return t != "array" && t != "object" }

// jsonNumber is the form of a number in a manifest.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// convert returns a value of the document as a default of the modifier, or nil if it does not fit.
func (m modifier) convert(n *node) any {
	if !n.isScalar() {
		return nil
	}
	switch m.kind {
	case signpost.KindNumber:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsInf(f, 0) && jsonNumber.MatchString(n.text) {
			return json.Number(n.text)
		}
	case signpost.KindBoolean:
		if lower := strings.ToLower(n.text); lower == "true" || lower == "false" {
			return lower == "true"
		}
	case signpost.KindText:
		return n.text
	case signpost.KindSelect:
		if slices.ContainsFunc(m.Options, func(o signpost.Option) bool { return o.Value == n.text }) {
			return n.text
		}
	}
	return nil
}

// shape is what a schema says about the values of a parameter. Whether a value can be null does not matter:
// an editor who sets nothing sends nothing.
type shape struct {
	types         []string // without null
	values        []choice // of enum and const
	dflt, example *node
	headline      string
	schemas       int // that were read
}

type choice struct {
	value *node
	title string // of a const
}

// maxSchemas bounds the schemas that one parameter leads to. Real ones have fewer than ten.
const maxSchemas = 1000

// read adds what a schema says, and what the schemas inside it say. What stands further out wins.
func (im *importer) read(n *node, s *shape) error {
	if s.schemas++; s.schemas > maxSchemas {
		return errors.New("its schema leads back to itself")
	}
	s.dflt = cmp.Or(s.dflt, n.get("default"))
	s.example = cmp.Or(s.example, n.get("example"))
	if examples := n.get("examples").list(); s.example == nil && len(examples) > 0 {
		s.example = examples[0]
	}
	s.headline = cmp.Or(s.headline, headline(n.get("description")))
	var types []string
	for _, t := range n.get("type").list() {
		types = append(types, t.string())
	}
	if len(types) == 0 && n.get("items") != nil {
		types = []string{"array"}
	}
	if len(types) == 0 && n.get("properties") != nil {
		types = []string{"object"}
	}
	for _, t := range types {
		if t != "" && t != "null" && !slices.Contains(s.types, t) {
			s.types = append(s.types, t)
		}
	}
	if len(s.values) == 0 {
		for _, v := range n.get("enum").list() {
			s.values = append(s.values, choice{value: v})
		}
		for _, v := range n.get("const").list() {
			s.values = append(s.values, choice{v, n.get("title").string()})
		}
		s.values = slices.DeleteFunc(s.values, func(c choice) bool { return c.value.is(null) })
	}
	inner := n.get("allOf").list()
	if target, err := im.target(n); err != nil {
		return err
	} else if target != nil {
		inner = append(slices.Clone(inner), target)
	}
	for _, schema := range inner {
		if err := im.read(schema, s); err != nil {
			return err
		}
	}
	return im.readAlternatives(slices.Concat(n.get("anyOf").list(), n.get("oneOf").list()), s)
}

// readAlternatives adds what schemas say of which any one applies. They are a choice of values if each is.
func (im *importer) readAlternatives(alternatives []*node, s *shape) error {
	var values []choice
	anyValue := false
	for _, n := range alternatives {
		if t := n.get("type"); t.is(null) || t.string() == "null" {
			continue
		}
		one := *s
		one.values = nil
		if err := im.read(n, &one); err != nil {
			return err
		}
		values = append(values, one.values...)
		anyValue = anyValue || len(one.values) == 0
		one.values = s.values
		*s = one
	}
	if len(s.values) == 0 && !anyValue {
		s.values = values
	}
	return nil
}

// kind returns the kind of modifier that takes the values.
func (s shape) kind() string {
	only := func(names ...string) bool {
		return len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return !slices.Contains(names, t) })
	}
	switch {
	case len(s.values) > 0 && !slices.ContainsFunc(s.values, func(c choice) bool { return !c.value.is(truth) }):
		return signpost.KindBoolean
	case len(s.values) > 0:
		return signpost.KindSelect
	case only("boolean", "bool"):
		return signpost.KindBoolean
	case only("integer", "number", "int", "float"):
		return signpost.KindNumber
	}
	return signpost.KindText
}

// lowerWords are values that read better as words; a code such as en-GB or HD is best left alone.
var lowerWords = regexp.MustCompile(`^[a-z]{3,}(_[a-z]+)*$`)

// options returns the options of a dropdown. Their values are text, whatever they are in the schema.
func (s shape) options(warn func(string, ...any)) []signpost.Option {
	var options []signpost.Option
	seen, numbers := make(map[string]bool), false
	for _, c := range s.values {
		value := c.value.text
		if value == "" || seen[value] {
			warn("value %q is left out: a dropdown has each value once, and no empty one", value)
			continue
		}
		label := oneLine(value)
		if lowerWords.MatchString(value) {
			label = humanise(value)
		}
		seen[value], numbers = true, numbers || c.value.is(number)
		options = append(options, signpost.Option{Value: value, Label: cmp.Or(c.title, label, value)})
	}
	if numbers {
		warn("its numbers are text in a dropdown")
	}
	return options
}
