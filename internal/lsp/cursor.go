package lsp

import (
	"slices"
	"strings"

	"signpost/internal/tree"
)

// cursor describes what the author is typing.
type cursor struct {
	place cursorPlace
	path  []string // steps to the value or, for a key, to its object; "" is a list item
	keys  []string // other keys of the object
	flow  bool     // inside braces or brackets, as all of JSON is
	json  bool
	quote string // opening quotation mark of the word, or ""
	start int    // offset of the word, after its quotation mark
}

type cursorPlace int

const (
	atKey cursorPlace = iota
	atValue
	atItem // of a list, which may be a value or the first key of an object
)

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
	quote, brackets := "", ""
	for _, at := range tree.Open(before) {
		switch before[at] {
		case '{':
			brackets = "}" + brackets
		case '[':
			brackets = "]" + brackets
		default:
			quote = before[at : at+1]
		}
	}
	for _, tail := range [][2]string{{"", after}, {quote, rest}, {quote, brackets + rest}, {quote, brackets}} {
		for _, ending := range endings {
			text := before + mark + tail[0] + ending + tail[1]
			if root := tree.Parse([]byte(text), tree.Options{}).Root; root != nil {
				c := cursor{json: d.isJSON()}
				if c.find(root, nil) && c.start >= line {
					return c, !c.json || c.flow
				}
				return c, false
			}
		}
	}
	return cursor{}, false
}

// find fills in the place of the mark in a value, and reports whether it is there.
func (c *cursor) find(n *tree.Node, path []string) bool {
	step := func(name string) []string { return append(path[:len(path):len(path)], name) }
	for _, f := range n.Fields {
		switch {
		case strings.Contains(f.Key.Text, mark):
			c.at(f.Key, n, atKey, path)
			for _, other := range n.Fields {
				if other.Key != f.Key {
					c.keys = append(c.keys, other.Key.Text)
				}
			}
			if len(c.keys) == 0 && len(path) > 0 && path[len(path)-1] == "" {
				c.place = atItem
			}
			return true
		case strings.Contains(f.Value.Text, mark):
			c.at(f.Value, n, atValue, step(f.Key.Text))
			return f.Value.Style != tree.BlockText
		case c.find(f.Value, step(f.Key.Text)):
			return true
		}
	}
	for _, item := range n.Items {
		if strings.Contains(item.Text, mark) {
			c.at(item, n, atItem, step(""))
			return item.Style != tree.BlockText
		}
		if c.find(item, step("")) {
			return true
		}
	}
	return false
}

func (c *cursor) at(word, container *tree.Node, place cursorPlace, path []string) {
	c.place, c.path, c.flow, c.start = place, path, container.Style == tree.Flow, word.Start()
	switch word.Style {
	case tree.DoubleQuoted:
		c.quote = `"`
	case tree.SingleQuoted:
		c.quote = "'"
	}
	c.start += len(c.quote)
}
