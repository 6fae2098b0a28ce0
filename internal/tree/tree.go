// Package tree parses YAML and JSON into a common tree in which every key and value knows its position in the text.
// [Parse] a text, check the [Document]'s problems, then walk its root.
package tree

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the JSON type of a node. Its string form fits into messages: "must be a list, not text".
type Kind uint8

// Kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "text", "a list", "an object"}[k]
}

// Style is how a node is written.
type Style uint8

// Styles of nodes. JSON has DoubleQuoted text and Flow collections.
const (
	Plain        Style = iota // a scalar without quotes, or a block collection
	DoubleQuoted              // "text"
	SingleQuoted              // 'text'
	BlockText                 // | or >
	Flow                      // in brackets or braces
)

// Node is a key or a value. A YAML alias is represented by the node that it refers to, so a node can occur in several
// places; its position is that of the anchor.
type Node struct {
	Kind   Kind
	Style  Style
	Date   bool    // plain YAML text that other parsers read as a date
	Text   string  // text; for a number or Boolean, its JSON form
	Fields []Field // of an object, in file order, without duplicates
	Items  []*Node // of a list

	start, end int32 // byte offsets in doc.Text
	doc        *Document
	index      map[string]int // positions in Fields by key; nil for small objects
}

// Field is a key of an object with its value.
type Field struct{ Key, Value *Node }

// Start returns the byte offset of the node in the document's text.
func (n *Node) Start() int { return int(n.start) }

// End returns the byte offset after the node.
func (n *Node) End() int { return int(n.end) }

// Document returns the document that the node is part of.
func (n *Node) Document() *Document { return n.doc }

// Line returns the line on which the node starts. Lines count from 1.
func (n *Node) Line() int {
	line, _ := n.doc.Position(n.Start())
	return line
}

// Field returns the key and value of a field, or nil. n may be nil.
func (n *Node) Field(name string) (key, value *Node) {
	if n == nil {
		return nil, nil
	}
	if n.index != nil {
		if i, ok := n.index[name]; ok {
			return n.Fields[i].Key, n.Fields[i].Value
		}
		return nil, nil
	}
	for _, f := range n.Fields {
		if f.Key.Text == name {
			return f.Key, f.Value
		}
	}
	return nil, nil
}

// Has reports whether the object has a field. n may be nil.
func (n *Node) Has(name string) bool {
	key, _ := n.Field(name)
	return key != nil
}

// none stands for the value of every field that is missing.
var none = new(Node)

// Get returns the value of a field, or an empty node that must not be changed. n may be nil.
func (n *Node) Get(name string) *Node {
	if _, value := n.Field(name); value != nil {
		return value
	}
	return none
}

// smallObject is the number of fields up to which a linear search is as fast as a map.
const smallObject = 12

// add appends a field, unless the object already has the key.
func (n *Node) add(f Field) bool {
	if n.Has(f.Key.Text) {
		return false
	}
	if n.index != nil {
		n.index[f.Key.Text] = len(n.Fields)
	}
	n.Fields = append(n.Fields, f)
	if n.index == nil && len(n.Fields) > smallObject {
		n.index = make(map[string]int, 2*len(n.Fields))
		for i, f := range n.Fields {
			n.index[f.Key.Text] = i
		}
	}
	return true
}

// ProblemKind classifies problems.
type ProblemKind uint8

// Kinds of problems.
const (
	Syntax       ProblemKind = iota // the text cannot be parsed, and there is no root
	TooLarge                        // the text exceeds a limit, and there is no root
	DuplicateKey                    // a duplicate key; the first one counts
	BadKey                          // a key that is not text; the field is dropped
	BadValue                        // a scalar that JSON cannot represent as written
)

// Problem is something wrong with the text.
type Problem struct {
	Kind    ProblemKind
	Message string
	Hint    string
	At      *Node // location
	Value   *Node // the affected node of the tree, if any
}

// Document is a parsed text.
type Document struct {
	Text     []byte // without a byte order mark
	JSON     bool
	Root     *Node // nil if the text is empty or could not be parsed
	Failed   bool  // the text could not be parsed
	Problems []Problem

	lines  []int32 // start offset of each line
	counts []count // of characters, every stride bytes
	ascii  bool    // every character is a single byte
	left   int     // number of values that may still be added, with aliases expanded
}

const (
	// MaxSize is the maximum size of a text in bytes. A hundred thousand endpoints with modifiers fit.
	MaxSize = 64 << 20

	// maxDepth limits nesting. Hand-written documents stay far below it, and recursion up to it is cheap.
	maxDepth = 1000

	// freeValues and bytesPerValue limit the number of values, because a value takes memory however short its text is, up
	// to a kilobyte in the YAML library: a text may have freeValues, and one for every bytesPerValue bytes. What aliases
	// repeat counts every time. Compact JSON has 5 bytes per key or value, YAML about 10.
	freeValues    = 100_000
	bytesPerValue = 4

	// maxProblems limits the number of problems of a document. Nobody reads more.
	maxProblems = 1000
)

