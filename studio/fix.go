package studio

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"slices"

	"signpost"
	"signpost/definition"
)

// serveFix applies the fix of a finding to the file on the disk. The page follows as it does when an editor saves it.
func (s *Studio) serveFix(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Source string `json:"source"`
		Rule   string `json:"rule"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	if !read(w, r, &in) {
		return
	}
	src := s.source(in.Source)
	if src == nil {
		refuse(w, noSource)
		return
	}
	i := slices.IndexFunc(src.Findings, func(f finding) bool {
		return f.Rule == in.Rule && f.Line == in.Line && f.Column == in.Column && f.Fix != nil
	})
	switch {
	case i < 0:
		refuse(w, problem{Status: http.StatusConflict, Detail: "This finding is no longer there.", Hint: "The file has changed."})
		return
	case src.Path == "" || s.opts.WriteFile == nil:
		refuse(w, problem{Status: http.StatusConflict, Detail: "There is no file to write the fix to."})
		return
	}
	if err := s.writeFix(src, *src.Findings[i].Fix); err != nil {
		refuse(w, problem{Status: http.StatusConflict, Detail: sentence(err.Error())})
		return
	}
	reply(w, struct{}{})
}

// writeFix writes a file with a fix applied, unless somebody has changed it since it was read.
func (s *Studio) writeFix(src *source, fix signpost.Fix) error {
	text, err := os.ReadFile(src.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, src.text) || len(text) > definition.MaxSize {
		return errors.New("the file has changed since it was read: look again, and try again")
	}
	fixed, err := applyEdits(text, fix.Edits)
	if err != nil {
		return err
	}
	return s.opts.WriteFile(src.Path, fixed)
}

// applyEdits replaces what the edits name, which are in order and do not overlap.
func applyEdits(text []byte, edits []signpost.Edit) ([]byte, error) {
	var out []byte
	at := 0
	for _, e := range edits {
		from, to := offset(text, e.Line, e.Column), offset(text, e.EndLine, e.EndColumn)
		if from < at || to < from {
			return nil, errors.New("the fix does not fit the file")
		}
		out = append(append(out, text[at:from]...), e.Text...)
		at = to
	}
	return append(out, text[at:]...), nil
}

// offset returns the byte at which a line and column are, both counted from 1 and columns in characters, or -1.
func offset(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	if line == 1 && bytes.HasPrefix(text, []byte("\ufeff")) {
		at += len("\ufeff") // it is not a character of the line
	}
	rest := text[at:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	passed := 1
	for i := range string(rest) {
		if passed == column {
			return at + i
		}
		passed++
	}
	if passed == column {
		return at + len(rest)
	}
	return -1
}
