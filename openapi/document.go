package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"signpost/internal/tree"
)

// MaxSize is the maximum size in bytes of a document together with the files that it refers to.
const MaxSize = tree.MaxSize

// maxDepth limits chains of references.
const maxDepth = 32

// file is a document, or a file that one refers to.
type file struct {
	path string // path in Options.Files
	name string // name in notes
	root *node
	err  error // why there is no root
}

// node is a value of a YAML or JSON file. References are not resolved in advance: the importer follows only the few
// that it needs, so mistakes elsewhere in the document do no harm. All methods accept a nil node.
type node struct {
	kind   kind
	text   string // of a scalar, as written
	keys   []string
	fields map[string]*node
	items  []*node
	flat   string // the text on one line, computed on first use
	line   int
	file   *file
}

type kind string

const (
	object kind = "an object"
	list   kind = "a list"
	text   kind = "text"
	number kind = "a number"
	truth  kind = "true or false"
	null   kind = "null"
)

func (n *node) is(k kind) bool { return n != nil && n.kind == k }

func (n *node) isScalar() bool { return n.is(text) || n.is(number) || n.is(truth) }

func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	return n.fields[key]
}

// names returns the keys of an object, in file order.
func (n *node) names() []string {
	if n == nil {
		return nil
	}
	return n.keys
}

// list returns the items of a list. A single value counts as a list of one.
func (n *node) list() []*node {
	switch {
	case n == nil || n.is(null):
		return nil
	case n.is(list):
		return n.items
	}
	return []*node{n}
}

// string returns a scalar on one line, or "".
func (n *node) string() string {
	if !n.isScalar() {
		return ""
	}
	if n.flat == "" {
		n.flat = oneLine(n.text)
	}
	return n.flat
}

// isTrue accepts what people write for true, including quoted forms.
func (n *node) isTrue() bool {
	s := strings.ToLower(n.string())
	return s == "true" || s == "yes"
}

// loader reads the files of a document and resolves references.
type loader struct {
	files   fs.FS
	folder  string           // of the document; other files are named relative to it
	loaded  map[string]*file // by path
	size    int              // bytes read
	repeats []*node          // duplicate keys
	targets map[*node]target // resolved references
}

// target is what a reference points to, or the reason why it points to nothing.
type target struct {
	node *node
	err  error
}

// parse parses a file.
func (l *loader) parse(f *file, content []byte) (*node, error) {
	if l.size += len(content); l.size > MaxSize {
		return nil, fmt.Errorf("the document is larger than %d MiB", MaxSize>>20)
	}
	doc := tree.Parse(content, tree.Options{JSON: json.Valid(bytes.TrimPrefix(content, []byte(tree.ByteOrderMark)))})
	for _, p := range doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return nil, fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			l.repeats = append(l.repeats, &node{text: p.At.Text, line: p.At.Line(), file: f})
		}
	}
	if doc.Root == nil {
		return nil, errors.New("the file is empty")
	}
	c := converter{f, make(map[*tree.Node]*node)}
	return c.convert(doc.Root, doc.Root.Line()), nil
}

// converter converts the nodes of a parsed file. An aliased node stays a single node, so nothing is expanded.
type converter struct {
	file *file
	done map[*tree.Node]*node // collections only: aliases of scalars are cheap
}

// convert returns the node of a value. line is that of its key or, without a key, its own.
func (c converter) convert(t *tree.Node, line int) *node {
	if n := c.done[t]; n != nil {
		return n
	}
	n := &node{kind: kind(t.Kind.String()), text: t.Text, line: line, file: c.file}
	switch t.Kind {
	case tree.List:
		c.done[t] = n
		for _, item := range t.Items {
			n.items = append(n.items, c.convert(item, item.Line()))
		}
	case tree.Object:
		c.done[t] = n
		n.fields = make(map[string]*node, len(t.Fields))
		for _, f := range t.Fields {
			n.keys = append(n.keys, f.Key.Text)
			n.fields[f.Key.Text] = c.convert(f.Value, f.Key.Line()) // the line of the key, where people look
		}
	}
	return n
}

// deref follows a reference to what it stands for. Any other node is returned as is.
func (l *loader) deref(n *node) (*node, error) {
	for range maxDepth {
		next, err := l.target(n)
		if err != nil || next == nil {
			return n, err
		}
		n = next
	}
	return nil, fmt.Errorf("reference %q leads to nothing but references", short(n.get("$ref").string()))
}

// target returns what a reference points to, or nil if the node is not a reference.
func (l *loader) target(n *node) (*node, error) {
	ref := n.get("$ref")
	if !ref.is(text) {
		return nil, nil
	}
	t, known := l.targets[n]
	if !known {
		if t.node, t.err = l.find(n.file, ref.text); t.err != nil {
			t.err = fmt.Errorf("reference %q %w", short(ref.text), t.err)
		}
		l.targets[n] = t
	}
	return t.node, t.err
}

// pointerEscapes undoes the escapes of a JSON pointer.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// find returns what a reference in a file points to. Its errors complete a message that starts with "reference …".
func (l *loader) find(in *file, ref string) (*node, error) {
	name, pointer, _ := strings.Cut(ref, "#")
	if name != "" {
		u, err := url.Parse(name)
		if err != nil || u.Scheme != "" || u.Host != "" {
			return nil, errors.New("is not a file path: remote references are not fetched")
		}
		if in = l.open(path.Join(path.Dir(in.path), u.Path)); in.err != nil {
			return nil, fmt.Errorf("leads to a file that cannot be read: %w", in.err)
		}
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, errors.New("has no path after the #, such as #/components/parameters/limit")
	}
	n := in.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = pointerEscapes.Replace(key)
		next := n.get(key)
		if i, err := strconv.ParseUint(key, 10, 31); err == nil && n.is(list) && int(i) < len(n.items) {
			next = n.items[i]
		}
		if n = next; n == nil {
			return nil, fmt.Errorf("points to nothing: there is no %q", short(key))
		}
	}
	return n, nil
}

// open reads a file that the document refers to. Each file is read once.
func (l *loader) open(path string) *file {
	if f := l.loaded[path]; f != nil {
		return f
	}
	f := &file{path: path, name: filepath.Join(l.folder, filepath.FromSlash(path))}
	l.loaded[path] = f
	content, err := l.read(path)
	if err == nil {
		f.root, err = l.parse(f, content)
	}
	f.err = err
	return f
}

func (l *loader) read(path string) ([]byte, error) {
	if l.files == nil {
		return nil, errors.New("the document came without its directory")
	}
	if !fs.ValidPath(path) {
		return nil, errors.New("it is outside the directory within which references are followed (--root)")
	}
	in, err := l.files.Open(path)
	if err == nil {
		defer in.Close()
		var content []byte
		if content, err = io.ReadAll(io.LimitReader(in, MaxSize+1)); err == nil {
			return content, nil
		}
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // the reference already names the path
	}
	return nil, err
}
