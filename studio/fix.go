package studio

import (
	"net/http"
	"slices"

	"signpost/definition"
	sources "signpost/internal/source"
)

// fixing is the body of fix: the finding to fix.
type fixing struct {
	about
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// fix applies the fix of a finding to the file on disk. The page then updates as if an editor had saved it.
func (s *Studio) fix(c call, in fixing) (any, error) {
	i := slices.IndexFunc(c.src.Findings, func(f finding) bool {
		return f.Rule == in.Rule && f.Line == in.Line && f.Column == in.Column && f.Fix != nil
	})
	switch {
	case i < 0:
		return nil, failed(http.StatusConflict, "This finding no longer exists.", "The file has changed.")
	case c.src.Path == "" || c.src.Formatted:
		return nil, failed(http.StatusConflict, "There is no file to write the fix to.", "")
	}
	text := c.src.now.Text
	if err := sources.ReplaceFile(c.src.Path, text, definition.ApplyFixes(c.src.ID, text, *c.src.Findings[i].Fix)); err != nil {
		return nil, failed(http.StatusConflict, sentence(err.Error()), "")
	}
	return object{}, nil
}

// start writes the starter into an empty file.
func (s *Studio) start(c call, _ about) (any, error) {
	if !c.src.Empty || c.src.Path == "" || len(s.opts.Starter) == 0 {
		return nil, failed(http.StatusConflict, "The starter goes into an empty file, and this is none.", "")
	}
	if err := sources.ReplaceFile(c.src.Path, c.src.now.Text, s.opts.Starter); err != nil {
		return nil, failed(http.StatusConflict, sentence(err.Error()), "")
	}
	return object{}, nil
}
