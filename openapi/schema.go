package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"signpost"
)

// shape is what a schema says about the values of a parameter. Whether a value can be null does not matter:
// an editor who sets nothing sends nothing.
type shape struct {
	types           []string // without null
	values          []choice // of enum and const
	dflt, example   *node
	headline, title string
	format          string
	items           *node    // of an array
	warnings        []string // about the schema, for each parameter that has it
}

// choice is a value with its label, if the document has one.
type choice struct {
	value *node
	label string
}

const (
	// maxTypes bounds the types of a schema. There are seven, and some that people invent.
	maxTypes = 10

	// maxWarnings bounds what is said about one schema.
	maxWarnings = 10

	// maxNesting bounds how deep schemas stand in schemas, through references too. Real ones have fewer than
	// ten levels.
	maxNesting = 100

	// maxValues bounds the values of a parameter. Nobody finds anything in a dropdown that has a tenth of them.
	maxValues = 10_000
)

// shapeResult is a shape that was read, is being read, or cannot be read.
type shapeResult struct {
	shape *shape
	err   error
}

// shape returns what a schema says, and what the schemas inside it say. What stands further out wins. Each
// schema is read once, however many others refer to it. The shape is never nil.
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

// merge adds what another schema says as well.
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

// readAlternatives adds what schemas say of which any one applies. They are a choice of values if each is.
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
		inner.values, inner.warnings, inner.headline, inner.title = nil, nil, "", "" // which are about this alternative alone
		choices.merge(&inner)
		switch {
		case len(one.types) > 0 && !slices.ContainsFunc(one.types, isPlain): // the values of arrays are no values here
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

// plainTypes returns the types of which a modifier can have values.
func (s *shape) plainTypes() []string {
	return slices.DeleteFunc(slices.Clone(s.types), func(t string) bool { return !isPlain(t) })
}

// kind returns the kind of modifier that takes the values.
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
