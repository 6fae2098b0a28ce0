package lsp

import (
	"strings"

	"signpost"
)

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
	return d.lines.Offset(f.Line, f.Column), d.lines.Offset(f.Line, f.Column+max(f.Width, 1))
}
