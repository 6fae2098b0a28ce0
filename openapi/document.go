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

	"go.yaml.in/yaml/v4"
)

// MaxSize bounds a document, together with the files that it refers to, in bytes.
const MaxSize = 64 << 20

// maxDepth bounds how far references lead to references, and schemas to schemas.
const maxDepth = 32

// file is a document, or a file that one refers to.
type file struct {
	path string // in Options.Files
	name string // in notes
	root *node
	err  error // why there is no root
}

// node is a value of a YAML or JSON file. Reading checks nothing and resolves nothing: the importer looks at
// the little that it needs, so that a mistake anywhere else does no harm. All methods take a nil node.
type node struct {
	kind   kind
	text   string // of a scalar, as written
	keys   []string
	fields map[string]*node
	items  []*node
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

// names returns the keys of an object, in the order of the file.
func (n *node) names() []string {
	if n == nil {
		return nil
	}
	return n.keys
}

// list returns the items of a list. A value alone, where a list belongs, is a list of one.
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
	return oneLine(n.text)
}

// isTrue takes what people write for true, in quotes too.
func (n *node) isTrue() bool {
	s := strings.ToLower(n.string())
	return s == "true" || s == "yes"
}

// loader reads the files of a document and finds what references point to.
type loader struct {
	files   fs.FS
	folder  string           // of the document, for the names of the others
	loaded  map[string]*file // by path
	size    int              // bytes read
	repeats []*node          // keys that stand in an object twice
}

// parse reads a file into a tree.
func (l *loader) parse(f *file, content []byte) (*node, error) {
	if l.size += len(content); l.size > MaxSize {
		return nil, fmt.Errorf("the document is larger than %d MiB", MaxSize>>20)
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if json.Valid(content) { // YAML parsers read JSON only roughly
		r := jsonReader{l, f, content, json.NewDecoder(bytes.NewReader(content)), 0, 1}
		r.dec.UseNumber()
		return r.value(), nil
	}
	var doc yaml.Node
	if err := yaml.Load(content, &doc); err != nil {
		var one *yaml.LoadError
		switch {
		case strings.Contains(err.Error(), "no documents in stream"):
			return nil, errors.New("the file is empty")
		case errors.As(err, &one) && one.Mark.Line > 0:
			return nil, fmt.Errorf("line %d: %s", one.Mark.Line, one.Message)
		}
		return nil, errors.New(oneLine(err.Error()))
	}
	c := yamlConverter{l, f, make(map[*yaml.Node]*node)}
	return c.value(doc.Content[0]), nil
}

// set adds a field to an object. Of a key that is there twice, the first counts.
func (l *loader) set(n *node, key string, value *node) {
	if n.fields[key] != nil {
		l.repeats = append(l.repeats, &node{text: key, line: value.line, file: n.file})
		return
	}
	n.keys = append(n.keys, key)
	n.fields[key] = value
}

// jsonReader reads a document that is known to be valid.
type jsonReader struct {
	*loader
	file    *file
	content []byte
	dec     *json.Decoder
	offset  int64
	line    int // at the offset
}

func (r *jsonReader) value() *node {
	token, _ := r.dec.Token()
	r.line += bytes.Count(r.content[r.offset:r.dec.InputOffset()], []byte("\n"))
	r.offset = r.dec.InputOffset()
	n := &node{kind: null, line: r.line, file: r.file}
	switch token := token.(type) {
	case json.Delim:
		n.kind = list
		if token == '{' {
			n.kind, n.fields = object, make(map[string]*node)
		}
		for r.dec.More() {
			item := r.value()
			if n.kind == list {
				n.items = append(n.items, item)
			} else {
				r.set(n, item.text, r.value())
			}
		}
		r.dec.Token() // the closing bracket
	case string:
		n.kind, n.text = text, token
	case json.Number:
		n.kind, n.text = number, token.String()
	case bool:
		n.kind, n.text = truth, strconv.FormatBool(token)
	}
	return n
}

// yamlConverter turns the nodes of the library into ours. An alias becomes the very node that it names, so
// that nothing is expanded.
type yamlConverter struct {
	*loader
	file *file
	done map[*yaml.Node]*node
}

func (c *yamlConverter) value(y *yaml.Node) *node {
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	if n := c.done[y]; n != nil {
		return n
	}
	n := &node{kind: text, text: y.Value, line: y.Line, file: c.file}
	c.done[y] = n
	switch y.ShortTag() {
	case "!!seq":
		n.kind = list
		for _, item := range y.Content {
			n.items = append(n.items, c.value(item))
		}
	case "!!map":
		n.kind, n.fields = object, make(map[string]*node)
		c.fields(n, y)
	case "!!null":
		n.kind = null
	case "!!bool":
		n.kind = truth
	case "!!int", "!!float":
		n.kind = number
	}
	return n
}

func (c *yamlConverter) fields(n *node, y *yaml.Node) {
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], c.value(y.Content[i+1])
		if y.Content[i+1].Kind != yaml.AliasNode {
			value.line = key.Line // where people look for it
		}
		if key.ShortTag() == "!!merge" {
			merged = append(append(merged, value), value.items...)
		} else {
			c.set(n, c.value(key).text, value)
		}
	}
	for _, m := range merged { // its own fields win, then those of the first that is merged
		for _, key := range m.keys {
			if n.fields[key] == nil {
				c.set(n, key, m.fields[key])
			}
		}
	}
}

// deref follows a reference, if the node is one, to what it stands for.
func (l *loader) deref(n *node) (*node, error) {
	for range maxDepth {
		next, err := l.target(n)
		if err != nil || next == nil {
			return n, err
		}
		n = next
	}
	return nil, fmt.Errorf("reference %q leads to nothing but references", n.get("$ref").string())
}

// target returns what a reference points to, or nil if the node is not a reference.
func (l *loader) target(n *node) (*node, error) {
	ref := n.get("$ref")
	if !ref.is(text) {
		return nil, nil
	}
	target, err := l.find(n.file, ref.text)
	if err != nil {
		return nil, fmt.Errorf("reference %q %w", ref.text, err)
	}
	return target, nil
}

// find returns what a reference in a file points to. Its errors go on from "reference …".
func (l *loader) find(in *file, ref string) (*node, error) {
	name, pointer, _ := strings.Cut(ref, "#")
	if name != "" {
		u, err := url.Parse(name)
		if err != nil || u.Scheme != "" || u.Host != "" {
			return nil, errors.New("is not the path of a file: nothing is fetched")
		}
		if in = l.open(path.Join(path.Dir(in.path), u.Path)); in.err != nil {
			return nil, fmt.Errorf("leads to a file that cannot be read: %w", in.err)
		}
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, errors.New("has no path behind its #, such as #/components/parameters/limit")
	}
	n := in.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		next := n.get(key)
		if i, err := strconv.ParseUint(key, 10, 31); err == nil && n.is(list) && int(i) < len(n.items) {
			next = n.items[i]
		}
		if n = next; n == nil {
			return nil, fmt.Errorf("points to nothing: there is no %q", key)
		}
	}
	return n, nil
}

// open reads a file that the document refers to, once.
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
		err = pathErr.Err // the reference names the path already
	}
	return nil, err
}
