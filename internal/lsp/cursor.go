package lsp

import (
	"slices"
	"strings"

	"signpost/internal/fields"
	"signpost/internal/tree"
)

// part is a key or a scalar value of a document.
type part struct {
	node  *tree.Node
	owner *tree.Node // the object or the list that it is in
	isKey bool
	path  []string // steps to the value, also of a key; "" is a list item
}

// partAt returns the part at an offset in a value of an owner, or nil.
func partAt(n, owner *tree.Node, offset int, path []string) *part {
	if !contains(n, offset) {
		return nil
	}
	if n.Kind != tree.Object && n.Kind != tree.List {
		return &part{n, owner, false, path}
	}
	step := func(name string) []string { return append(path[:len(path):len(path)], name) }
	for _, f := range n.Fields {
		if contains(f.Key, offset) {
			return &part{f.Key, n, true, step(f.Key.Text)}
		}
		if found := partAt(f.Value, n, offset, step(f.Key.Text)); found != nil {
			return found
		}
	}
	for _, item := range n.Items {
		if found := partAt(item, n, offset, step("")); found != nil {
			return found
		}
	}
	return nil
}

func contains(n *tree.Node, offset int) bool { return n.Start() <= offset && offset <= n.End() }

// cursor is the place where the author is typing.
type cursor struct {
	part
	fields *fields.Value // what the document may contain

	json  bool
	quote string // opening quotation mark of the word, or ""
	start int    // offset of the word, after its quotation mark
	after string // the text behind the cursor
}

// mark is put at the cursor before the text is parsed. It is a letter that nobody uses.
const mark = "\ue000"

// cursor returns what is being typed at an offset. Text that is being typed rarely parses, so the mark is tried as a
// value and as a key, and what is open at the cursor is closed, with and without the text behind it. JSON is read as
// YAML, which forgives more.
func (d *document) cursor(offset int) (cursor, bool) {
	before, after := d.text[:offset], d.text[offset:]
	line := strings.LastIndexAny(before, "\r\n") + 1
	rest := ""
	if i := strings.IndexAny(after, "\r\n"); i >= 0 {
		rest = after[i:]
	}
	endings := []string{"", ": "}
	if !strings.ContainsAny(strings.TrimLeft(before[line:], " -\"'"), " :,[{\"'") {
		slices.Reverse(endings) // the first word of a line is a key
	}
	quote, brackets := closing(before)
	for _, tail := range [][2]string{{"", after}, {quote, rest}, {quote, brackets + rest}, {quote, brackets}} {
		for _, ending := range endings {
			text := before + mark + tail[0] + ending + tail[1]
			if root := tree.Parse([]byte(text), false).Root; root != nil {
				return d.cursorIn(root, offset, line)
			}
		}
	}
	return cursor{}, false
}

// closing returns the quotation mark and the brackets that close what is open at the end of a text.
func closing(text string) (quote, brackets string) {
	for _, at := range tree.Unclosed(text) {
		switch text[at] {
		case '{':
			brackets = "}" + brackets
		case '[':
			brackets = "]" + brackets
		default:
			quote = text[at : at+1]
		}
	}
	return quote, brackets
}

// cursorIn returns the cursor in a text with the mark, unless nothing can be completed there.
func (d *document) cursorIn(root *tree.Node, offset, line int) (cursor, bool) {
	at := partAt(root, nil, offset+1, nil) // inside the mark
	if at == nil || at.owner == nil || at.node.Style == tree.BlockText || !strings.Contains(at.node.Text, mark) {
		return cursor{}, false
	}
	c := cursor{part: *at, fields: d.fields(), json: d.isJSON(), after: d.text[offset:]}
	switch c.node.Style {
	case tree.DoubleQuoted:
		c.quote = `"`
	case tree.SingleQuoted:
		c.quote = "'"
	}
	c.start = c.node.Start() + len(c.quote)
	return c, c.start >= line && (!c.json || c.owner.Style == tree.Flow) // all of JSON is inside braces or brackets
}
