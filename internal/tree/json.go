package tree

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// parseJSON returns the root of a JSON document, or nil and problems. It uses the token stream of encoding/json because
// that gives the offset of every token; YAML parsers only approximate JSON.
func (d *Document) parseJSON() *Node {
	if len(bytes.TrimSpace(d.Text)) == 0 {
		return nil
	}
	if err := json.Unmarshal(d.Text, new(ignored)); err != nil {
		d.explainJSON(err)
		return nil
	}
	r := jsonReader{Document: d, dec: json.NewDecoder(bytes.NewReader(d.Text)), left: d.maxValues()}
	r.dec.UseNumber()
	return r.value(0)
}

// ignored accepts any JSON, so decoding into it only checks the syntax.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

// jsonReader reads the tokens of a document that is known to be valid.
type jsonReader struct {
	*Document
	dec  *json.Decoder
	left int // number of nodes that may still be added
}

// token returns the next token and a node with its position.
func (r *jsonReader) token() (json.Token, *Node) {
	start := int(r.dec.InputOffset())
	for start < len(r.Text) && strings.IndexByte(" \t\r\n,:", r.Text[start]) >= 0 {
		start++
	}
	token, _ := r.dec.Token()
	r.left--
	return token, &Node{start: int32(start), end: int32(r.dec.InputOffset()), doc: r.Document}
}

// value returns nil if the document is nested too deep or too large.
func (r *jsonReader) value(depth int) *Node {
	token, n := r.token()
	switch {
	case depth > maxDepth:
		r.tooDeep(n.Start())
		return nil
	case r.left < 0:
		r.tooLarge(n.Start(), tooManyValues)
		return nil
	}
	switch token := token.(type) {
	case json.Delim:
		n.Style = Flow
		if token == '{' {
			return r.object(n, depth)
		}
		n.Kind = List
		for r.dec.More() {
			item := r.value(depth + 1)
			if item == nil {
				return nil
			}
			n.Items = append(n.Items, item)
		}
		r.close(n)
	case string:
		n.Kind, n.Style, n.Text = String, DoubleQuoted, token
	case json.Number:
		n.Kind, n.Text = Number, token.String()
		r.checkNumber(n)
	case bool:
		n.Kind, n.Text = Bool, strconv.FormatBool(token)
	}
	return n
}

func (r *jsonReader) object(n *Node, depth int) *Node {
	n.Kind = Object
	for r.dec.More() {
		token, key := r.token()
		key.Kind, key.Style, key.Text = String, DoubleQuoted, token.(string) // object keys are always strings
		value := r.value(depth + 1)
		if value == nil {
			return nil
		}
		r.addField(n, Field{key, value})
	}
	r.close(n)
	return n
}

// close reads the closing bracket of a collection.
func (r *jsonReader) close(n *Node) {
	r.dec.Token()
	n.end = int32(r.dec.InputOffset())
}

// addField adds a field to an object, or reports a duplicate key.
func (d *Document) addField(n *Node, f Field) {
	if n.add(f) {
		return
	}
	first, _ := n.Field(f.Key.Text)
	line, column := d.Position(first.Start())
	d.problem(DuplicateKey, f.Key, "keep one of the two", "%q is already used on line %d, column %d", f.Key.Text, line, column)
}

// jsonNumber matches numbers that may be written in a document, including YAML, because they are served as written.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// checkNumber reports a number that would not be served as the number that it looks like.
func (d *Document) checkNumber(n *Node) {
	f, err := strconv.ParseFloat(n.Text, 64)
	if jsonNumber.MatchString(n.Text) && err == nil && !math.IsInf(f, 0) {
		return
	}
	d.problem(BadValue, n, "put it in quotes if it is text; if it is a number, write it in plain digits", "%s is not a plain number", n.Text)
}
