// Package tree parses YAML and JSON into a common tree in which every key and value knows its position in the text.
// [Parse] a text, check the [Document]'s problems, then walk its root.
package tree

import (
	"bytes"
	"fmt"
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

// Field returns the key and value of a field, or nil.
func (n *Node) Field(name string) (key, value *Node) {
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

// smallObject is the number of fields up to which a linear search is as fast as a map.
const smallObject = 12

// add appends a field, unless the object already has the key.
func (n *Node) add(f Field) bool {
	if key, _ := n.Field(f.Key.Text); key != nil {
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
	BOM      bool   // whether the text began with one
	JSON     bool
	Root     *Node // nil if the text is empty or has a Syntax problem
	Problems []Problem

	index index
}

// Options specify the format and the limits of a document.
type Options struct {
	JSON     bool // read JSON, not YAML
	MaxDepth int  // maximum nesting depth; 0 means DefaultMaxDepth

	// ExpandAliases counts the nodes behind an alias every time it is used. Set it if you walk the whole tree: nested
	// aliases take no memory, but walking them takes time.
	ExpandAliases bool
}

// MaxSize is the maximum size of a text in bytes. A hundred thousand endpoints with modifiers fit.
const MaxSize = 64 << 20

// DefaultMaxDepth limits nesting. Hand-written documents stay far below it, and recursion up to it is cheap.
const DefaultMaxDepth = 1000

// The number of nodes has a limit of its own, because a node takes 100 bytes of memory however short its text is. A
// text may have freeNodes nodes plus one for every bytesPerNode bytes. Compact JSON has at least 5 bytes per node, YAML
// about 10.
const (
	freeNodes    = 100_000
	bytesPerNode = 4
)

// maxNodes returns the maximum number of nodes for a text, including expanded aliases.
func maxNodes(size int) int { return freeNodes + size/bytesPerNode }

// ByteOrderMark may precede a text and is not part of it.
const ByteOrderMark = "\ufeff"

// Parse parses a text. Problems are reported in the Document.
func Parse(text []byte, opts Options) *Document {
	d := &Document{JSON: opts.JSON}
	if opts.MaxDepth == 0 {
		opts.MaxDepth = DefaultMaxDepth
	}
	d.Text, d.BOM = bytes.CutPrefix(text, []byte(ByteOrderMark))
	if len(d.Text) > MaxSize {
		d.Text = nil // too large to quote
		d.index = newIndex(d)
		d.syntax("split it into several files", 0, 0, "the file is larger than %d MiB", MaxSize>>20)
		return d
	}
	d.index = newIndex(d)
	if at := invalidUTF8(d.Text); at >= 0 {
		d.syntax("save the file as UTF-8", at, at+1, "the file is not UTF-8 text")
		return d
	}
	if d.JSON {
		d.Root = d.parseJSON(opts.MaxDepth)
	} else {
		d.Root = d.parseYAML(opts)
	}
	return d
}

// Positions returns a document that only converts positions; the text is not parsed.
func Positions(text []byte, json bool) *Document {
	d := &Document{JSON: json}
	d.Text, d.BOM = bytes.CutPrefix(text, []byte(ByteOrderMark))
	d.index = newIndex(d)
	return d
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// Failed reports whether the text could not be parsed.
func (d *Document) Failed() bool {
	for _, p := range d.Problems {
		if p.Kind == Syntax {
			return true
		}
	}
	return false
}

// NodeAt returns a node for a piece of the text that is not a value, such as a comment.
func (d *Document) NodeAt(start, end int) *Node {
	return &Node{Kind: String, Text: string(d.Text[start:end]), start: int32(start), end: int32(end), doc: d}
}

// MaxProblems limits the number of problems of a document. Nobody reads more, and each takes memory.
const MaxProblems = 10_000

func (d *Document) problem(kind ProblemKind, at *Node, hint, format string, args ...any) {
	if len(d.Problems) >= MaxProblems && kind != Syntax {
		return
	}
	d.Problems = append(d.Problems, Problem{Kind: kind, Message: fmt.Sprintf(format, args...), Hint: hint, At: at, Value: at})
}

func (d *Document) syntax(hint string, start, end int, format string, args ...any) {
	start = min(start, len(d.Text))
	at := &Node{start: int32(start), end: int32(max(start, min(end, len(d.Text)))), doc: d}
	d.problem(Syntax, at, hint, format, args...)
}
