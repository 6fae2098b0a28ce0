package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parseJSON returns the tree of a JSON document, or nil with findings. The standard library's stream is
// used because it gives the offset of every token; YAML parsers read JSON only roughly.
func (p *parser) parseJSON() *node {
	r := jsonReader{parser: p, dec: json.NewDecoder(bytes.NewReader(p.source.text)), line: 1, column: 1}
	r.dec.UseNumber()

	var raw json.RawMessage
	if err := json.Unmarshal(p.source.text, &raw); err != nil {
		message := err.Error()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at := int(syntax.Offset)
			if at < len(p.source.text) || message != "unexpected end of JSON input" {
				at-- // the offset is behind the character that is wrong
			}
			r.advance(at)
		}
		hint := ""
		if before := bytes.TrimSpace(p.source.text[:r.offset]); bytes.HasSuffix(before, []byte(",")) {
			hint = "JSON has no comma after the last item"
		}
		p.add(ruleSyntax, hint, &node{line: r.line, column: r.column}, "%s", message)
		return nil
	}
	return r.value(0)
}

// jsonReader reads tokens and knows where each one starts.
type jsonReader struct {
	*parser
	dec          *json.Decoder
	offset       int // line and column are the place of this byte
	line, column int
}

// advance moves the place to an offset at or behind the present one.
func (r *jsonReader) advance(to int) {
	for r.offset < to && r.offset < len(r.source.text) {
		if r.source.text[r.offset] == '\n' {
			r.line, r.column = r.line+1, 1
			r.offset++
			continue
		}
		_, size := utf8.DecodeRune(r.source.text[r.offset:])
		r.offset += size
		r.column++
	}
}

// token returns the next token and a node at its place. The document is known to be valid JSON.
func (r *jsonReader) token() (json.Token, *node) {
	start := int(r.dec.InputOffset())
	for start < len(r.source.text) && strings.IndexByte(" \t\r\n,:", r.source.text[start]) >= 0 {
		start++
	}
	r.advance(start)
	token, _ := r.dec.Token()
	return token, &node{line: r.line, column: r.column}
}

// value returns nil where the document is too deep to go on.
func (r *jsonReader) value(depth int) *node {
	token, n := r.token()
	if depth > maxDepth {
		r.add(ruleSyntax, "a definition is never that deep", n, "nested more than %d levels deep", maxDepth)
		return nil
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return r.object(n, depth)
		}
		n.kind = kindArray
		for r.dec.More() {
			item := r.value(depth + 1)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
		}
		r.token() // the closing bracket
	case string:
		n.kind, n.text = kindString, token
	case json.Number:
		n.kind, n.text = kindNumber, token.String()
		r.checkNumber(n)
	case bool:
		n.kind, n.text = kindBool, strconv.FormatBool(token)
	default:
		n.kind = kindNull
	}
	return n
}

func (r *jsonReader) object(n *node, depth int) *node {
	n.kind = kindObject
	keys := r.newKeys(0)
	for r.dec.More() {
		token, key := r.token()
		key.kind, key.text = kindString, token.(string) // a key of an object is always a string
		value := r.value(depth + 1)
		if value == nil {
			return nil
		}
		if keys.add(key) {
			n.fields = append(n.fields, field{key, value})
		}
	}
	r.token() // the closing brace
	return n
}
