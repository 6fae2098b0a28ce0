// Package tree reads YAML and JSON into one kind of tree, in which every key and value knows the bytes that
// it was written with. [Parse] a text, look at the [Document]'s problems, then walk its root.
package tree

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Kind is the JSON type of a node. Its text fits into messages: "must be a list, not text".
type Kind uint8

// The kinds of nodes.
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

// Style is the way in which a node is written.
type Style uint8

// The styles of nodes. JSON has DoubleQuoted text and Flow collections.
const (
	Plain        Style = iota // a scalar without quotes, or a block collection
	DoubleQuoted              // "text"
	SingleQuoted              // 'text'
	BlockText                 // after | or >
	Flow                      // in brackets or braces
)

// Node is a key or a value. A YAML alias is the very node that it stands for, so one node can be in several
// places; its position is where it is written out.
type Node struct {
	Kind   Kind
	Style  Style
	Date   bool    // plain YAML text that other parsers take for a date
	Text   string  // text, or a number or Boolean in its JSON form
	Fields []Field // of an object, in the order of the file, each key once
	Items  []*Node // of a list

	start, end int32 // byte offsets in doc.Text
	doc        *Document
	index      map[string]int // positions in Fields by key; nil for small objects
}

// Field is a key of an object with its value.
type Field struct{ Key, Value *Node }

// Start returns the byte offset in the document's text at which the node starts.
func (n *Node) Start() int { return int(n.start) }

// End returns the byte offset just behind the node.
func (n *Node) End() int { return int(n.end) }

// Line returns the line on which the node starts, counted from 1.
func (n *Node) Line() int {
	line, _ := n.doc.Position(n.Start())
	return line
}

// Field returns the key and the value of a field, or nil.
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

// add appends a field, unless the object has the key already.
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

// ProblemKind says what a problem is about.
type ProblemKind uint8

// The kinds of problems.
const (
	Syntax       ProblemKind = iota // the text cannot be read, and there is no root
	DuplicateKey                    // a key is repeated; the first counts
	BadKey                          // a key is not text; its field is left out
	BadValue                        // a scalar that JSON could not carry as it is written
)

// Problem is something wrong with the text, found while reading it.
type Problem struct {
	Kind    ProblemKind
	Message string
	Hint    string
	At      *Node // where it is
	Value   *Node // the node of the tree that cannot be used, if there is one
}

// Document is a text and what it says.
type Document struct {
	Text     []byte // without a byte order mark
	BOM      bool   // whether the text began with one
	JSON     bool
	Root     *Node // nil if the text is empty or has a Syntax problem
	Problems []Problem

	index index
}

// Options are the format and the limits of a document.
type Options struct {
	JSON     bool // read JSON, not YAML
	MaxDepth int  // how deep values may be nested; 0 means DefaultMaxDepth

	// ExpandAliases counts what an alias stands for as often as it is used. Set it to walk the whole tree:
	// aliases of aliases take no memory, but the walk takes time for each.
	ExpandAliases bool
}

// MaxSize bounds a text, in bytes. A hundred thousand endpoints with modifiers fit into it.
const MaxSize = 64 << 20

// DefaultMaxDepth bounds nesting. Hand-written documents stay far below it, and recursion is cheap up to it.
const DefaultMaxDepth = 1000

// The number of nodes is bounded apart from the number of bytes, because a node takes 100 bytes of memory
// however short its text is. A text may have freeNodes nodes and one more for every bytesPerNode bytes.
// Compact JSON has 5 bytes or more for each node, YAML about 10.
const (
	freeNodes    = 100_000
	bytesPerNode = 4
)

// maxNodes returns how many nodes a text may have, those of expanded aliases included.
func maxNodes(size int) int { return freeNodes + size/bytesPerNode }

// ByteOrderMark may stand in front of a text, and is not part of it.
const ByteOrderMark = "\ufeff"

// Parse reads a text. Whatever is wrong with it is in the document's problems.
func Parse(text []byte, opts Options) *Document {
	d := &Document{JSON: opts.JSON}
	if opts.MaxDepth == 0 {
		opts.MaxDepth = DefaultMaxDepth
	}
	d.Text, d.BOM = bytes.CutPrefix(text, []byte(ByteOrderMark))
	if len(d.Text) > MaxSize {
		d.Text = nil // not worth showing
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

// Positions returns a document for finding positions in a text, which is not read.
func Positions(text []byte, json bool) *Document {
	d := &Document{JSON: json}
	d.Text, d.BOM = bytes.CutPrefix(text, []byte(ByteOrderMark))
	d.index = newIndex(d)
	return d
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
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

// Failed reports whether the text could not be read.
func (d *Document) Failed() bool {
	for _, p := range d.Problems {
		if p.Kind == Syntax {
			return true
		}
	}
	return false
}

// NodeAt returns a node for a stretch of the text that is not a value, such as a comment.
func (d *Document) NodeAt(start, end int) *Node {
	return &Node{Kind: String, Text: string(d.Text[start:end]), start: int32(start), end: int32(end), doc: d}
}

// MaxProblems bounds the problems of a document. Nobody reads more, and each takes memory.
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
