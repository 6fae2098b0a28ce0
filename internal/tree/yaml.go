package tree

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// parseYAML returns the root of a YAML document, or nil and problems.
func (d *Document) parseYAML(opts Options) *Node {
	if at := crowded(d.Text); at >= 0 {
		d.tooMany(at)
		return nil
	}
	text := d.Text
	if at := version12.FindIndex(text); at != nil {
		text = bytes.Clone(text)
		text[at[1]-1] = '1' // the library reads YAML 1.2, but rejects its directive
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc, yaml.WithPlugin(depthLimit(opts.MaxDepth))); err != nil {
		d.explainYAML(err, opts.MaxDepth)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	c := yamlConverter{Document: d, opts: opts, left: maxNodes(len(d.Text)), anchors: make(map[*yaml.Node]*anchor)}
	root, _ := c.convert(doc.Content[0], 0)
	if d.Failed() {
		return nil
	}
	return root
}

// version12 matches a text that begins with the directive %YAML 1.2, up to the 2.
var version12 = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*%YAML[ \t]+1\.2`)

// depthLimit stops the library if brackets alone, or indentation alone, are nested too deep. The converter counts both
// together.
type depthLimit int

var errTooDeep = errors.New("nested too deep")

func (limit depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > int(limit)+1 {
		return errTooDeep
	}
	return nil
}

func (depthLimit) CheckAlias(int, int) error { return nil }

// The library needs about a kilobyte per node, most of it for tokens: it reads a flow collection to its end before it
// creates nodes. Therefore the characters that separate nodes are counted beforehand: a text may have freeSeparators of
// them plus one for every bytesPerSeparator bytes. As a result, a text of 1 MB takes at most 200 MB. A line of YAML
// with a key and a value has one separator and about 20 bytes.
const (
	freeSeparators    = 20_000
	bytesPerSeparator = 8
)

// crowded returns the offset at which a text exceeds the limit of separators, or -1.
func crowded(text []byte) int {
	count, limit := 0, freeSeparators+len(text)/bytesPerSeparator
	for i, c := range text {
		switch c {
		case ',', '[', '{':
			count++
		case '-', '?':
			if i+1 == len(text) || isBlank(text[i+1]) {
				count++
			}
		case ':':
			if i+1 == len(text) || isBlank(text[i+1]) || strings.IndexByte(",[]{}", text[i+1]) >= 0 ||
				i > 0 && (text[i-1] == '"' || text[i-1] == '\'') {
				count++
			}
		}
		if count > limit {
			return i
		}
	}
	return -1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// anchor is a node that aliases can refer to.
type anchor struct {
	node   *Node // nil while it is being converted
	nodes  int   // number of nodes, with aliases expanded
	height int   // number of levels below it
}

// yamlConverter converts the library's nodes, resolving aliases and merge keys.
type yamlConverter struct {
	*Document
	opts    Options
	left    int // number of nodes that may still be added, with aliases expanded
	anchors map[*yaml.Node]*anchor
	cursor  cursor
	failed  bool
	room    []Node // for nodes to come
}

// nodesAtOnce is the number of nodes that are allocated together. Whoever keeps one of them keeps all.
const nodesAtOnce = 64

func (c *yamlConverter) node(start int) *Node {
	if len(c.room) == 0 {
		c.room = make([]Node, nodesAtOnce)
	}
	n := &c.room[0]
	c.room = c.room[1:]
	n.start, n.end, n.doc = int32(start), int32(start), c.Document
	return n
}

// convert returns a node and the number of levels below it. If the document is nested too deep or too large, it reports
// that and returns nil.
func (c *yamlConverter) convert(y *yaml.Node, depth int) (*Node, int) {
	if y.Kind == yaml.AliasNode {
		return c.alias(y, depth)
	}
	start := c.offset(y.Line, y.Column)
	before := c.left
	c.left--
	switch {
	case depth > c.opts.MaxDepth:
		c.tooDeep(start, c.opts.MaxDepth)
		c.failed = true
	case c.left < 0:
		c.tooMany(start)
		c.failed = true
	}
	if c.failed {
		return nil, 0
	}
	var a *anchor
	if y.Anchor != "" {
		a = &anchor{}
		c.anchors[y] = a
	}
	n := c.node(start)
	height := 0
	switch y.Kind {
	case yaml.SequenceNode:
		height = c.list(n, y, depth)
	case yaml.MappingNode:
		height = c.object(n, y, depth)
	default:
		c.scalar(n, y)
	}
	if c.failed {
		return nil, 0
	}
	if a != nil {
		*a = anchor{n, before - c.left, height}
	}
	return n, height
}

// alias returns the node that an alias refers to, and counts it again.
func (c *yamlConverter) alias(y *yaml.Node, depth int) (*Node, int) {
	start := c.offset(y.Line, y.Column)
	a := c.anchors[y.Alias]
	if a == nil || a.node == nil {
		c.failed = true
		c.syntax("", start, start+1+len(y.Value), "alias *%s is inside the value that it names", y.Value)
		return nil, 0
	}
	if c.opts.ExpandAliases {
		c.left -= a.nodes
	}
	switch {
	case depth+a.height > c.opts.MaxDepth:
		c.failed = true
		c.tooDeep(start, c.opts.MaxDepth)
	case c.left < 0:
		c.tooExpanded(start)
	}
	if c.failed {
		return nil, 0
	}
	return a.node, a.height
}

func (c *yamlConverter) tooExpanded(at int) {
	c.failed = true
	c.syntax("repeat less, or split the file", at, at+1, "aliases expand to more values than a file of this size may have")
}

func (c *yamlConverter) list(n *Node, y *yaml.Node, depth int) (height int) {
	n.Kind, n.Items = List, make([]*Node, 0, len(y.Content))
	for i, child := range y.Content {
		item, below := c.convert(child, depth+1)
		if c.failed {
			return 0
		}
		n.Items = append(n.Items, item)
		height = max(height, below+1)
		n.end = max(n.end, int32(c.endOf(child, item)))
		y.Content[i] = nil // the two trees of a large file need not be in memory at once
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.Style = Flow
		n.end = int32(c.closing(max(n.End(), c.skipProperties(n.Start())+1), ']'))
	}
	return height
}

func (c *yamlConverter) object(n *Node, y *yaml.Node, depth int) (height int) {
	n.Kind, n.Fields = Object, make([]Field, 0, len(y.Content)/2)
	var merged []merge
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := c.key(y.Content[i])
		value, below := c.convert(y.Content[i+1], depth+1)
		if c.failed {
			return 0
		}
		height = max(height, below+1)
		n.end = max(n.end, key.end, int32(c.endOf(y.Content[i+1], value)))
		switch {
		case key.Kind != String:
			c.badKey(n, key)
		case isMerge(y.Content[i]) && value.Kind == List:
			for _, item := range value.Items {
				merged = append(merged, merge{key, item})
			}
		case isMerge(y.Content[i]):
			merged = append(merged, merge{key, value})
		default:
			c.addField(n, Field{key, value})
		}
		y.Content[i], y.Content[i+1] = nil, nil // as in list
	}
	if y.Style&yaml.FlowStyle != 0 {
		n.Style = Flow
		n.end = int32(c.closing(max(n.End(), c.skipProperties(n.Start())+1), '}'))
	}
	// An object's own fields override merged ones; of several merged objects, the first wins.
	for _, m := range merged {
		if m.Kind != Object {
			c.problem(BadValue, m.key, "<< takes an alias of an object, such as <<: *defaults", "<< cannot merge %s", m.Kind)
			c.Problems[len(c.Problems)-1].Value = n // what it lacks may be in there
			continue
		}
		if c.left -= 2 * len(m.Fields); c.left < 0 {
			c.tooExpanded(n.Start())
			return 0
		}
		for _, f := range m.Fields {
			n.add(f)
		}
	}
	return height
}

// key returns the node of a key. An alias gets its own position. A key that is not a scalar keeps its kind.
func (c *yamlConverter) key(y *yaml.Node) *Node {
	c.left--
	start := c.offset(y.Line, y.Column)
	n := c.node(start)
	n.Kind, n.end = String, int32(start+1)
	target := y
	if y.Kind == yaml.AliasNode {
		target = y.Alias
		n.end = int32(start + 1 + len(y.Value))
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
		c.problem(BadKey, placeholder, "put it in quotes: "+quoted(placeholder.Text), "text that begins with {{ needs quotes")
		c.Problems[len(c.Problems)-1].Value = object
		return
	}
	c.problem(BadKey, key, "", "a key must be text, not %s", key.Kind)
}

// merge is a value to merge into an object, with its key <<.
type merge struct {
	key *Node
	*Node
}

func isMerge(key *yaml.Node) bool {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	return key.ShortTag() == "!!merge"
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
		// The library treats a number that is too large as text.
		if n.Style == Plain && y.Style&yaml.TaggedStyle == 0 && isJSONNumber(y.Value) {
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
