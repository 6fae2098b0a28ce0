package studio

import (
	"slices"

	"signpost/definition"
	sources "signpost/internal/source"
)

// fixBody names the finding to fix.
type fixBody struct {
	sourceBody
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// fix applies the fix of a finding to the file on disk. The page then updates as if an editor had saved it.
func (s *Studio) fix(c call, in fixBody) (any, error) {
	i := slices.IndexFunc(c.src.Findings, func(f finding) bool {
		return f.Rule == in.Rule && f.Line == in.Line && f.Column == in.Column && f.Fix != nil
	})
	switch {
	case i < 0:
		return nil, conflict("This finding no longer exists.", "The file has changed.")
	case c.src.Path == "" || c.src.Formatted:
		return nil, conflict("There is no file to write the fix to.", "")
	}
	return replace(c.src, definition.ApplyFixes(c.src.ID, c.src.now.Text, *c.src.Findings[i].Fix))
}

func (s *Studio) start(c call, _ sourceBody) (any, error) {
	if !c.src.Empty || c.src.Path == "" || len(s.opts.Starter) == 0 {
		return nil, conflict("The starter goes into an empty file, and this is none.", "")
	}
	return replace(c.src, s.opts.Starter)
}

// replace writes another text into the file of a source, unless somebody else has meanwhile.
func replace(src *source, text []byte) (any, error) {
	if err := sources.ReplaceFile(src.Path, src.now.Text, text); err != nil {
		return nil, conflict(sentence(err.Error()), "")
	}
	return object{}, nil
}
