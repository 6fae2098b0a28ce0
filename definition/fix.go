package definition

import (
	"fmt"
	"strings"
	"unicode"

	"signpost"
	"signpost/internal/tree"
)

// replacement returns the fix that replaces a scalar, in the style of the old one, or nil.
func (f *File) replacement(at *tree.Node, value any) *signpost.Fix {
	text, ok := at.Write(value)
	if !ok {
		return nil
	}
	return f.write(at, text)
}

// write returns the fix that replaces a value with a text.
func (f *File) write(at *tree.Node, text string) *signpost.Fix {
	e := signpost.Edit{Text: text}
	e.Line, e.Column = f.doc.Position(at.Start())
	e.EndLine, e.EndColumn = f.doc.Position(at.End())
	return &signpost.Fix{Message: "write " + text, Edits: []signpost.Edit{e}}
}

// listOf returns the hint and the fix that replace text with a list of names. There is no fix if a name has a space in
// it: a comma may be missing.
func (f *File) listOf(at *tree.Node) (hint string, fix *signpost.Fix) {
	if strings.HasPrefix(at.Text, "–") || strings.HasPrefix(at.Text, "—") { // what text processors make of a dash
		return "begin a list item with -", nil
	}
	var names, texts []string
	certain := true
	for name := range strings.SplitSeq(at.Text, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		text, ok := at.Write(name)
		names, texts = append(names, name), append(texts, text)
		certain = certain && ok && !strings.Contains(name, " ")
	}
	if certain && len(names) > 0 {
		fix = f.write(at, "["+strings.Join(texts, ", ")+"]")
	}
	return "write [" + strings.Join(names, ", ") + "]", fix
}

// optionFix returns the fix that replaces a bare value with an option: most_recent is labelled "Most recent".
func (f *File) optionFix(at *tree.Node) *signpost.Fix {
	words := strings.FieldsFunc(at.Text, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	label := []rune(strings.Join(words, " "))
	if len(label) == 0 {
		return nil
	}
	label[0] = unicode.ToUpper(label[0])
	value, ok := at.Write(at.Text)
	written, _ := at.Write(string(label))
	if !ok {
		return nil
	}
	form := "{value: %s, label: %s}"
	if f.doc.JSON {
		form = `{"value": %s, "label": %s}`
	}
	return f.write(at, fmt.Sprintf(form, value, written))
}
