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

// modifier is a modifier in the short form of a definition. Equal values mean the same control.
type modifier struct {
	id   string
	text string // as YAML, with each option on a line of its own
}

// parameter is a parameter of an operation or of its path.
type parameter struct {
	name, in, description string
	node                  *tree.Node
}

// addModifiers converts the query parameters of an operation to modifiers.
func (im *importer) addModifiers(op *operation) {
	for _, p := range im.parameters(op) {
		if (p.in == "path" || p.in == "") && strings.Contains(op.url, "{{"+p.name+"}}") {
			continue
		}
		before := len(op.notes)
		noteAt := func(at *tree.Node, format string, args ...any) {
			op.note(at, "parameter %q: %s", p.name, fmt.Sprintf(format, args...))
		}
		m, err := im.modifier(p, noteAt)
		if err == nil {
			op.modifiers = append(op.modifiers, m)
			im.spent += len(m.text)
			continue
		}
		although := ""
		if p.in == "query" && isTrue(get(p.node, "required")) {
			although = ", although it is required"
		}
		op.notes = op.notes[:before]
		op.note(p.node, "parameter %q is left out%s: %v", p.name, although, err)
	}
}

// parameters returns the parameters of the path, followed by those of the operation. A parameter of the operation
// replaces one of the path with the same name.
func (im *importer) parameters(op *operation) []parameter {
	var all []parameter
	index := make(map[[2]string]int)
	for _, owner := range []*tree.Node{op.item, op.node} {
		inherited := len(all)
		for _, n := range im.parameterList(op, owner) {
			target, err := im.deref(n)
			p := parameter{name: str(get(target, "name")), in: strings.ToLower(str(get(target, "in"))), node: target}
			if err == nil && p.name == "" {
				err = errors.New("it has no name")
			}
			if err != nil {
				op.note(n, "a parameter is left out: %v", err)
				continue
			}
			if written := get(target, "name").Text; written != p.name {
				op.note(target, "parameter %q: its name is written as %q", p.name, short(written))
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

// parameterList returns the parameters of a path or an operation. The list may be a reference, and so may a list inside
// it: documents that are assembled from parts have both.
func (im *importer) parameterList(op *operation, owner *tree.Node) []*tree.Node {
	n := get(owner, "parameters")
	target, err := im.deref(n)
	if err != nil {
		op.note(n, "the parameters are left out: %v", err)
		return nil
	}
	var all []*tree.Node
	for _, item := range im.list(target) {
		if inner := im.follow(item); is(inner, tree.List) && im.spent <= MaxSize {
			all = append(all, im.list(inner)...)
		} else {
			all = append(all, item)
		}
	}
	return all
}

// modifier returns the modifier for a parameter. The error says why there is none.
func (im *importer) modifier(p parameter, noteAt notef) (m modifier, err error) {
	note := func(format string, args ...any) { noteAt(p.node, format, args...) }
	schema := get(p.node, "schema")
	switch {
	case p.in == "path":
		return m, errors.New("it does not occur in the path")
	case p.in != "query":
		return m, fmt.Errorf("it is in %q, and only query parameters become modifiers", p.in)
	case p.name == contextParameter:
		return m, errors.New("it carries context: declare the keys that clients send in context_obj")
	case isTrue(get(p.node, "deprecated")) && !im.opts.Deprecated:
		return m, errors.New("deprecated parameters are imported only with --deprecated")
	case schema == nil && get(p.node, "type") != nil:
		schema = p.node
	}
	s := im.shape(schema)
	findings := signpost.Text(signpost.ModifierInput{ID: p.name, Name: p.name, Key: p.name, Label: p.name}).Validate()
	switch {
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
	case schema == p.node:
		note("its type should be in a schema; using it anyway")
	}
	im.misspelt(noteAt, p.node, "parameter")
	if schema != p.node {
		im.misspelt(noteAt, schema, "schema")
	}
	if s.isCollection() {
		if s, err = im.oneOfMany(p, s, note); err != nil {
			return m, err
		}
	} else if slices.Contains(s.collections, "array") {
		note("it also takes several values; the control sets one")
	}
	if isTrue(get(p.node, "required")) {
		note("it is required, but editors can leave a modifier empty")
	}
	var choices []signpost.Option
	kind := s.kind()
	switch {
	case kind == signpost.KindSelect:
		if choices = options(s.values, note); len(choices) == 0 {
			return m, errors.New("none of its values can be an option")
		}
		if s.ignored != "" {
			note("%s", s.ignored)
		}
	case kind == signpost.KindText && !slices.Equal(s.types, []string{"string"}):
		note("imported as text: its type is %s", cmp.Or(strings.Join(s.types, " or "), "not declared"))
	}
	label := cmp.Or(humanise(p.name), p.name)
	text := fmt.Sprintf("kind: %s, id: %s, name: %s, key: %s, label: %s", kind,
		scalar(p.name), scalar(cmp.Or(p.description, s.description, label)), scalar(p.name), scalar(label))
	if value, err := defaultValue(s.initial, kind, choices); value != "" {
		text += ", defaultValue: " + value
	} else if err != nil {
		note("the default %q is left out: %v", shown(s.initial), err)
	}
	if example := placeholder(cmp.Or(get(p.node, "example"), s.example)); example != "" && (kind == signpost.KindText || kind == signpost.KindNumber) {
		text += ", placeholder: " + scalar(example)
	}
	if len(choices) > 0 {
		var lines []string
		for _, o := range choices {
			lines = append(lines, fmt.Sprintf("\n{value: %s, label: %s}", scalar(o.Value), scalar(o.Label)))
		}
		text += ", options: [" + strings.Join(lines, ",") + "]"
	}
	return modifier{p.name, "{" + text + "}"}, nil
}

// oneOfMany returns the shape of a single array element, and notes that.
func (im *importer) oneOfMany(p parameter, array *shape, note func(format string, args ...any)) (*shape, error) {
	if array.collections[0] != "array" {
		return nil, fmt.Errorf("a modifier has a single value, but this is an %s", array.collections[0])
	}
	s := *im.shape(array.items)
	switch {
	case s.err != nil:
		return nil, s.err
	case s.isCollection():
		return nil, fmt.Errorf("a modifier has a single value, but this is an array of type %s", s.collections[0])
	}
	s.description = array.description // that of the items describes a single value
	s.initial, s.example, s.ignored = cmp.Or(array.initial, s.initial), cmp.Or(array.example, s.example), cmp.Or(array.ignored, s.ignored)
	if len(array.values) > 0 && !slices.ContainsFunc(array.values, func(c choice) bool { return !isScalar(c.value) }) {
		s.values = array.values // an enum next to items instead of inside
	}
	if is(s.initial, tree.List) && len(s.initial.Items) == 0 {
		s.initial = nil
	} else if is(s.initial, tree.List) && len(s.initial.Items) == 1 {
		s.initial = s.initial.Items[0]
	}
	style, explode := str(get(p.node, "style")), get(p.node, "explode")
	if commas := (style == "" || style == "form") && explode != nil && !isTrue(explode); commas && s.kind() == signpost.KindText {
		s.initial = joined(s.initial)
		note("it takes several values, separated by commas")
	} else {
		note("it takes several values; the control sets one")
	}
	return &s, nil
}

// joined returns a list of plain values as comma-separated text, and anything else unchanged.
func joined(n *tree.Node) *tree.Node {
	if !is(n, tree.List) {
		return n
	}
	var texts []string
	for _, item := range n.Items {
		if !isScalar(item) {
			return n
		}
		texts = append(texts, item.Text)
	}
	return &tree.Node{Kind: tree.String, Text: strings.Join(texts, ",")}
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

// defaultValue returns a value of the document as the default of a modifier, in YAML, or "" if there is none. The error
// says why it does not fit.
func defaultValue(n *tree.Node, kind string, choices []signpost.Option) (string, error) {
	if n == nil || n.Kind == tree.Null {
		return "", nil
	}
	lower := strings.ToLower(n.Text)
	_, notNumber := strconv.ParseFloat(n.Text, 64)
	switch {
	case n.Kind == tree.List:
		return "", errors.New("a modifier has one value")
	case kind == signpost.KindText && isScalar(n),
		kind == signpost.KindSelect && slices.ContainsFunc(choices, func(o signpost.Option) bool { return o.Value == n.Text }):
		return scalar(n.Text), nil
	case kind == signpost.KindNumber && notNumber == nil && json.Valid([]byte(n.Text)): // neither 0x10 nor 1e400
		return n.Text, nil
	case kind == signpost.KindBoolean && (lower == "true" || lower == "false"):
		return lower, nil
	case kind == signpost.KindSelect:
		return "", errors.New("it is not one of the values")
	}
	return "", errors.New("it is not a " + kind)
}

// shown returns a value for a message.
func shown(n *tree.Node) string {
	if !isScalar(n) {
		return n.Kind.String()
	}
	return short(str(n))
}
