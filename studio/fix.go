package studio

import (
	"net/http"
	"slices"

	"signpost/definition"
)

// serveFix applies the fix of a finding to the file on disk. The page then updates as if an editor had saved it.
func (s *Studio) serveFix(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Source string `json:"source"`
		Rule   string `json:"rule"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	_, src, ok := s.readSource(w, r, &in, &in.Source)
	if !ok {
		return
	}
	i := slices.IndexFunc(src.Findings, func(f finding) bool {
		return f.Rule == in.Rule && f.Line == in.Line && f.Column == in.Column && f.Fix != nil
	})
	switch {
	case i < 0:
		refuse(w, problem{Status: http.StatusConflict, Detail: "This finding no longer exists.", Hint: "The file has changed."})
		return
	case src.Path == "" || s.opts.WriteFile == nil:
		refuse(w, problem{Status: http.StatusConflict, Detail: "There is no file to write the fix to."})
		return
	}
	text := src.record.now.body
	if err := s.opts.WriteFile(src.Path, text, definition.ApplyFixes(src.ID, text, *src.Findings[i].Fix)); err != nil {
		refuse(w, problem{Status: http.StatusConflict, Detail: sentence(err.Error())})
		return
	}
	reply(w, struct{}{})
}
