package lsp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/fields"
	"signpost/internal/tree"
)

// symbolID identifies a symbol in a definition.
type symbolID struct {
	kind fields.Names
	name string
}

// symbol is a name that a definition declares in one place and uses in others.
type symbol struct {
	symbolID
	decl  *tree.Node   // its key; nil if built in or missing
	value *tree.Node   // what it declares
	uses  []*tree.Node // where it is named
}

// nodes returns the nodes of the name, that of its declaration first.
func (s *symbol) nodes() []*tree.Node {
	if s.decl == nil {
		return s.uses
	}
	return append([]*tree.Node{s.decl}, s.uses...)
}

// kindOf is what messages call the names that can be symbols.
var kindOf = map[fields.Names]string{
	fields.Modifiers: "modifier", fields.Features: "feature", fields.ContextKeys: "context key",
	fields.Extras: "beyond the specification",
}

// symbols returns the names of a definition.
func symbols(root *tree.Node) []*symbol {
	var all []*symbol
	seen := make(map[*tree.Node]bool) // an alias is the node that it names
	byID := make(map[symbolID]*symbol)
	get := func(kind fields.Names, name string) *symbol {
		id := symbolID{kind, name}
		if byID[id] == nil {
			byID[id] = &symbol{symbolID: id}
			all = append(all, byID[id])
		}
		return byID[id]
	}
	use := func(kind fields.Names, n *tree.Node) {
		if n.Kind != tree.String || seen[n] {
			return
		}
		seen[n] = true
		s := get(kind, n.Text)
		s.uses = append(s.uses, n)
	}
	keys := func(owner *tree.Node) {
		for _, item := range owner.Get("context_obj").Items {
			use(fields.ContextKeys, item.Get("key"))
		}
	}
	declare := func(field string, kind fields.Names) {
		for _, f := range root.Get(field).Fields {
			s := get(kind, f.Key.Text)
			s.decl, s.value = f.Key, f.Value
		}
	}
	declare("context_keys", fields.ContextKeys)
	declare("modifiers", fields.Modifiers)
	declare("features", fields.Features)
	for _, feature := range root.Get("features").Fields {
		keys(feature.Value)
	}
	for _, item := range root.Get("enable").Items {
		use(fields.Features, item)
	}
	for _, version := range root.Get("versions").Fields {
		for _, endpoint := range version.Value.Get("endpoints").Fields {
			keys(endpoint.Value)
			for _, item := range endpoint.Value.Get("modifiers").Items {
				use(fields.Modifiers, item)
			}
		}
	}
	return all
}

// symbolAt returns the symbol at a position, and the node of its name there.
func (d *document) symbolAt(at position) (*symbol, *tree.Node) {
	offset := d.offset(at)
	for _, s := range symbols(d.root()) {
		for _, n := range s.nodes() {
			if contains(n, offset) {
				return s, n
			}
		}
	}
	return nil, nil
}

func (s *server) definition(doc *document, in placeParams) (any, error) {
	found, _ := doc.symbolAt(in.Position)
	if found == nil || found.decl == nil {
		return nil, nil
	}
	return location{doc.uri, doc.nodeSpan(found.decl)}, nil
}

func (s *server) references(doc *document, in placeParams) (any, error) {
	found, _ := doc.symbolAt(in.Position)
	places := []location{}
	if found == nil {
		return places, nil
	}
	nodes := found.uses
	if in.Context.IncludeDeclaration {
		nodes = found.nodes()
	}
	for _, n := range nodes {
		places = append(places, location{doc.uri, doc.nodeSpan(n)})
	}
	return places, nil
}

// renameable returns the symbol at a position, or the reason why it cannot be renamed.
func renameable(doc *document, in position) (*symbol, *tree.Node, error) {
	found, at := doc.symbolAt(in)
	switch {
	case doc.root() == nil:
		return nil, nil, fmt.Errorf("the file does not parse: fix the syntax first, so that no place is missed")
	case found == nil || found.kind == fields.ContextKeys:
		return nil, nil, fmt.Errorf("only shared modifiers and features can be renamed")
	case found.decl == nil:
		return nil, nil, fmt.Errorf("%s %q is not declared in this file", kindOf[found.kind], found.name)
	case isBuiltIn(found.symbolID):
		return nil, nil, fmt.Errorf("feature %q is built in and keeps its name", found.name)
	}
	return found, at, nil
}

func isBuiltIn(id symbolID) bool {
	isThis := func(f signpost.Feature) bool { return f.Name == id.name }
	return id.kind == fields.Features && slices.ContainsFunc(signpost.BuiltIn(), isThis)
}

func (s *server) prepareRename(doc *document, in placeParams) (any, error) {
	found, at, err := renameable(doc, in.Position)
	if err != nil {
		return nil, err
	}
	return prepareRename{doc.nodeSpan(at), found.name}, nil
}

func (s *server) rename(doc *document, in placeParams) (any, error) {
	found, _, err := renameable(doc, in.Position)
	if err != nil {
		return nil, err
	}
	if err := checkNewName(doc.root(), found, in.NewName); err != nil {
		return nil, err
	}
	edits := []textEdit{}
	for _, n := range found.nodes() {
		text, ok := n.Write(in.NewName)
		if !ok {
			return nil, fmt.Errorf("%q is written over several lines: rename it by hand", found.name)
		}
		edits = append(edits, textEdit{doc.nodeSpan(n), text})
	}
	return doc.change(edits), nil
}

func checkNewName(root *tree.Node, renamed *symbol, name string) error {
	if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, isControl) {
		return fmt.Errorf("%q is not a valid name: use text without control characters or surrounding white space",
			name)
	}
	id := symbolID{renamed.kind, name}
	for _, other := range symbols(root) {
		if other.symbolID == id && id != renamed.symbolID && other.decl != nil {
			return fmt.Errorf("%s %q already exists", kindOf[id.kind], name)
		}
	}
	if isBuiltIn(id) {
		return fmt.Errorf("feature %q is built in: choose another name", name)
	}
	return nil
}

func isControl(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }
