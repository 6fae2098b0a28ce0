package lsp

import (
	"context"
	"encoding/json"

	"signpost/internal/tree"
)

// documentSymbol returns the outline of a document: versions with their endpoints, shared modifiers, features.
func (s *server) documentSymbol(_ context.Context, view *view, params json.RawMessage) (any, error) {
	var in documentParams
	if err := decode(params, &in); err != nil {
		return nil, err
	}
	doc := view.documents[in.TextDocument.URI]
	out := []documentSymbol{}
	if doc == nil || doc.root() == nil {
		return out, nil
	}
	root := doc.root()
	for _, f := range field1(root, "versions").Fields {
		version := doc.symbol(f, symbolNamespace, "")
		for _, e := range field1(f.Value, "endpoints").Fields {
			endpoint := doc.symbol(e, symbolInterface, field1(e.Value, "name").Text)
			for _, m := range field1(e.Value, "modifiers").Items {
				if id := modifierID(m); id != nil {
					endpoint.Children = append(endpoint.Children, doc.symbolAt(id.Text, id, m, symbolField))
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
			parent.Children = append(parent.Children, doc.symbol(f, group.kind, field1(f.Value, "name").Text))
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
	out := d.symbolAt(f.Key.Text, f.Key, f.Value, kind)
	out.Detail = detail
	if _, deprecated := f.Value.Field("deprecated"); deprecated != nil {
		out.Tags = []int{tagOfDeprecatedSymbol}
	}
	return out
}

// tagOfDeprecatedSymbol differs from the tag of a diagnostic.
const tagOfDeprecatedSymbol = 1

// symbolAt returns a symbol named at one node and extending to the end of another. Its name is never empty, because
// editors reject that.
func (d *document) symbolAt(name string, at, to *tree.Node, kind int) documentSymbol {
	if name == "" {
		name = `""`
	}
	from, end := min(at.Start(), to.Start()), max(at.End(), to.End())
	return documentSymbol{Name: name, Kind: kind, Range: d.span(from+d.skipped(), end+d.skipped()), SelectionRange: d.nodeSpan(at)}
}
