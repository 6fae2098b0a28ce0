package openapi

import (
	"fmt"

	"signpost/internal/draft"
	"signpost/internal/tree"
)

// Note reports what was left out of a definition, or what needs attention, and why.
type Note struct {
	File      string // the document, or a file that it refers to
	Line      int
	Operation string // such as GET /shows; empty for the document as a whole
	More      int    // number of other operations that the note applies to
	Message   string
	LeftOut   bool // the operation is not imported
}

// String formats the note on one line.
func (n Note) String() string {
	operation := n.subject()
	if operation != "" {
		operation += ": "
	}
	return fmt.Sprintf("%s:%d: %s%s", n.File, n.Line, operation, n.Message)
}

// subject names the operations that the note applies to.
func (n Note) subject() string {
	if n.More == 0 {
		return n.Operation
	}
	return fmt.Sprintf("%s and %d more", n.Operation, n.More)
}

func (im *importer) newNote(at *tree.Node, operation, format string, args ...any) Note {
	return Note{
		File: im.owners[at.Document()].name, Line: at.Line(),
		Operation: operation, Message: draft.Note(format, args...),
	}
}

// note adds a note about the document as a whole.
func (im *importer) note(at *tree.Node, format string, args ...any) {
	im.notes = append(im.notes, im.newNote(at, "", format, args...))
}

// groupNotes returns the notes of all operations. A note that several operations share is returned once, at the first
// of them, with a count.
func groupNotes(operations []*operation) []Note {
	var notes []Note
	index := make(map[string]int)
	last := make(map[string]*operation) // so that two parameters of one operation count once
	for _, op := range operations {
		for _, n := range op.notes {
			if last[n.Message] == nil {
				index[n.Message] = len(notes)
				notes = append(notes, n)
			} else if last[n.Message] != op {
				notes[index[n.Message]].More++
			}
			last[n.Message] = op
		}
	}
	return notes
}
