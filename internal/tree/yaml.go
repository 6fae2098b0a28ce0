package tree

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// parseYAML returns the root of a YAML document, or nil and problems.
func (d *Document) parseYAML() *Node {
	if at := d.crowded(); at >= 0 {
		d.tooLarge(at, tooManyValues)
		return nil
	}
	text, ok := d.accommodate()
	if !ok {
		return nil
	}
	var doc yaml.Node
	err := yaml.Load(text, &doc)
	for tries := 0; err != nil && tries < maxTabs; tries++ {
		if text, ok = indentTab(text, err); !ok {
			break
		}
		err = yaml.Load(text, &doc)
	}
	if err != nil {
		d.explainYAML(err)
		return nil
	}
	c := yamlConverter{Document: d, anchors: make(map[*yaml.Node]anchor)}
	return c.convert(doc.Content[0], 0)
}

// version12 matches a text that begins with the directive %YAML 1.2, up to the 2.
var version12 = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*%YAML[ \t]+1\.2`)

// The library takes U+0085, U+2028 and U+2029 for line breaks, as YAML 1.1 does. Noncharacters stand in for them while it
// reads.
const standIns = "\ufdd0\ufdd1\ufdd2"

var (
	hideBreaks    = strings.NewReplacer("\u0085", "\ufdd0", "\u2028", "\ufdd1", "\u2029", "\ufdd2")
	restoreBreaks = strings.NewReplacer("\ufdd0", "\u0085", "\ufdd1", "\u2028", "\ufdd2", "\u2029")
)

// accommodate returns the text as the library can read it, with every character in its place, and false if it has one that
// stands in for another. The library rejects the directive of YAML 1.2.
func (d *Document) accommodate() ([]byte, bool) {
	text := d.Text
	if at := version12.FindIndex(text); at != nil {
		text = bytes.Clone(text)
		text[at[1]-1] = '1'
	}
	if d.ascii {
		return text, true
	}
	if at := bytes.IndexAny(text, standIns); at >= 0 {
		d.syntax(at, at+len("\ufdd0"), "remove it", "the text contains a noncharacter, which no text should")
		return nil, false
	}
	return []byte(hideBreaks.Replace(string(text))), true
}

// restore returns a text of the library as it is in the document.
func (d *Document) restore(text string) string {
	if d.ascii {
		return text // nearly always: saves a twentieth of the time to lint
	}
	return restoreBreaks.Replace(text)
}

// maxTabs is the number of block texts that may begin with a tab. The text is parsed again for each.
const maxTabs = 10

// blockHeader matches a line up to the | or > of a block text: its indentation with dashes, its key, anchor and tag.
var blockHeader = regexp.MustCompile(`^((?: |- )*)([^ &!-].*: +)?(?:[&!]\S* +)*[|>]$`)

// indentTab returns the text with an indentation indicator for the block text that an error is about, if the error is
// that its first line begins with a tab, which the library rejects unless the indentation is given. Nothing else moves.
func indentTab(text []byte, err error) ([]byte, bool) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || !strings.Contains(e.Message, "found a tab character where an indentation space is expected") {
		return nil, false
	}
	d := Positions(text, false)
	at := d.Offset(e.ContextMark.Line, e.ContextMark.Column) + 1
	start := d.Offset(e.ContextMark.Line, 1)
	header := blockHeader.FindSubmatch(text[start:at])
	if header == nil || at < len(text) && '0' <= text[at] && text[at] <= '9' {
		return nil, false
	}
	parent := len(header[1]) // where the key is or, without one, the last dash
	if len(header[2]) == 0 {
		parent = max(0, bytes.LastIndexByte(header[1], '-'))
	}
	if by := e.Mark.Column - 1 - parent; 1 <= by && by <= 9 {
		return bytes.Join([][]byte{text[:at], {byte('0' + by)}, text[at:]}, nil), true
	}
	return nil, false
}

// crowded returns the offset at which a text has more separators than the allowed number of keys with a value, or -1.
// They are counted before the library reads the text, because it makes tokens of all of them first. As a result, 1 MB of
// YAML takes at most 250 MB.
func (d *Document) crowded() int {
	left := d.left / 2
	for i, c := range d.Text {
		switch c {
		case ',', '[', '{':
			left--
		case '-', '?', ':':
			spaced := i+1 == len(d.Text) || strings.IndexByte(" \t\r\n,[]{}", d.Text[i+1]) >= 0
			if spaced || c == ':' && i > 0 && strings.IndexByte(`"'`, d.Text[i-1]) >= 0 {
				left--
			}
		}
		if left < 0 {
			return i
		}
	}
	return -1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// anchor is a node that aliases can refer to.
