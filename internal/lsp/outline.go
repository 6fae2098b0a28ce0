package lsp

import (
	"signpost/internal/tree"
)

// documentSymbol returns the outline of a document: versions with their endpoints, shared modifiers, features. While the
// text does not parse, it is that of the last text that did.
func (s *server) documentSymbol(doc *document, _ placeParams) (any, error) {
	out := []documentSymbol{}
	if doc = doc.parsed(); doc == nil {
		return out, nil
	}
	root := doc.tree().Root
	for _, f := range root.Get("versions").Fields {
		version := doc.symbol(f, symbolNamespace, "")
		for _, e := range f.Value.Get("endpoints").Fields {
			endpoint := doc.symbol(e, symbolInterface, e.Value.Get("name").Text)
			for _, m := range e.Value.Get("modifiers").Items {
				if id := modifierID(m); id != nil {
					endpoint.Children = append(endpoint.Children, doc.symbolOf(id.Text, id, m, symbolField))
				}
			}
			version.Children = append(version.Children, endpoint)
		}
		out = append(out, version)
	}
	for _, group := range []struct {
		field string
		kind  int
	}{{"modifiers", symbolField}, {"features", symbolModule}, {"context_keys", symbolKey}} {
		key, value := root.Field(group.field)
		if key == nil || len(value.Fields) == 0 {
			continue
		}
		parent := doc.symbol(tree.Field{Key: key, Value: value}, symbolNamespace, "")
		for _, f := range value.Fields {
			parent.Children = append(parent.Children, doc.symbol(f, group.kind, f.Value.Get("name").Text))
		}
		out = append(out, parent)
	}
	return out, nil
}

// modifierID returns the node that names an item of an endpoint's modifiers.
func modifierID(n *tree.Node) *tree.Node {
	if n.Kind == tree.String {
		return n
	}
	if _, id := n.Field("id"); id != nil && id.Text != "" {
		return id
	}
	return nil
}

func (d *document) symbol(f tree.Field, kind int, detail string) documentSymbol {
	out := d.symbolOf(f.Key.Text, f.Key, f.Value, kind)
	out.Detail = detail
	if _, deprecated := f.Value.Field("deprecated"); deprecated != nil {
		out.Tags = []int{tagOfDeprecatedSymbol}
	}
	return out
}

// tagOfDeprecatedSymbol differs from the tag of a diagnostic.
const tagOfDeprecatedSymbol = 1

// symbolOf returns a symbol named at one node and extending to the end of another. Its name is never empty, because
// editors reject that.
func (d *document) symbolOf(name string, at, to *tree.Node, kind int) documentSymbol {
	if name == "" {
		name = `""`
	}
	from, end := min(at.Start(), to.Start()), max(at.End(), to.End())
	return documentSymbol{Name: name, Kind: kind, Range: d.span(from, end), SelectionRange: d.nodeSpan(at)}
}
