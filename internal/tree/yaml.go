package tree

import (
	"bytes"
	"fmt"
	"slices"
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
	text := d.directives()
	if d.Failed || d.hasOtherBreak() {
		return nil
	}
	var doc yaml.Node
	err := yaml.Load(text, &doc)
	if err != nil {
		d.explainYAML(err)
		return nil
	}
	c := yamlConverter{Document: d, anchors: make(map[*yaml.Node]anchor)}
	return c.convert(doc.Content[0], 0)
}

// directives reads those at the top, and returns the text for the library: %YAML is a comment there, because it rejects
// 1.2, but reads what that says. %TAG is reported: no definition has it, and much of it takes the library long.
func (d *Document) directives() []byte {
	text, hasVersion := d.Text, false
	for number := 1; number <= d.Lines(); number++ {
		words := bytes.Fields(d.Line(number))
		start := d.Offset(number, 1)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case d.Text[start] != '%':
			return text
		case string(words[0]) == "%TAG":
			d.syntax(start, start+len(words[0]), "remove it", "%%TAG is not supported")
			return text
		case string(words[0]) == "%YAML" && !hasVersion:
			hasVersion = true
			text = slices.Concat(d.Text[:start], []byte("#"), d.Text[start+1:])
		}
	}
	return text
}

// hasOtherBreak reports a character that the library takes for a line break, as YAML 1.1 does, while editors do not:
// every position behind it would be wrong.
func (d *Document) hasOtherBreak() bool {
	if d.ascii {
		return false
	}
	at := bytes.IndexAny(d.Text, "\u0085\u2028\u2029")
	if at < 0 {
		return false
	}
	r, size := utf8.DecodeRune(d.Text[at:])
	return d.syntax(at, at+size, fmt.Sprintf(`remove it, or write \u%04x in double quotes`, r),
		"U+%04X, which YAML takes for a line break", r)
}

// crowded returns the offset at which a text has more separators than the allowed number of keys with a value, or -1.
// They are counted before the library reads the text, because it makes tokens of all of them first. As a result, 1 MB
// of YAML takes at most 250 MB.
func (d *Document) crowded() int {
	left := d.left / 2
	if len(d.Text) <= left {
		return -1
	}
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
}

func (c *yamlConverter) node(y *yaml.Node) *Node {
	start := int32(c.Offset(y.Line, y.Column))
	return &Node{start: start, end: start, doc: c.Document}
}

// convert returns a node. If the document is nested too deep or too large, it reports that and returns nil. Aliases do
// not count as levels: the limit of values bounds how deep they nest.
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
	start := c.Offset(y.Line, y.Column)
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
			found := c.problem(BadValue, m.Key, "<< takes an alias of an object, such as <<: *defaults",
				"<< cannot merge %s", m.Value.Kind)
			found.Value = n // what it lacks may be in there
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
		n.Text = target.Value
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
		found := c.problem(BadKey, placeholder, "put it in quotes: "+quoted(placeholder.Text),
			"text that begins with {{ needs quotes")
		found.Value = object
		return
	}
	c.problem(BadKey, key, "", "a key must be text, not %s", key.Kind)
}

func (c *yamlConverter) scalar(n *Node, y *yaml.Node) {
	start := n.Start()
	n.Kind, n.Text = String, y.Value
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
		found := c.problem(BadValue, n, "leave the tag out, or put text that begins with ! in quotes",
			"tag %s is not supported", tag)
		properties := c.Text[start:c.skipProperties(start)]
		if i := bytes.IndexByte(properties, '!'); i >= 0 {
			end := i + len(bytes.Fields(properties[i:])[0])
			found.At = c.NodeAt(start+i, start+end)
		}
	}
}
