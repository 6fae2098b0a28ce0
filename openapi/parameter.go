package openapi

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"signpost"
)

// contextParameter is the query parameter that carries context.
const contextParameter = "ctx"

// maxParameterName is the maximum length of a parameter name in bytes. Real ones have fewer than a hundred.
const maxParameterName = 1000

// modifier is a modifier in the short form of a definition. Equal values mean the same control.
type modifier struct {
	id      string
	text    string     // as YAML, without the options
	options *optionSet // of a select
}

// control is the result of importing a parameter: a modifier, unless it is left out.
type control struct {
	modifier modifier
	leftOut  bool
	notes    []Note
	work     int // counted against maxWork
}

// parameter is a parameter of an operation or of its path.
type parameter struct {
	name, in, headline string
	node               *node
}

// addModifiers converts the query parameters of an operation to modifiers.
func (im *importer) addModifiers(op *operation) {
	for _, p := range im.parameters(op) {
		if im.work > maxWork {
			return
		}
		if (p.in == "path" || p.in == "") && strings.Contains(op.url, "{{"+p.name+"}}") {
			continue
		}
		c := im.control(p)
		im.work += c.work
		if !c.leftOut {
			op.modifiers = append(op.modifiers, c.modifier)
		}
		for _, n := range c.notes {
			n.Operation = op.label
			op.notes = append(op.notes, n)
		}
	}
}