type anchor struct {
	node   *Node
	values int // with aliases expanded
}

// yamlConverter converts the library's nodes, resolving aliases and merge keys.
type yamlConverter struct {
	*Document
	anchors map[*yaml.Node]anchor // without those that are being converted

	// The last position, so that a long line that is not ASCII is not read again for each of its nodes.
	line, column, at int
}

// offset returns the byte offset of a line and column.
func (c *yamlConverter) offset(line, column int) int {
	if c.ascii || line < 1 || line > c.Lines() {
		return c.Offset(line, column)
	}
	start, end := c.bounds(line)
	if line != c.line || column < c.column {
		c.line, c.column, c.at = line, 1, start
	}
	for ; c.column < column && c.at < end; c.column++ {
		_, size := utf8.DecodeRune(c.Text[c.at:end])
		c.at += size
	}
	return c.at
}

func (c *yamlConverter) node(y *yaml.Node) *Node {
	start := int32(c.offset(y.Line, y.Column))
	return &Node{start: start, end: start, doc: c.Document}
}

// convert returns a node. If the document is nested too deep or too large, it reports that and returns nil. Aliases do not
// count as levels: the limit of values bounds how deep they nest.
func (c *yamlConverter) convert(y *yaml.Node, depth int) *Node {
	if y.Kind == yaml.AliasNode {
		return c.alias(y)
	}
	n := c.node(y)
	before := c.left
	c.left--
	if c.exceeds(n.Start(), depth) {
		return nil
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.Style = Flow
	}
	switch y.Kind {
	case yaml.SequenceNode:
		c.list(n, y, depth)
	case yaml.MappingNode:
		c.object(n, y, depth)
	default:
		c.scalar(n, y)
	}
	if c.Failed {
		return nil
	}
	if y.Anchor != "" {
		c.anchors[y] = anchor{n, before - c.left}
	}
	return n
}

// alias returns the node that an alias refers to, and counts it again.
func (c *yamlConverter) alias(y *yaml.Node) *Node {
	start := c.offset(y.Line, y.Column)
	a, ok := c.anchors[y.Alias]
	if !ok {
		c.syntax(start, start+1+len(y.Value), "", "alias *%s is inside the value that it names", y.Value)
		return nil
	}
	c.left -= a.values
	if c.exceeds(start, 0) {
		return nil
	}
	return a.node
}

func (c *yamlConverter) list(n *Node, y *yaml.Node, depth int) {
	n.Kind, n.Items = List, make([]*Node, 0, len(y.Content))
	for i, child := range y.Content {
		item := c.convert(child, depth+1)
		if c.Failed {
			return
		}
		n.Items = append(n.Items, item)
		n.end = max(n.end, int32(c.endOf(child, item)))
		y.Content[i] = nil // the two trees of a large file need not be in memory at once
	}
}

