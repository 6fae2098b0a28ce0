package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"signpost"
)

// shape summarizes what a schema says about the values of a parameter. Whether null is allowed does not matter: if an
// editor sets nothing, nothing is sent.
type shape struct {
	types           []string // without null
	values          []choice // from enum and const
	dflt, example   *node
	headline, title string
	format          string
	items           *node    // of an array
	warnings        []string // repeated for each parameter that uses the schema
}

// choice is a value with its label, if any.
type choice struct {
	value *node
	label string
}

const (
	// maxTypes limits the number of types of a schema. There are seven, plus some that people invent.
	maxTypes = 10

	// maxWarnings limits the number of notes about one schema.
	maxWarnings = 10

	// maxNesting limits the nesting of schemas, including references. Real ones have fewer than ten levels.
	maxNesting = 100

	// maxValues limits the number of values of a parameter. A dropdown with a tenth of them is already unusable.
	maxValues = 10_000
)

// shapeResult is a shape that has been read, is being read, or cannot be read.
type shapeResult struct {
	shape *shape
	err   error
}

// shape reads a schema and the schemas inside it; outer ones win. Each schema is read once, however many others refer
// to it. The result is never nil.
func (im *importer) shape(n *node) (*shape, error) {
	if n == nil {
		return &shape{}, nil
	}
	if r := im.shapes[n]; r != nil {
		return r.shape, r.err
	}
	r := &shapeResult{new(shape), errors.New("its schema leads back to itself")}
	im.shapes[n] = r
	if im.nesting++; im.nesting > maxNesting {
		r.err = fmt.Errorf("its schema is nested more than %d levels deep", maxNesting)
	} else {
		r.shape, r.err = im.readShape(n)
	}
	im.nesting--
	return r.shape, r.err
}

func (im *importer) readShape(n *node) (*shape, error) {
	s := &shape{
		dflt:     n.get("default"),
		example:  n.get("example"),
		headline: im.headline(n.get("description"), maxHeadline),
		title:    im.headline(n.get("title"), maxHeadline),
		format:   n.get("format").string(),
		items:    n.get("items"),
	}
	if examples := n.get("examples").list(); s.example == nil && len(examples) > 0 {
		s.example = examples[0]
	}
	for _, t := range n.get("type").list() {
		s.addType(t.string())
	}
	if len(s.types) == 0 && s.items != nil {
		s.addType("array")
	}
	if len(s.types) == 0 && n.get("properties") != nil {
		s.addType("object")
	}
	im.readValues(n, s)

	inner := im.list(n.get("allOf"))
	target, err := im.target(n)
	if err != nil {
		return s, err
	}
	if target != nil {
		inner = append(slices.Clone(inner), target)
	}
	for _, schema := range inner {
		one, err := im.shape(schema)
		if err != nil {
			return s, err
		}
		s.merge(one)
	}
	return s, im.readAlternatives(slices.Concat(im.list(n.get("anyOf")), im.list(n.get("oneOf"))), s)
}

func (s *shape) addType(t string) {
	if t != "" && t != "null" && len(s.types) < maxTypes && !slices.Contains(s.types, t) {
		s.types = append(s.types, t)
	}
}

// merge adds what another schema says.
func (s *shape) merge(other *shape) {
	for _, t := range other.types {
		s.addType(t)
	}
	if len(s.values) == 0 {
		s.values, s.warnings = other.values, other.warnings
	}
	s.dflt, s.example, s.items = cmp.Or(s.dflt, other.dflt), cmp.Or(s.example, other.example), cmp.Or(s.items, other.items)
	s.headline, s.title, s.format = cmp.Or(s.headline, other.headline), cmp.Or(s.title, other.title), cmp.Or(s.format, other.format)
}

// readAlternatives adds schemas of which any one applies. They are a choice of values if each of them is.
func (im *importer) readAlternatives(alternatives []*node, s *shape) error {
	var all []*shape
	for _, n := range alternatives {
		if t := n.get("type"); t.is(null) || t.string() == "null" {
			continue
		}
		one, err := im.shape(n)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	if len(all) == 1 {
		s.merge(all[0])
		return nil
	}
	choices := &shape{}
	anyValue := false
	for _, one := range all {
		inner := *one
		inner.values, inner.warnings, inner.headline, inner.title = nil, nil, "", "" // these concern only this alternative
		choices.merge(&inner)
		switch {
		case len(one.types) > 0 && !slices.ContainsFunc(one.types, isPlain): // the values of arrays do not count here
		case len(one.values) == 1:
			c := one.values[0]
			c.label = cmp.Or(c.label, one.title, one.headline)
			choices.values = append(choices.values, c)
		default:
			choices.values = append(choices.values, one.values...)
			choices.addWarnings(one.warnings)
			anyValue = anyValue || len(one.values) == 0
		}
		if len(choices.values) > maxValues {
			return fmt.Errorf("it has more than %d values", maxValues)
		}
	}
	if anyValue {
		choices.values, choices.warnings = nil, nil
	}
	s.merge(choices)
	return nil
}

func (s *shape) addWarnings(warnings []string) {
	for _, w := range warnings {
		if !slices.Contains(s.warnings, w) && len(s.warnings) < maxWarnings {
			s.warnings = append(s.warnings, w)
		}
	}
}

// plainTypes returns the types that fit into a modifier.
func (s *shape) plainTypes() []string {
	return slices.DeleteFunc(slices.Clone(s.types), func(t string) bool { return !isPlain(t) })
}

// kind returns the modifier kind for the values.
func (s *shape) kind() string {
	types := s.plainTypes()
	only := func(names ...string) bool {
		return len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(names, t) })
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
