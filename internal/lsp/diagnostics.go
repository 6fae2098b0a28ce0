package lsp

import (
	"strings"

	"signpost"
	"signpost/definition"
)

// diagnostics returns the findings of a document as the protocol has them.
func (w *workspace) diagnostics(doc *document) []diagnostic {
	found := []diagnostic{}
	for _, f := range w.findings(doc) {
		found = append(found, doc.diagnostic(f))
	}
	return found
}

// findings lints a document together with its directory. A file that is not a definition has none: editors open all
// kinds of YAML.
func (w *workspace) findings(doc *document) []signpost.Finding {
	if doc.definition() == nil {
		return nil
	}
	var own []signpost.Finding
	for _, f := range definition.Lint(w.together(doc)...) {
		if f.File == doc.name() {
			own = append(own, f)
		}
	}
	return own
}

func (d *document) diagnostic(f signpost.Finding) diagnostic {
	from, to := d.extent(f)
	out := diagnostic{
		Range: d.span(from, to), Severity: severityWarning, Code: f.Rule, Source: "signpost", Message: f.Message,
	}
	if f.Severity == signpost.SeverityError {
		out.Severity = severityError
	}
	if f.Hint != "" {
		out.Message += "\n" + f.Hint
	}
	if strings.HasPrefix(f.Rule, "unused-") {
		out.Tags = append(out.Tags, tagUnnecessary)
	}
	return out
}

// extent returns the offsets between which a finding is shown.
func (d *document) extent(f signpost.Finding) (from, to int) {
	t := d.tree()
	return t.Offset(f.Line, f.Column), t.Offset(f.Line, f.Column+max(f.Width, 1))
}
