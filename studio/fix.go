package studio

import (
	"net/http"
	"slices"

	"signpost/definition"
)

// fixable names a finding that has a fix.
type fixable struct {
	Source string `json:"source"`
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// fix applies the fix of a finding to the file on disk. The page then updates as if an editor had saved it.
func (s *Studio) fix(r *http.Request, in fixable) (any, *problem) {
	_, src, why := s.find(r, in.Source)
	if why != nil {
		return nil, why
	}
	i := slices.IndexFunc(src.Findings, func(f finding) bool {
		return f.Rule == in.Rule && f.Line == in.Line && f.Column == in.Column && f.Fix != nil
	})
	switch {
	case i < 0:
		return nil, failed(http.StatusConflict, "This finding no longer exists.", "The file has changed.")
	case src.Path == "" || s.opts.WriteFile == nil:
		return nil, failed(http.StatusConflict, "There is no file to write the fix to.", "")
	}
	text := src.record.now.body
	if err := s.opts.WriteFile(src.Path, text, definition.ApplyFixes(src.ID, text, *src.Findings[i].Fix)); err != nil {
		return nil, failed(http.StatusConflict, sentence(err.Error()), "")
	}
	return done{}, nil
}