func (c *yamlConverter) object(n *Node, y *yaml.Node, depth int) {
	n.Kind, n.Fields = Object, make([]Field, 0, len(y.Content)/2)
	var merged []Field
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := c.key(y.Content[i])
		value := c.convert(y.Content[i+1], depth+1)
		if c.Failed {
			return
		}
		n.end = max(n.end, key.end, int32(c.endOf(y.Content[i+1], value)))
		switch {
		case key.Kind != String:
			c.badKey(n, key)
		case key.Text != "<<" || y.Content[i].ShortTag() != "!!merge":
			c.addField(n, Field{key, value})
		case value.Kind == List:
			for _, item := range value.Items {
				merged = append(merged, Field{key, item})
			}
		default:
			merged = append(merged, Field{key, value})
		}
		y.Content[i], y.Content[i+1] = nil, nil // as in list
	}
	// An object's own fields override merged ones; of several merged objects, the first wins.
	for _, m := range merged {
		if m.Value.Kind != Object {
			c.problem(BadValue, m.Key, "<< takes an alias of an object, such as <<: *defaults", "<< cannot merge %s", m.Value.Kind)
			c.Problems[len(c.Problems)-1].Value = n // what it lacks may be in there
			continue
		}
		c.left -= 2 * len(m.Value.Fields)
		if c.exceeds(n.Start(), depth) {
			return
		}
		for _, f := range m.Value.Fields {
			n.add(f)
		}
	}
}

// key returns the node of a key. An alias gets its own position. A key that is not a scalar keeps its kind.
func (c *yamlConverter) key(y *yaml.Node) *Node {
	c.left--
	n := c.node(y)
	n.Kind, n.end = String, n.start+1
	target := y
	if y.Kind == yaml.AliasNode {
		target = y.Alias
		n.end = n.start + 1 + int32(len(y.Value))
	}
	switch target.Kind {
	case yaml.SequenceNode:
		n.Kind = List
	case yaml.MappingNode:
		n.Kind = Object
	default:
		n.Text = c.restore(target.Value)
		if target == y {
			c.extent(n, y)
		}
	}
	return n
}

// badKey reports a key that is a list or an object. Usually it is a placeholder that YAML reads as braces.
func (c *yamlConverter) badKey(object, key *Node) {
	start := c.skipProperties(object.Start())
	if i := bytes.Index(c.Text[start:], []byte("}}")); bytes.HasPrefix(c.Text[start:], []byte("{{")) && i >= 0 {
		placeholder := c.NodeAt(start, start+i+2)
		c.problem(BadKey, placeholder, "put it in quotes: "+quoted(placeholder.Text), "text that begins with {{ needs quotes")
		c.Problems[len(c.Problems)-1].Value = object
		return
	}
	c.problem(BadKey, key, "", "a key must be text, not %s", key.Kind)
}

func (c *yamlConverter) scalar(n *Node, y *yaml.Node) {
	start := n.Start()
	n.Kind, n.Text = String, c.restore(y.Value)
	c.extent(n, y)
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.Kind, n.Text = Null, ""
	case "!!bool":
		n.Kind, n.Text = Bool, strings.ToLower(y.Value)
	case "!!int", "!!float":
		n.Kind = Number
		c.checkNumber(n)
	case "!!str":
		// The library treats a number that is too large as text. The expression alone takes 2 % of the time of a lint.
		digit := y.Value != "" && strings.IndexByte("-0123456789", y.Value[0]) >= 0
		if digit && n.Style == Plain && y.Style&yaml.TaggedStyle == 0 && jsonNumber.MatchString(y.Value) {
			n.Kind = Number
			c.checkNumber(n)
		}
	case "!!timestamp":
		n.Date = true
	case "!!merge": // a value that happens to be <<
	default:
		c.problem(BadValue, n, "leave the tag out, or put text that begins with ! in quotes", "tag %s is not supported", tag)
		properties := c.Text[start:c.skipProperties(start)]
		if i := bytes.IndexByte(properties, '!'); i >= 0 {
			end := i + len(bytes.Fields(properties[i:])[0])
			c.Problems[len(c.Problems)-1].At = c.NodeAt(start+i, start+end)
		}
	}
}
