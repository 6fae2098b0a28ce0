package lsp

import (
	"cmp"

	"signpost/internal/tree"
)

// documentSymbol returns the outline of a document: versions with their endpoints, shared modifiers, features and
// context keys. While the text does not parse, it is that of the last text that did.
func (s *server) documentSymbol(doc *document, _ placeParams) (any, error) {
	out := []documentSymbol{}
	doc = doc.parsed()
	if doc == nil {
		return out, nil
	}
	kinds := map[string]int{"modifiers": symbolField, "features": symbolModule, "context_keys": symbolKey}
	for _, f := range doc.root().Fields {
		if kind := kinds[f.Key.Text]; kind != 0 {
			out = append(out, doc.symbol(f, symbolNamespace, doc.symbols(f.Value, kind)))
		}
		if f.Key.Text == "versions" {
			for _, v := range f.Value.Fields {
				endpoints := doc.symbols(v.Value.Get("endpoints"), symbolInterface)
				out = append(out, doc.symbol(v, symbolNamespace, endpoints))
			}
		}
	}
	return out, nil
}

func (d *document) symbols(n *tree.Node, kind int) []documentSymbol {
	var out []documentSymbol
	for _, f := range n.Fields {
		out = append(out, d.symbol(f, kind, nil))
	}
	return out
}

// symbol returns the symbol of a field. Its name is never empty, because editors reject that.
func (d *document) symbol(f tree.Field, kind int, children []documentSymbol) documentSymbol {
	out := documentSymbol{
		Name: cmp.Or(f.Key.Text, `""`), Detail: f.Value.Get("name").Text, Kind: kind,
		SelectionRange: d.nodeSpan(f.Key), Children: children,
		Range: d.span(min(f.Key.Start(), f.Value.Start()), max(f.Key.End(), f.Value.End())),
	}
	if _, deprecated := f.Value.Field("deprecated"); deprecated != nil {
		out.Tags = []int{tagDeprecated}
	}
	return out
}
