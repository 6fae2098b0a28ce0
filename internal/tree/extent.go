package tree

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// The library reports where a node starts but not where it ends. The functions below find the ends of scalars in the
// text; a collection ends where its last scalar does.

// skipProperties returns the offset after the anchor and tag of a value.
func (c *yamlConverter) skipProperties(at int) int {
	for at < len(c.Text) && (c.Text[at] == '&' || c.Text[at] == '!') {
		for at < len(c.Text) && !isBlank(c.Text[at]) && strings.IndexByte(",[]{}", c.Text[at]) < 0 {
			at++
		}
		for at < len(c.Text) && isBlank(c.Text[at]) {
			at++
		}
	}
	return at
}

// endOf returns the end offset of a child of a collection, which may be an alias of a node elsewhere.
func (c *yamlConverter) endOf(y *yaml.Node, n *Node) int {
	if y.Kind == yaml.AliasNode {
		return c.Offset(y.Line, y.Column) + 1 + len(y.Value)
	}
	return n.End()
}

// extent finds the bytes and the style of a scalar, without its anchor and tag.
func (c *yamlConverter) extent(n *Node, y *yaml.Node) {
	at := c.skipProperties(n.Start()) // no text begins with & or ! otherwise
	end := at
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		n.Style = DoubleQuoted
		end = c.quotedEnd(at)
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.Style = SingleQuoted
		end = c.quotedEnd(at)
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.Style = BlockText
		end++ // nobody asks where the text ends
	case y.Value == "": // an empty value
		at = n.Start()
		end = at
	default: // the same words, with line breaks and the white space around them not yet folded
		for word := range strings.FieldsFuncSeq(n.Text, func(r rune) bool { return r < 0x80 && isBlank(byte(r)) }) {
			for end < len(c.Text) && isBlank(c.Text[end]) {
				end++
			}
			end += len(word)
		}
	}
	n.start, n.end = int32(at), int32(max(at, min(end, len(c.Text))))
}

// quotedEnd returns the offset after the text in quotes at an offset.
func (d *Document) quotedEnd(at int) int {
	quote := d.Text[at]
	for i := at + 1; i < len(d.Text); i++ {
		switch {
		case d.Text[i] == '\\' && quote == '"':
			i++
		case d.Text[i] != quote:
		case quote == '\'' && i+1 < len(d.Text) && d.Text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(d.Text)
}
