package lsp

import (
	"context"
	"encoding/json"
	"slices"

	"signpost"
)

// codeAction offers the fixes for the findings in a range, and one action that applies all fixes of the file.
func (s *server) codeAction(_ context.Context, view *view, params json.RawMessage) (any, error) {
	var in codeActionParams
	if err := decode(params, &in); err != nil {
		return nil, err
	}
	doc := view.documents[in.TextDocument.URI]
	actions := []codeAction{}
	if doc == nil {
		return actions, nil
	}
	from, to := doc.offset(in.Range.Start), doc.offset(in.Range.End)
	var all []textEdit
	for _, f := range view.findings(doc) {
		if f.Fix == nil {
			continue
		}
		edits := doc.edits(f.Fix)
		if !slices.ContainsFunc(edits, func(e textEdit) bool { return overlaps(e, all) }) {
			all = append(all, edits...)
		}
		sp := doc.findingSpan(f)
		if doc.offset(sp.Start) > to || doc.offset(sp.End) < from || !wants(in.Context.Only, quickFix) {
			continue
		}
		actions = append(actions, codeAction{
			Title: f.Fix.Message, Kind: quickFix, Diagnostics: []diagnostic{doc.diagnostic(f)}, IsPreferred: true,
			Edit: workspaceEdit{map[string][]textEdit{doc.uri: edits}},
		})
	}
	if len(all) > 0 && wants(in.Context.Only, fixAll) {
		actions = append(actions, codeAction{
			Title: "Apply all Signpost fixes", Kind: fixAll,
			Edit: workspaceEdit{map[string][]textEdit{doc.uri: all}},
		})
	}
	return actions, nil
}

// overlaps reports whether an edit touches any of the others. If two fixes touch, the second is offered again after the
// first has been applied.
func overlaps(e textEdit, others []textEdit) bool {
	return slices.ContainsFunc(others, func(o textEdit) bool {
		return e.Range.Start.compare(o.Range.End) <= 0 && o.Range.Start.compare(e.Range.End) <= 0
	})
}

// edits converts a fix to edits of the document.
func (d *document) edits(fix *signpost.Fix) []textEdit {
	edits := []textEdit{}
	t := d.parse()
	for _, e := range fix.Edits {
		from, to := t.Offset(e.Line, e.Column), t.Offset(e.EndLine, e.EndColumn)
		edits = append(edits, textEdit{d.span(from+d.skipped(), to+d.skipped()), e.Text})
	}
	return edits
}
