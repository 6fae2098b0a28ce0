package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"signpost/internal/draft"
	"signpost/internal/tree"
)

// MaxSize is the maximum size in bytes of a document: of its files together.
const MaxSize = tree.MaxSize

// maxResolved is the maximum size in bytes of what references stand for, counting only those that are followed: ten
// times that of the largest documents that exist. Notes and options take a multiple of it in memory.
const maxResolved = 16 << 20

var errTooLarge = fmt.Errorf("the document is larger than %d MiB", MaxSize>>20)

// maxDepth limits chains of references.
const maxDepth = 32

// file is a document, or a file that one refers to.
type file struct {
	path string // path in Options.Files
	name string // name in notes
	root *tree.Node
	err  error // why there is no root
}

// parse parses a file.
func (im *importer) parse(f *file, content []byte) error {
	im.size += len(content)
	if im.size > MaxSize {
		return errTooLarge
	}
	doc := tree.Parse(content, json.Valid(bytes.TrimPrefix(content, []byte(tree.ByteOrderMark))))
	im.owners[doc] = f
	for _, p := range doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			im.repeats = append(im.repeats, p.At)
		}
	}
	f.root = doc.Root
	if f.root == nil {
		return errors.New("the file is empty")
	}
	return nil
}

// deref follows a reference to what it stands for. Any other node is returned as is, and nil for a reference that leads
// nowhere. Only references that matter to the definition are followed, so mistakes elsewhere in the document do no
// harm.
func (im *importer) deref(n *tree.Node) (*tree.Node, error) {
	for range maxDepth {
		next, err := im.target(n)
		switch {
		case err != nil:
			return nil, err
		case next == nil:
			return n, nil
		}
		n = next
	}
	return nil, fmt.Errorf("reference %q leads to nothing but references", str(get(n, "$ref")))
}

// target returns what a reference points to, or nil if the node is not a reference.
func (im *importer) target(n *tree.Node) (*tree.Node, error) {
	ref := get(n, "$ref")
	if !is(ref, tree.String) {
		return nil, nil
	}
	target, err := im.find(im.owners[ref.Document()], ref.Text)
	if err != nil {
		return nil, fmt.Errorf("reference %q %w", ref.Text, err)
	}
	im.resolved += target.End() - target.Start()
	if im.resolved > maxResolved {
		return nil, errTooLarge
	}
	return target, nil
}

// pointerEscapes undoes the escapes of a JSON pointer.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// find returns what a reference in a file points to. Its errors complete a message that starts with "reference …".
func (im *importer) find(in *file, ref string) (*tree.Node, error) {
	name, pointer, _ := strings.Cut(ref, "#")
	if name != "" {
		u, err := url.Parse(name)
		if err != nil || u.Scheme != "" || u.Host != "" {
			return nil, errors.New("is not a file path: remote references are not fetched")
		}
		in = im.load(path.Join(path.Dir(in.path), u.Path))
		if in.err != nil {
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
		next := get(n, key)
		if i, err := strconv.ParseUint(key, 10, 31); err == nil && int(i) < len(n.Items) {
			next = n.Items[i]
		}
		n = next
		if n == nil {
			return nil, fmt.Errorf("points to nothing: there is no %q", key)
		}
	}
	return n, nil
}

// load reads a file that the document refers to. Each file is read once.
func (im *importer) load(path string) *file {
	f := im.loaded[path]
	if f == nil {
		f = &file{path: path, name: filepath.Join(im.folder, filepath.FromSlash(path))}
		im.loaded[path] = f
		var content []byte
		content, f.err = im.read(path)
		if f.err == nil {
			f.err = im.parse(f, content)
		}
	}
	return f
}

func (im *importer) read(path string) ([]byte, error) {
	if im.opts.Files == nil {
		return nil, errors.New("the document came without its directory")
	}
	if !fs.ValidPath(path) {
		return nil, errors.New("it is outside the directory within which references are followed (--root)")
	}
	info, err := fs.Stat(im.opts.Files, path)
	var content []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // a FIFO would block
		err = errors.New("it is not a regular file")
	case info.Size() > MaxSize:
		err = errTooLarge
	default:
		content, err = fs.ReadFile(im.opts.Files, path)
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err // the reference already names the path
	}
	return content, err
}

// The following functions read nodes. All of them accept nil, since any part of a document may be missing.

func is(n *tree.Node, k tree.Kind) bool { return n != nil && n.Kind == k }

func isScalar(n *tree.Node) bool {
	return is(n, tree.String) || is(n, tree.Number) || is(n, tree.Bool)
}

// get returns a field of an object, or nil.
func get(n *tree.Node, key string) *tree.Node {
	_, value := n.Field(key)
	return value
}

// str returns a scalar on one line, or "".
func str(n *tree.Node) string {
	if !isScalar(n) {
		return ""
	}
	return draft.OneLine(n.Text)
}

// isTrue accepts what people write for true, including quoted forms.
func isTrue(n *tree.Node) bool {
	s := strings.ToLower(str(n))
	return s == "true" || s == "yes"
}

// items returns the items of a list. A single value counts as a list of one.
func items(n *tree.Node) []*tree.Node {
	switch {
	case n == nil || n.Kind == tree.Null:
		return nil
	case n.Kind == tree.List:
		return n.Items
	}
	return []*tree.Node{n}
}
