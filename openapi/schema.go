package openapi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/draft"
	"signpost/internal/tree"
)

// shape summarizes what a schema says about the values of a parameter. Whether null is allowed does not matter: if an
// editor sets nothing, nothing is sent.
type shape struct {
	types              []string // that fit into a modifier
	collections        []string // array and object, which do not
	values             []choice // from enum and const
	initial, example   *tree.Node
	description, title string // names, if they are short enough
	format             string
	items              *tree.Node // of an array
	err                error      // why the schema cannot be used
}

// choice is a value with its label, if any.
type choice struct {
	value *tree.Node
	label string
}

const (
	// maxNesting limits the nesting of schemas, including references. Real ones have fewer than ten levels.
	maxNesting = 100

	// maxValues limits the number of values of a parameter. A dropdown with a tenth of them is already unusable.
	maxValues = 10_000
)

// shape reads a schema and the schemas inside it; outer ones win. Each schema is read once, so one that leads back to
// itself is found.
func (im *importer) shape(n *tree.Node) *shape {
	s := im.shapes[n]
	if s == nil {
		s = &shape{err: fmt.Errorf("its schema leads back to itself, or is nested more than %d levels deep",
			maxNesting)}
		im.shapes[n] = s
		im.nesting++
		if im.nesting <= maxNesting {
			*s = im.readShape(n)
		}
		im.nesting--
	}
	return s
}

func (im *importer) readShape(n *tree.Node) shape {
	s := shape{
		initial:     get(n, "default"),
		example:     get(n, "example"),
		description: sentence(get(n, "description")),
		title:       title(get(n, "title")),
		format:      str(get(n, "format")),
		items:       get(n, "items"),
	}
	if examples := items(get(n, "examples")); s.example == nil && len(examples) > 0 {
		s.example = examples[0]
	}
	for _, t := range items(get(n, "type")) {
		s.addType(str(t))
	}
	switch {
	case len(s.types)+len(s.collections) > 0:
	case s.items != nil:
		s.addType("array")
	case get(n, "properties") != nil:
		s.addType("object")
	}
	s.readValues(n)

	for _, inner := range im.list(get(n, "allOf")) {
		s.merge(im.shape(inner))
	}
	target, err := im.target(n)
	if target != nil {
		s.merge(im.shape(target))
	}
	s.err = cmp.Or(s.err, err)
	im.readAlternatives(slices.Concat(im.list(get(n, "anyOf")), im.list(get(n, "oneOf"))), &s)
	if len(s.values) > maxValues {
		s.err = cmp.Or(s.err, fmt.Errorf("it has more than %d values", maxValues))
	}
	return s
}

func (s *shape) addType(t string) {
	list := &s.types
	if t == "array" || t == "object" {
		list = &s.collections
	}
	if t != "" && t != "null" && !slices.Contains(*list, t) {
		*list = append(*list, t)
	}
}

// merge adds what another schema says.
func (s *shape) merge(other *shape) {
	for _, t := range slices.Concat(other.types, other.collections) {
		s.addType(t)
	}
	if len(s.values) == 0 {
		s.values = other.values
	}
	s.initial = cmp.Or(s.initial, other.initial)
	s.example = cmp.Or(s.example, other.example)
	s.items = cmp.Or(s.items, other.items)
	s.description = cmp.Or(s.description, other.description)
	s.title = cmp.Or(s.title, other.title)
	s.format = cmp.Or(s.format, other.format)
	s.err = cmp.Or(s.err, other.err)
}

// readAlternatives adds schemas of which any one applies. They are a choice of values if each of them is.
func (im *importer) readAlternatives(alternatives []*tree.Node, s *shape) {
	alternatives = slices.DeleteFunc(alternatives, func(n *tree.Node) bool {
		t := get(n, "type")
		return is(t, tree.Null) || str(t) == "null"
	})
	if len(alternatives) == 1 {
		s.merge(im.shape(alternatives[0]))
		return
	}
	choices := &shape{}
	anyValue := false
	for _, n := range alternatives {
		one := im.shape(n)
		inner := *one
		inner.values, inner.description, inner.title = nil, "", "" // these concern only this alternative
		choices.merge(&inner)
		switch {
		case one.isCollection(): // the values of arrays do not count here
		case len(one.values) == 1:
			c := one.values[0]
			c.label = cmp.Or(c.label, one.title, one.description)
			choices.values = append(choices.values, c)
		default:
			choices.values = append(choices.values, one.values...)
			anyValue = anyValue || len(one.values) == 0
		}
		if len(choices.values) > maxValues || choices.err != nil {
			break
		}
	}
	if anyValue {
		choices.values = nil
	}
	s.merge(choices)
}

// isCollection reports whether none of the types fits into a modifier.
func (s *shape) isCollection() bool { return len(s.types) == 0 && len(s.collections) > 0 }

// kinds maps types to modifier kinds; others are text.
var kinds = map[string]string{
	"boolean": signpost.KindBoolean,
	"integer": signpost.KindNumber,
	"number":  signpost.KindNumber,
}

// kind returns the modifier kind for the values.
func (s *shape) kind() string {
	switch {
	case len(s.values) > 0 && !slices.ContainsFunc(s.values, func(c choice) bool { return !is(c.value, tree.Bool) }):
		return signpost.KindBoolean
	case len(s.values) > 0:
		return signpost.KindSelect
	case len(s.types) == 0 || slices.ContainsFunc(s.types, func(t string) bool { return kinds[t] != kinds[s.types[0]] }):
		return signpost.KindText
	}
	return cmp.Or(kinds[s.types[0]], signpost.KindText)
}

// readValues adds the values of enum and const.
func (s *shape) readValues(n *tree.Node) {
	for _, v := range items(get(n, "enum")) {
		if !is(v, tree.Null) {
			s.values = append(s.values, choice{value: v})
		}
	}
	for _, v := range items(get(n, "const")) {
		s.values = append(s.values, choice{v, s.title})
	}
}

// valueWords matches values that read better as words. Codes such as en-GB or HD are left alone.
var valueWords = regexp.MustCompile(`^[a-z]{3,}(_[a-z]+)*$|^[a-z]{2}_[a-z]{3,}(_[a-z]+)*$|^[A-Z]{3,}(_[A-Z]+)+$`)

// options makes options from values, each with a label of its own. Option values are strings, whatever their type in
// the schema.
func (p *parameter) options(values []choice) (list []signpost.Option) {
	seen, labels := make(map[string]bool), make(map[string]int)
	for _, c := range values {
		value := c.value.Text
		if value == "" || seen[value] {
			p.note("value %q is left out: options need distinct, non-empty values", value)
			continue
		}
		label := draft.OneLine(value)
		if valueWords.MatchString(value) {
			label = humanise(value)
		}
		label = cmp.Or(c.label, label, value)
		seen[value] = true
		labels[label]++
		list = append(list, signpost.Option{Value: value, Label: label})
	}
	for i, o := range list {
		if labels[o.Label] > 1 {
			list[i].Label = fmt.Sprintf("%s (%s)", o.Label, strings.Trim(fmt.Sprintf("%q", o.Value), `"`))
		}
	}
	return list
}
