package definition

import (
	"encoding/json"
	"fmt"
	"strings"

	"signpost"
	"signpost/internal/tree"
)

// replacement returns the fix that replaces a scalar, in the style of the old one.
func (p *parser) replacement(at *tree.Node, value any) *signpost.Fix {
	text, ok := p.encode(at, value)
	if !ok {
		return nil
	}
	return p.write(at, text)
}

// write returns the fix that replaces a value with a text.
func (p *parser) write(at *tree.Node, text string) *signpost.Fix {
	e := signpost.Edit{Text: text}
	e.Line, e.Column = p.doc.Position(at.Start())
	e.EndLine, e.EndColumn = p.doc.Position(at.End())
	return &signpost.Fix{Message: "write " + text, Edits: []signpost.Edit{e}}
}

// encode returns value as it is written in the file in place of at. It returns false unless both are short and on one
// line.
func (p *parser) encode(at *tree.Node, value any) (string, bool) {
	if at.Style == tree.BlockText || at.Start() == at.End() || strings.ContainsAny(at.Text, "\r\n") {
		return "", false
	}
	text, isText := value.(string)
	switch {
	case !isText:
		return fmt.Sprint(value), true
	case p.doc.JSON || at.Style == tree.DoubleQuoted || at.Kind != tree.String:
		return quote(text), true
	case at.Style == tree.SingleQuoted:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
	case isPlain(text, !strings.ContainsAny(at.Text, "[]{},")): // at may or may not be inside brackets
		return text, true
	}
	return quote(text), true
}

// quote returns text in double quotes that YAML and JSON both understand.
func quote(text string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // strings always encode
	return strings.TrimSuffix(out.String(), "\n")
}

// isPlain reports whether YAML reads the text unchanged without quotes, as a key and as a value, inside brackets or on
// a line of its own.
func isPlain(text string, inBrackets bool) bool {
	if strings.ContainsAny(text, "#&*!|>'\"%@`\\\r\n\t") {
		return false
	}
	format := "? %s\n: %s\n"
	if inBrackets {
		format = "{? %s : %s}"
	}
	doc := tree.Parse(fmt.Appendf(nil, format, text, text), tree.Options{})
	if doc.Root == nil || len(doc.Root.Fields) != 1 {
		return false
	}
	f := doc.Root.Fields[0]
	return f.Key.Text == text && f.Value.Kind == tree.String && !f.Value.Date && f.Value.Text == text
}

// listOf returns the fix that replaces text with a list of names.
func (p *parser) listOf(at *tree.Node, names []string) *signpost.Fix {
	texts := make([]string, len(names))
	for i, name := range names {
		text, ok := p.encode(at, name)
		if !ok {
			return nil
		}
		texts[i] = text
	}
	return p.write(at, "["+strings.Join(texts, ", ")+"]")
}

// optionFix returns the fix that replaces a bare value with an option that has a value and a label.
func (p *parser) optionFix(at *tree.Node, o signpost.Option) *signpost.Fix {
	value, ok := p.encode(at, o.Value)
	label, _ := p.encode(at, o.Label)
	if !ok {
		return nil
	}
	if p.doc.JSON {
		return p.write(at, fmt.Sprintf(`{"value": %s, "label": %s}`, value, label))
	}
	return p.write(at, fmt.Sprintf("{value: %s, label: %s}", value, label))
}
