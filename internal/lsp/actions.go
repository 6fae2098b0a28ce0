package lsp

import (
	"slices"
	"strings"

	"signpost"
)

// codeAction offers the fixes for the findings in a range, and one action that applies all fixes of the file.
func (s *server) codeAction(doc *document, in placeParams) (any, error) {
	actions := []codeAction{}
	from, to := doc.offset(in.Range.Start), doc.offset(in.Range.End)
	var all []textEdit
	for _, f := range s.findings(doc) {
		if f.Fix == nil {
			continue
		}
		edits := doc.edits(f.Fix)
		// If a fix touches the one before, it is offered again after that has been applied.
		if len(all) == 0 || doc.offset(edits[0].Range.Start) > doc.offset(all[len(all)-1].Range.End) {
			all = append(all, edits...)
		}
		if start, end := doc.extent(f); start > to || end < from || !wants(in.Context.Only, quickFix) {
			continue
		}
		actions = append(actions, codeAction{
			Title: f.Fix.Message, Kind: quickFix, Diagnostics: []diagnostic{doc.diagnostic(f)}, IsPreferred: true,
			Edit: doc.change(edits),
		})
	}
	if len(all) > 0 && wants(in.Context.Only, fixAll) {
		actions = append(actions, codeAction{Title: "Apply all Signpost fixes", Kind: fixAll, Edit: doc.change(all)})
	}
	return actions, nil
}

func (d *document) edits(fix *signpost.Fix) []textEdit {
	edits := []textEdit{}
	for _, e := range fix.Edits {
		from, to := d.lines.Offset(e.Line, e.Column), d.lines.Offset(e.EndLine, e.EndColumn)
		edits = append(edits, textEdit{d.span(from, to), e.Text})
	}
	return edits
}

func (d *document) change(edits []textEdit) workspaceEdit {
	return workspaceEdit{map[string][]textEdit{d.uri: edits}}
}

// wants reports whether a client that asks for certain kinds of code action accepts this kind. Kinds are hierarchical:
// source includes source.fixAll.
func wants(only []string, kind string) bool {
	includes := func(o string) bool { return kind == o || strings.HasPrefix(kind, o+".") }
	return len(only) == 0 || slices.ContainsFunc(only, includes)
}
