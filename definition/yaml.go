package definition

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"signpost"
)

// maxAliasNodes bounds what aliases may expand to. A large service repeats some thousand values; a file
// that asks for more than this is a bomb.
const maxAliasNodes = 100_000

// parseYAML returns the tree of a YAML document, or nil with findings.
func (p *parser) parseYAML() *node {
	var doc yaml.Node
	if err := yaml.Load(p.source.text, &doc); err != nil {
		p.yamlError(err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	c := yamlConverter{parser: p, open: make(map[*yaml.Node]bool)}
	root := c.convert(doc.Content[0], 0)
	if c.failed {
		return nil
	}
	return root
}

func (p *parser) yamlError(err error) {
	place := &node{line: 1, column: 1}
	message, hint := err.Error(), ""
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		err = all.Errors[0]
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		message = one.Message
		if one.ContextMsg != "" {
			message = one.ContextMsg + ": " + message
		}
		if one.Mark.Line > 0 {
			place.line, place.column = one.Mark.Line, one.Mark.Column
		}
	}
	switch {
	case strings.Contains(message, "no documents in stream"):
		return // the caller says that the file is empty
	case strings.Contains(message, "expected single document"):
		message, hint = "more than one YAML document in the file", "one file holds one service: put the next one into a file of its own"
	case strings.HasPrefix(string(p.source.line(place.line)), "\t") || strings.Contains(message, "cannot start any token") && place.column == 1:
		hint = "YAML is indented with spaces, not tabs"
	case strings.Contains(string(p.source.line(place.line)), "{{"):
		hint = "a value that begins with { needs quotes"
	}
	p.add(ruleSyntax, hint, place, "%s", strings.TrimPrefix(message, "yaml: "))
}

// yamlConverter turns the library's nodes into ours, expanding aliases and merge keys.
type yamlConverter struct {
	*parser
	open       map[*yaml.Node]bool // the anchors being expanded, to see a cycle
	inAlias    int
	aliasNodes int
	failed     bool
}

// convert returns nil, having set failed, where the tree is too deep or too large to go on.
func (c *yamlConverter) convert(y *yaml.Node, depth int) *node {
	n := &node{line: y.Line, column: y.Column}
	if c.inAlias > 0 {
		c.aliasNodes++
	}
	switch {
	case c.failed:
		return nil
	case depth > maxDepth:
		return c.fail(n, "a definition is never that deep", "nested more than %d levels deep", maxDepth)
	case c.aliasNodes > maxAliasNodes:
		return c.fail(n, "repeat less, or split the service", "aliases expand to more than %d values", maxAliasNodes)
	}
	switch y.Kind {
	case yaml.AliasNode:
		if c.open[y.Alias] {
			return c.fail(n, "", "alias *%s stands inside the value that it names", y.Value)
		}
		c.open[y.Alias] = true
		c.inAlias++
		n = c.convert(y.Alias, depth)
		c.inAlias--
		delete(c.open, y.Alias)
	case yaml.SequenceNode:
		n.kind = kindArray
		for _, item := range y.Content {
			n.items = append(n.items, c.convert(item, depth+1))
		}
	case yaml.MappingNode:
		c.object(n, y, depth)
	default:
		c.scalar(n, y)
	}
	return n
}

func (c *yamlConverter) fail(place *node, hint, format string, args ...any) *node {
	c.failed = true
	c.add(ruleSyntax, hint, place, format, args...)
	return nil
}

func (c *yamlConverter) object(n *node, y *yaml.Node, depth int) {
	n.kind = kindObject
	keys := c.newKeys(len(y.Content) / 2)
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		place := &node{kind: kindString, text: key.Value, line: y.Content[i].Line, column: y.Content[i].Column}
		if key.Kind != yaml.ScalarNode {
			c.add(ruleSyntax, "", place, "a key is a list or an object, where only text can be")
			continue
		}
		value := c.convert(y.Content[i+1], depth+1)
		if c.failed {
			return
		}
		if key.ShortTag() == "!!merge" {
			if value.kind == kindArray {
				merged = append(merged, value.items...)
			} else {
				merged = append(merged, value)
			}
			continue
		}
		if keys.add(place) {
			n.fields = append(n.fields, field{place, value})
		}
	}
	// What an object says itself wins over what it merges; of several merged ones the first wins.
	for _, m := range merged {
		if m.kind != kindObject {
			c.add(signpost.RuleWrongType, "<< takes an alias of an object, such as <<: *defaults", m, "<< cannot merge %s", m.kind)
			continue
		}
		for _, f := range m.fields {
			if keys.first[f.key.text] == nil {
				keys.first[f.key.text] = f.key
				n.fields = append(n.fields, f)
			}
		}
	}
}

// jsonNumber is the form in which a number may be written, in YAML too: it is served as it stands.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func (c *yamlConverter) scalar(n *node, y *yaml.Node) {
	n.kind, n.text = kindString, y.Value
	plain := y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.kind = kindNull
	case "!!bool":
		n.kind, n.text = kindBool, strings.ToLower(y.Value)
	case "!!int", "!!float":
		n.kind = kindNumber
		c.checkNumber(n)
	case "!!str":
		// YAML reads a number that is too large as text, unless it was told to.
		if plain && y.Style&yaml.TaggedStyle == 0 && jsonNumber.MatchString(y.Value) {
			n.kind = kindNumber
			c.checkNumber(n)
		}
	case "!!timestamp":
		n.broken = true
		c.add(signpost.RuleWrongType, "put it in quotes", n, "%s is a date to YAML, not text", y.Value)
	case "!!merge": // a value that happens to be <<
	default:
		n.broken = true
		c.add(signpost.RuleWrongType, "leave the tag out", n, "tag %s is not supported", tag)
	}
}

// checkNumber reports a number that would not be served as the number that it looks like.
func (p *parser) checkNumber(n *node) {
	f, err := strconv.ParseFloat(n.text, 64)
	if jsonNumber.MatchString(n.text) && err == nil && !math.IsInf(f, 0) {
		return
	}
	n.broken = true
	p.add(signpost.RuleWrongType, "put it in quotes if it is text; if it is a number, write it in plain digits", n,
		"%s is not a plain number", n.text)
}
