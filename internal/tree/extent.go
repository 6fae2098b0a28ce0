package tree

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The library reports where a node starts but not where it ends. The functions below find the ends in the text.

// cursor remembers the last lookup. Nodes come in the order of the text, so the next position is usually close.
type cursor struct{ line, column, offset int }

// offset returns the byte offset of a line and column, which the library counts in its own way.
func (c *yamlConverter) offset(line, column int) int {
	at := &c.cursor
	if line != at.line || column < at.column {
		*at = cursor{line, column, c.Offset(line, column)}
		return at.offset
	}
	for at.column < column && at.offset < len(c.Text) && lineBreak(c.Text[at.offset:], false) == 0 {
		at.offset++
		for at.offset < len(c.Text) && c.Text[at.offset]&0xC0 == 0x80 {
			at.offset++
		}
		at.column++
	}
	return at.offset
}

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
			for at < len(c.Text) && lineBreak(c.Text[at:], false) == 0 {
				at++
			}
		case lineBreak(c.Text[at:], false) > 0:
			at += lineBreak(c.Text[at:], false)
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

// closing returns the offset after the closing bracket of a flow collection whose last child ends at an offset.
func (c *yamlConverter) closing(at int, bracket byte) int {
	for at < len(c.Text) {
		at = c.skipSpace(at)
		if at < len(c.Text) && c.Text[at] == bracket {
			return at + 1
		}
		if at == len(c.Text) || strings.IndexByte(",?:", c.Text[at]) < 0 {
			break
		}
		at++
	}
	return min(at, len(c.Text))
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
		end = c.quotedEnd(at, '"')
	case y.Style&yaml.SingleQuotedStyle != 0:
		n.Style = SingleQuoted
		end = c.quotedEnd(at, '\'')
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		n.Style = BlockText
		end = c.blockTextEnd(at, y.Value)
	case y.Value == "": // an empty value
		at = n.Start()
		end = at
	default:
		end = c.plainEnd(at, y.Value)
	}
	n.start, n.end = int32(at), int32(max(at, end))
}

func (c *yamlConverter) quotedEnd(at int, quote byte) int {
	for i := at + 1; i < len(c.Text); i++ {
		switch {
		case c.Text[i] == '\\' && quote == '"':
			i++
		case c.Text[i] != quote:
		case quote == '\'' && i+1 < len(c.Text) && c.Text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(c.Text)
}

// plainEnd follows a plain scalar through the text, in which line breaks and the white space around them are not yet
// folded.
func (c *yamlConverter) plainEnd(at int, value string) int {
	if end := at + len(value); end <= len(c.Text) && string(c.Text[at:end]) == value {
		return end // nothing is folded
	}
	for value != "" && at < len(c.Text) {
		if next, folded := c.space(at); folded {
			value = strings.TrimLeft(value, " \n\u0085\u2028\u2029")
			if value == "" {
				break
			}
			at = next
		} else if next > at && len(value) > next-at {
			value = value[next-at:]
			at = next
		}
		if at == len(c.Text) || c.Text[at] != value[0] {
			break
		}
		at++
		value = value[1:]
	}
	return at
}

// space returns the offset after the white space at an offset, and whether it contains a line break.
func (c *yamlConverter) space(at int) (next int, broken bool) {
	for at < len(c.Text) {
		switch size := lineBreak(c.Text[at:], false); {
		case size > 0:
			broken = true
			at += size
		case c.Text[at] == ' ' || c.Text[at] == '\t':
			at++
		default:
			return at, broken
		}
	}
	return at, broken
}

// blockTextEnd returns the offset after the last line of a block text.
func (c *yamlConverter) blockTextEnd(at int, value string) int {
	line, _ := c.Position(at)
	_, end := c.bounds(line) // the header line
	indent := -1
	for number := line + 1; number <= c.Lines(); number++ {
		from, to := c.bounds(number)
		content := bytes.TrimLeft(c.Text[from:to], " ")
		if len(content) == 0 {
			continue
		}
		depth := to - from - len(content)
		if indent < 0 {
			first := strings.TrimLeft(value, "\n") // extra indentation of the first line
			indent = depth - (len(first) - len(strings.TrimLeft(first, " ")))
			if first == "" { // only line breaks
				return end
			}
		}
		if depth < indent {
			break
		}
		end = to
	}
	return end
}