// ByteOrderMark may precede a text and is not part of it.
const ByteOrderMark = "\ufeff"

// Parsed counts the calls of [Parse] for tests: it is most of what a change of a definition costs.
var Parsed atomic.Int64

// Parse parses a text, either JSON or YAML. Problems are reported in the Document.
func Parse(text []byte, json bool) *Document {
	Parsed.Add(1)
	large := len(text) > MaxSize
	if large {
		text = nil // too large to quote
	}
	decoded, wide := DecodeUTF16(text)
	if wide {
		text = decoded // to quote it
	}
	d := Positions(text, json)
	switch {
	case large:
		d.tooLarge(0, "the file is larger than %d MiB", MaxSize>>20)
	case wide:
		d.syntax(0, 0, "save it as UTF-8; in Windows PowerShell, write it with Out-File -Encoding utf8",
			"the file is UTF-16")
	case !utf8.Valid(d.Text):
		at := bytes.IndexRune(d.Text, utf8.RuneError)
		d.syntax(at, at+1, "save the file as UTF-8", "the file is not UTF-8 text")
	case d.JSON:
		d.Root = d.parseJSON()
	default:
		d.Root = d.parseYAML()
	}
	if d.Failed {
		d.Root = nil
	}
	return d
}

// DecodeUTF16 returns a text that is UTF-16 as UTF-8, and whether it is: it begins with a byte order mark, or one of its
// first two bytes is zero.
func DecodeUTF16(text []byte) ([]byte, bool) {
	if len(text) < 2 {
		return nil, false
	}
	order := binary.ByteOrder(binary.LittleEndian)
	switch first, second := text[0], text[1]; {
	case first == 0xff && second == 0xfe, first != 0 && second == 0:
	case first == 0xfe && second == 0xff, first == 0 && second != 0:
		order = binary.BigEndian
	default:
		return nil, false
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(strings.TrimPrefix(string(utf16.Decode(units)), ByteOrderMark)), true
}

// Positions returns a document that only converts positions; the text is not parsed.
func Positions(text []byte, json bool) *Document {
	d := &Document{Text: bytes.TrimPrefix(text, []byte(ByteOrderMark)), JSON: json}
	d.left = freeValues + len(d.Text)/bytesPerValue
	d.findLines()
	return d
}

// NodeAt returns a node for a piece of the text that is not a value, such as a comment.
func (d *Document) NodeAt(start, end int) *Node {
	return &Node{Kind: String, Text: string(d.Text[start:end]), start: int32(start), end: int32(end), doc: d}
}

// problem reports a problem of the node at a position, and returns it for what else is known about it.
func (d *Document) problem(kind ProblemKind, at *Node, hint, format string, args ...any) *Problem {
	p := Problem{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint, At: at, Value: at}
	fails := kind <= TooLarge
	d.Failed = d.Failed || fails
	if len(d.Problems) >= maxProblems && !fails {
		return &p
	}
	d.Problems = append(d.Problems, p)
	return &d.Problems[len(d.Problems)-1]
}

// syntax reports that the text between two offsets cannot be parsed. It returns true, as an explanation that applies
// does.
func (d *Document) syntax(start, end int, hint, format string, args ...any) bool {
	start = min(start, len(d.Text))
	at := &Node{start: int32(start), end: int32(max(start, min(end, len(d.Text)))), doc: d}
	d.problem(Syntax, at, hint, format, args...)
	return true
}

func (d *Document) tooLarge(at int, format string, args ...any) {
	d.problem(TooLarge, d.NodeAt(at, min(at+1, len(d.Text))), "split it into several files", format, args...)
}

func (d *Document) tooDeep(at int) bool {
	d.problem(TooLarge, d.NodeAt(at, min(at+1, len(d.Text))), "a definition is never that deep",
		"nested more than %d levels deep", maxDepth)
	return true
}

const tooManyValues = "too many values for a file of this size, with aliases expanded"

// exceeds reports whether the document is nested too deep or has too many values.
func (d *Document) exceeds(at, depth int) bool {
	switch {
	case depth > maxDepth:
		d.tooDeep(at)
	case d.left < 0:
		d.tooLarge(at, tooManyValues)
	}
	return d.Failed
}

// Rename gives a field of an object another name, for a reader that knows which one was meant.
func (n *Node) Rename(key *Node, name string) {
	if n.index != nil {
		n.index[name] = n.index[key.Text]
	}
	key.Text = name
}

// With returns a copy of an object that has other fields, for a reader that knows where they belong.
func (n *Node) With(fields ...Field) *Node {
	object := &Node{Kind: Object, Style: n.Style, start: n.start, end: n.end, doc: n.doc}
	for _, f := range fields {
		object.add(f)
	}
	return object
}
