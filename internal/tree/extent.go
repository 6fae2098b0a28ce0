package tree

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The library reports where a node starts but not where it ends. The functions below find the ends in the text.

// skipProperties returns the offset after the anchor and tag of a value.
func (c *yamlConverter) skipProperties(at int) int {
	for at < len(c.Text) && (c.Text[at] == '&' || c.Text[at] == '!') {
		for at < len(c.Text) && !isBlank(c.Text[at]) && strings.IndexByte(",[]{}", c.Text[at]) < 0 {
			at++
		}
		at = c.skipSpace(at)
	}
	return at
}

// skipSpace returns the offset after white space, line breaks and comments.
func (c *yamlConverter) skipSpace(at int) int {
	for at < len(c.Text) {
		switch {
		case isBlank(c.Text[at]):
			at++
		case c.Text[at] == '#' && (at == 0 || isBlank(c.Text[at-1])):
			for at < len(c.Text) && c.Text[at] != '\n' && c.Text[at] != '\r' {
				at++
			}
		default:
			return at
		}
	}
	return at
}

// endOf returns the end offset of a child of a collection, which may be an alias of a node elsewhere.
func (c *yamlConverter) endOf(y *yaml.Node, n *Node) int {
	if y.Kind == yaml.AliasNode {
		return c.offset(y.Line, y.Column) + 1 + len(y.Value)
	}
	return n.End()
}

// closeFlow extends a flow collection from the end of its last child to its closing bracket.
func (c *yamlConverter) closeFlow(n *Node, y *yaml.Node, bracket byte) {
	if y.Style&yaml.FlowStyle == 0 {
		return
	}
	n.Style = Flow
	at := max(n.End(), c.skipProperties(n.Start())+1)
	for at = c.skipSpace(at); at < len(c.Text) && strings.IndexByte(",?:", c.Text[at]) >= 0; at = c.skipSpace(at + 1) {
	}
	if at < len(c.Text) && c.Text[at] == bracket {
		at++
	}
	n.end = int32(min(at, len(c.Text)))
}

// extent finds the bytes and the style of a scalar, without its anchor and tag.
func (c *yamlConverter) extent(n *Node, y *yaml.Node) {
	at := n.Start()
	if y.Anchor != "" || y.Style&yaml.TaggedStyle != 0 || y.Tag == "!" {
		at = c.skipProperties(at)
	}
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
		end = c.blockTextEnd(at, y.Value)
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

// blockTextEnd returns the offset after the last line of a block text.
func (c *yamlConverter) blockTextEnd(at int, value string) int {
	line, _ := c.Position(at)
	_, end := c.bounds(line) // the header line
	first := strings.TrimLeft(value, "\n")
	indent := -1
	for number := line + 1; number <= c.Lines() && first != ""; number++ {
		from, to := c.bounds(number)
		content := bytes.TrimLeft(c.Text[from:to], " ")
		if len(content) == 0 {
			continue
		}
		depth := to - from - len(content)
		if indent < 0 { // without the additional indentation of the first line
			indent = depth - (len(first) - len(strings.TrimLeft(first, " ")))
		}
		if depth < indent {
			break
		}
		end = to
	}
	return end
}
