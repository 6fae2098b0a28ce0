package tree

import (
	"bytes"
	"encoding/json"
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
	if err := json.Unmarshal(d.Text, new(json.RawMessage)); err != nil { // checks the syntax
		d.explainJSON(err)
		return nil
	}
	r := jsonReader{d, json.NewDecoder(bytes.NewReader(d.Text))}
	r.dec.UseNumber()
	return r.value(0)
}

// jsonReader reads the tokens of a document that is known to be valid.
type jsonReader struct {
	*Document
	dec *json.Decoder
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

// value returns the next value. If the document is nested too deep or too large, it reports that; nobody looks at the
// tree then.
func (r *jsonReader) value(depth int) *Node {
	token, n := r.token()
	if r.exceeds(n.Start(), depth) {
		return n
	}
	switch token := token.(type) {
	case json.Delim:
		n.Kind, n.Style = List, Flow
		if token == '{' {
			n.Kind = Object
		}
		for r.dec.More() && !r.Failed {
			r.child(n, depth+1)
		}
		r.dec.Token() // the closing bracket
		n.end = int32(r.dec.InputOffset())
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

// child reads an item of a list or a field of an object.
func (r *jsonReader) child(n *Node, depth int) {
	if n.Kind == List {
		n.Items = append(n.Items, r.value(depth))
		return
	}
	token, key := r.token()
	key.Kind, key.Style, key.Text = String, DoubleQuoted, token.(string) // object keys are always strings
	if value := r.value(depth); !r.Failed {
		r.addField(n, Field{key, value})
	}
}

// addField adds a field to an object, or reports a duplicate key.
func (d *Document) addField(n *Node, f Field) {
	if n.add(f) {
		return
	}
	first, _ := n.Field(f.Key.Text)
	line, column := d.Position(first.Start())
	d.problem(DuplicateKey, f.Key, "keep one of the two", "%q is already used on line %d, column %d", f.Key.Text,
		line, column)
}

// jsonNumber matches numbers that may be written in a document, including YAML, because they are served as written.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// checkNumber reports a number that would not be served as the number that it looks like.
func (d *Document) checkNumber(n *Node) {
	if _, err := strconv.ParseFloat(n.Text, 64); err != nil || !jsonNumber.MatchString(n.Text) { // it may be out of range
		d.problem(BadValue, n, "put it in quotes if it is text; if it is a number, write it in plain digits",
			"%s is not a plain number", n.Text)
	}
}
