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

// maxParameterName bounds the name of a parameter, in bytes. Real ones have fewer than a hundred.
const maxParameterName = 1000

// modifier is a modifier in the short form of a definition.
type modifier struct {
	kind string
	signpost.ModifierInput
	key string // as YAML, by which two that are alike are found
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
		case im.work > maxWork:
			return
		case p.in == "query":
			m, err := im.modifier(op, p)
			switch {
			case err == nil:
				op.modifiers = append(op.modifiers, m)
			case p.node.get("required").isTrue():
				op.note(p.node, "parameter %q is left out, although it is required: %v", p.name, err)
			default:
				op.note(p.node, "parameter %q is left out: %v", p.name, err)
			}
		case inPath && (p.in == "path" || p.in == ""):
		case p.in == "path":
			op.note(p.node, "parameter %q is left out: it is not in the path", p.name)
		default:
			op.note(p.node, "parameter %q is left out: it is in %q, and only query parameters become modifiers", p.name, p.in)
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

// parameterList returns the items of a list of parameters. The list can be a reference, and so can be a list
// inside it: documents that are put together from parts have both.
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

// modifier returns the modifier for a query parameter. The error says why there is none.
func (im *importer) modifier(op *operation, p parameter) (modifier, error) {
	note := func(at *node, format string, args ...any) {
		op.note(at, "parameter %q: %s", p.name, fmt.Sprintf(format, args...))
	}
	required := p.node.get("required").isTrue()
	schema := p.node.get("schema")
	switch {
	case p.name == contextParameter:
		return modifier{}, errors.New("it carries context: declare the keys that clients send in context_obj")
	case p.node.get("deprecated").isTrue() && !im.opts.Deprecated:
		return modifier{}, errors.New("deprecated parameters are imported only with --deprecated")
	case schema == nil && p.node.get("type") != nil:
		schema = p.node
	}
	s, err := im.shape(schema)
	switch {
	case im.isCredential(p, s):
		return modifier{}, errors.New("it carries a credential, which editors must not set")
	case err != nil:
		return modifier{}, err
	case p.node.get("style").string() == "deepObject":
		return modifier{}, errors.New("a modifier has one value, and deepObject has several")
	case schema == nil && p.node.get("content") != nil:
		return modifier{}, errors.New("a modifier has a plain value, and this has a content type")
	case schema == p.node:
		note(p.node, "its type should be in a schema; using it anyway")
	}
	misspelt(note, p.node, "parameter")
	if schema != p.node {
		misspelt(note, schema, "schema")
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, isPlain) {
		one, several, err := im.oneOfMany(p, s, required)
		if err != nil {
			return modifier{}, err
		}
		s = one
		note(p.node, "%s", several)
	} else if slices.Contains(s.types, "array") {
		note(p.node, "it also takes several values; the control sets one")
	}
	im.work += len(s.values)
	if required {
		note(p.node, "it is required, but editors can leave a modifier empty")
	}
	label := cmp.Or(humanise(p.name), p.name)
	m := modifier{kind: s.kind(), ModifierInput: signpost.ModifierInput{
		ID: p.name, Key: p.name, Label: label, Name: cmp.Or(p.headline, s.headline, label),
	}}
	types := s.plainTypes()
	switch {
	case m.kind == signpost.KindSelect:
		m.Options = s.options(func(format string, args ...any) { note(p.node, format, args...) })
	case m.kind == signpost.KindText && !slices.Equal(types, []string{"string"}):
		note(p.node, "imported as text: its type is %s", cmp.Or(strings.Join(types, " or "), "not declared"))
	}
	for _, warning := range s.warnings {
		note(p.node, "%s", warning)
	}
	if m.DefaultValue = m.convert(s.dflt); m.DefaultValue == nil && s.dflt != nil && !s.dflt.is(null) {
		reason := "it is not a " + m.kind
		switch {
		case s.dflt.is(list):
			reason = "a modifier has one value"
		case m.kind == signpost.KindSelect:
			reason = "it is not one of the values"
		}
		note(p.node, "the default %q is left out: %s", cmp.Or(s.dflt.string(), string(s.dflt.kind)), reason)
	}
	if m.kind == signpost.KindText || m.kind == signpost.KindNumber {
		m.Placeholder = placeholder(cmp.Or(p.node.get("example"), s.example))
	}
	if findings := m.build().Validate(); len(findings) > 0 {
		return modifier{}, errors.New(findings[0].Message)
	}
	m.key = m.yaml("")
	return m, nil
}

// oneOfMany returns the shape of one value of an array, and a note that says so. An optional array whose values
// can be anything is left out, since a control for one value would promise too little.
func (im *importer) oneOfMany(p parameter, array *shape, required bool) (one *shape, note string, err error) {
	if array.types[0] != "array" {
		return nil, "", fmt.Errorf("a modifier has one value, and this is an %s", array.types[0])
	}
	item, err := im.shape(array.items)
	if err != nil {
		return nil, "", err
	}
	s := *item
	s.headline = array.headline // the item's is about a single value
	s.dflt, s.example = cmp.Or(array.dflt, item.dflt), cmp.Or(array.example, item.example)
	if !slices.ContainsFunc(array.values, func(c choice) bool { return !c.value.isScalar() }) && len(array.values) > 0 {
		s.values = array.values // an enum that stands beside items, where it belongs inside
	}
	style, explode := p.node.get("style").string(), p.node.get("explode")
	commas := (style == "" || style == "form") && explode != nil && !explode.isTrue()
	switch {
	case len(item.types) > 0 && !slices.ContainsFunc(item.types, isPlain):
		return nil, "", fmt.Errorf("a modifier has one value, and this is an array of type %s", item.types[0])
	case !required && len(s.values) == 0 && !commas:
		return nil, "", errors.New("a modifier has one value, and this is an array")
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

// joined returns a list of plain values as one text with commas, and anything else as it is.
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

// isPlain reports whether values of the type fit into a modifier.
func isPlain(t string) bool { return t != "array" && t != "object" }

// placeholder returns an example as the placeholder of an input. Of a list, its first item serves.
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

// maxPlaceholder is how long an example can be to fit into an input, in bytes.
const maxPlaceholder = 200

// jsonNumber is the form of a number in a manifest.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// convert returns a value of the document as a default of the modifier, or nil if it does not fit.
func (m *modifier) convert(n *node) any {
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
