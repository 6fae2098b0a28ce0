package definition

import (
	"bytes"

	"signpost"
	"signpost/internal/tree"
)

// removeRule returns the fix that removes one of several rules from an allow comment, or the whole comment if it is the
// only rule. The comment is between two offsets.
func (p *parser) removeRule(start, end int, rule *tree.Node, i, rules int) *signpost.Fix {
	fix := &signpost.Fix{Message: "remove " + rule.Text}
	text := p.doc.Text
	switch {
	case rules == 1:
		fix.Message = "remove the comment"
		start, end = p.wholeLines(start, end)
	case i == 0: // including the comma after it
		start, end = rule.Start(), rule.Start()+bytes.IndexByte(text[rule.Start():], ',')+1
		end += len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t"))
	default: // including the comma before it
		start, end = bytes.LastIndexByte(text[:rule.Start()], ','), rule.End()
	}
	fix.Edits = []signpost.Edit{p.edit(start, end, "")}
	return fix
}

// wholeLines extends a range of text: to whole lines, including the last line break, if nothing else is on them, and
// otherwise over the white space in front of it.
func (p *parser) wholeLines(start, end int) (int, int) {
	text := p.doc.Text
	first, _ := p.doc.Position(start)
	last, _ := p.doc.Position(end)
	lineStart, lineEnd := p.doc.Offset(first, 1), p.doc.Offset(last, 1)+len(p.doc.Line(last))
	trimmed := len(bytes.TrimRight(text[lineStart:start], " \t"))
	if trimmed > 0 || len(bytes.TrimSpace(text[end:lineEnd])) > 0 {
		return lineStart + trimmed, end
	}
	if last < p.doc.Lines() {
		return lineStart, p.doc.Offset(last+1, 1)
	}
	return lineStart, lineEnd
}

// removeField returns the fix that removes a field of an object, including a comment after it. It returns nil if the
// text around it is not simple, or if the object would become empty.
func (p *parser) removeField(object *tree.Node, f tree.Field) *signpost.Fix {
	start, end := f.Key.Start(), f.Value.End()
	if end < f.Key.End() || start < object.Start() || end > object.End() || len(object.Fields) < 2 {
		return nil // an alias, or merged from elsewhere
	}
	text := p.doc.Text
	if object.Style == tree.Flow {
		switch after := bytes.TrimLeft(text[end:], " \t"); {
		case bytes.HasPrefix(after, []byte(",")):
			end = len(text) - len(bytes.TrimLeft(after[1:], " \t"))
		case f.Key != object.Fields[0].Key && bytes.HasSuffix(bytes.TrimRight(text[:start], " \t"), []byte(",")):
			start = bytes.LastIndexByte(text[:start], ',')
		default:
			return nil
		}
	} else {
		last, _ := p.doc.Position(end)
		lineEnd := p.doc.Offset(last, 1) + len(p.doc.Line(last))
		if rest := bytes.TrimLeft(text[end:lineEnd], " \t"); bytes.HasPrefix(rest, []byte("#")) {
			end = lineEnd
		}
		wholeStart, wholeEnd := p.wholeLines(start, end)
		if wholeStart > p.doc.Offset(f.Key.Line(), 1) {
			return nil // something else is on the line
		}
		start, end = wholeStart, wholeEnd
	}
	return &signpost.Fix{Message: "remove " + f.Key.Text, Edits: []signpost.Edit{p.edit(start, end, "")}}
}