// parameters returns the parameters of the path, followed by those of the operation. A parameter of the operation
// replaces one of the path with the same name.
func (im *importer) parameters(op *operation) []parameter {
	var all []parameter
	index := make(map[[2]string]int)
	for _, owner := range []*node{op.item, op.node} {
		inherited := len(all)
		for _, n := range im.parameterList(op, owner.get("parameters")) {
			target, err := im.deref(n)
			p := parameter{name: target.get("name").string(), in: strings.ToLower(target.get("in").string()), node: target}
			switch {
			case err != nil:
			case p.name == "":
				err = errors.New("it has no name")
			case len(p.name) > maxParameterName:
				err = fmt.Errorf("its name is longer than %d characters", maxParameterName)
			}
			if err != nil {
				op.note(n, "a parameter is left out: %v", err)
				continue
			}
			p.headline = cmp.Or(im.headline(n.get("description"), maxHeadline), im.headline(target.get("description"), maxHeadline))
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

// parameterList returns the items of a list of parameters. The list may be a reference, and so may a list inside it:
// documents that are assembled from parts have both.
func (im *importer) parameterList(op *operation, n *node) []*node {
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "the parameters are left out: %v", err)
		return nil
	}
	var all []*node
	for _, item := range target.list() {
		im.work++
		if inner, err := im.deref(item); err == nil && inner.is(list) {
			im.work += len(inner.items)
			all = append(all, inner.items...)
		} else {
			all = append(all, item)
		}
	}
	return all
}

// controlKey distinguishes parameters: a reference may have a description of its own.
type controlKey struct {
	node     *node
	headline string
}

// control returns the result for a parameter. It is computed once, however many operations share the parameter.
func (im *importer) control(p parameter) *control {
	key := controlKey{p.node, p.headline}
	if c := im.controls[key]; c != nil {
		return c
	}
	c := new(control)
	im.controls[key] = c
	note := func(at *node, format string, args ...any) {
		c.notes = append(c.notes, newNote(at, "", "parameter %q: %s", p.name, fmt.Sprintf(format, args...)))
	}
	var err error
	if c.modifier, err = im.modifier(note, p); err != nil {
		although := ""
		if p.in == "query" && p.node.get("required").isTrue() {
			although = ", although it is required"
		}
		c.leftOut, c.notes = true, []Note{newNote(p.node, "", "parameter %q is left out%s: %v", p.name, although, err)}
	}
	c.work = 1 + len(c.notes) + len(c.modifier.text)/bytesPerWork
	if c.modifier.options != nil {
		c.work += len(c.modifier.options.list)
	}
	return c
}

// modifier returns the modifier for a parameter. The error says why there is none.
func (im *importer) modifier(note func(*node, string, ...any), p parameter) (m modifier, err error) {
	required := p.node.get("required").isTrue()
	schema := p.node.get("schema")
	switch {
	case p.in == "path":
		return m, errors.New("it does not occur in the path")
	case p.in != "query":
		return m, fmt.Errorf("it is in %q, and only query parameters become modifiers", p.in)
	case p.name == contextParameter:
		return m, errors.New("it carries context: declare the keys that clients send in context_obj")
	case p.node.get("deprecated").isTrue() && !im.opts.Deprecated:
		return m, errors.New("deprecated parameters are imported only with --deprecated")
	case schema == nil && p.node.get("type") != nil:
		schema = p.node
	}
	s, err := im.shape(schema)
	switch {
	case im.isCredential(p, s):
		return m, errors.New("it carries a credential, which editors must not set")
	case err != nil:
		return m, err
	case p.node.get("style").string() == "deepObject":
		return m, errors.New("a modifier has a single value, but deepObject has several")
	case schema == nil && p.node.get("content") != nil:
		return m, errors.New("a modifier has a plain value, but this has a content type")
	case schema == p.node:
		note(p.node, "its type should be in a schema; using it anyway")
	}
	im.misspelt(note, p.node, "parameter")
	if schema != p.node {
		im.misspelt(note, schema, "schema")
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, isPlain) {
		one, several, err := im.oneOfMany(p, s, required)
		if err != nil {
			return m, err
		}
		s = one
		note(p.node, "%s", several)
	} else if slices.Contains(s.types, "array") {
		note(p.node, "it also takes several values; the control sets one")
	}
	if required {
		note(p.node, "it is required, but editors can leave a modifier empty")
	}
	kind, types := s.kind(), s.plainTypes()
	switch {
	case kind == signpost.KindSelect:
		options := im.optionsOf(s)
		m.options = options.set
		for _, warning := range options.warnings {
			note(p.node, "%s", warning)
		}
		if len(options.set.list) == 0 {
			return m, errors.New("none of its values can be an option")
		}
	case kind == signpost.KindText && !slices.Equal(types, []string{"string"}):
		note(p.node, "imported as text: its type is %s", cmp.Or(strings.Join(types, " or "), "not declared"))
	}
	for _, warning := range s.warnings {
		note(p.node, "%s", warning)
	}
	value := convert(s.dflt, kind, m.options)
	if value == "" && s.dflt != nil && !s.dflt.is(null) {
		reason := "it is not a " + kind
		switch {
		case s.dflt.is(list):
			reason = "a modifier has one value"
		case kind == signpost.KindSelect:
			reason = "it is not one of the values"
		}
		note(p.node, "the default %q is left out: %s", cmp.Or(short(s.dflt.string()), string(s.dflt.kind)), reason)
	}
	label := cmp.Or(humanise(p.name), p.name)
	text := fmt.Sprintf("kind: %s, id: %s, name: %s, key: %s, label: %s", kind,
		scalar(p.name), scalar(cmp.Or(p.headline, s.headline, label)), scalar(p.name), scalar(label))
	if value != "" {
		text += ", defaultValue: " + value
	}
	if example := placeholder(cmp.Or(p.node.get("example"), s.example)); example != "" && (kind == signpost.KindText || kind == signpost.KindNumber) {
		text += ", placeholder: " + scalar(example)
	}
	m.id, m.text = p.name, text
	return m, nil
}

// oneOfMany returns the shape of a single array element, and a note about that. Optional arrays of arbitrary values are
// left out, since a control for a single value would be too limited.
func (im *importer) oneOfMany(p parameter, array *shape, required bool) (one *shape, note string, err error) {
	if array.types[0] != "array" {
		return nil, "", fmt.Errorf("a modifier has a single value, but this is an %s", array.types[0])
	}
	item, err := im.shape(array.items)
	if err != nil {
		return nil, "", err
	}
	s := *item
	s.headline = array.headline // the items' headline describes a single value
	s.dflt, s.example = cmp.Or(array.dflt, item.dflt), cmp.Or(array.example, item.example)
	if !slices.ContainsFunc(array.values, func(c choice) bool { return !c.value.isScalar() }) && len(array.values) > 0 {
		s.values = array.values // an enum next to items instead of inside
	}
	style, explode := p.node.get("style").string(), p.node.get("explode")
	commas := (style == "" || style == "form") && explode != nil && !explode.isTrue()
	switch {
	case len(item.types) > 0 && !slices.ContainsFunc(item.types, isPlain):
		return nil, "", fmt.Errorf("a modifier has a single value, but this is an array of type %s", item.types[0])
	case !required && len(s.values) == 0 && !commas:
		return nil, "", errors.New("a modifier has a single value, but this is an array")
	}
	if s.dflt.is(list) && len(s.dflt.items) <= 1 {
		s.dflt = slices.Concat(s.dflt.items, []*node{nil})[0]
	}
	if commas && s.kind() == signpost.KindText {
		s.dflt = joined(s.dflt)
		return &s, "it takes several values, separated by commas", nil
	}
	return &s, "it takes several values; the control sets one", nil
}

// joined returns a list of plain values as comma-separated text, and anything else unchanged.
func joined(n *node) *node {
	if !n.is(list) {
		return n
	}
	var texts []string
	for _, item := range n.items {
		if !item.isScalar() {
			return n
		}
		texts = append(texts, item.text)
	}
	return &node{kind: text, text: strings.Join(texts, ","), line: n.line, file: n.file}
}

// isPlain reports whether values of this type fit into a modifier.
func isPlain(t string) bool { return t != "array" && t != "object" }

// placeholder returns an example as the placeholder of an input. For a list, it is the first item.
func placeholder(example *node) string {
	if example.is(list) && len(example.items) > 0 {
		example = example.items[0]
	}
	text := example.string()
	if len(text) > maxPlaceholder {
		return ""
	}
	return text
}

// maxPlaceholder is the maximum length of an example that fits into an input, in bytes.
const maxPlaceholder = 200

// jsonNumber matches numbers as they are written in a manifest.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// convert returns a value of the document as the default of a modifier, in YAML, or "" if it does not fit.
func convert(n *node, kind string, options *optionSet) string {
	if !n.isScalar() {
		return ""
	}
	switch kind {
	case signpost.KindNumber:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsInf(f, 0) && jsonNumber.MatchString(n.text) {
			return n.text
		}
	case signpost.KindBoolean:
		if lower := strings.ToLower(n.text); lower == "true" || lower == "false" {
			return lower
		}
	case signpost.KindText:
		return scalar(n.text)
	case signpost.KindSelect:
		if options.has[n.text] {
			return scalar(n.text)
		}
	}
	return ""
}
