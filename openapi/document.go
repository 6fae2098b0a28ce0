package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"signpost/internal/draft"
	"signpost/internal/tree"
)

// maxResolved is the maximum size in bytes of what references stand for, counting only those that are followed: ten
// times that of the largest documents that exist. Notes and options take a multiple of it in memory.
const maxResolved = 16 << 20

// maxDepth limits chains of references.
const maxDepth = 32

// parse parses the document.
func (im *importer) parse(content []byte) error {
	doc := tree.Parse(content, json.Valid(bytes.TrimPrefix(content, []byte(tree.ByteOrderMark))))
	for _, p := range doc.Problems {
		switch p.Kind {
		case tree.Syntax, tree.TooLarge:
			return fmt.Errorf("line %d: %s", p.At.Line(), p.Message)
		case tree.DuplicateKey:
			im.repeats = append(im.repeats, p.At)
		}
	}
	im.root = doc.Root
	if im.root == nil {
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
	target, err := im.find(ref.Text)
	if err != nil {
		return nil, fmt.Errorf("reference %q %w", ref.Text, err)
	}
	im.resolved += target.End() - target.Start()
	if im.resolved > maxResolved {
		return nil, errors.New("the document is too large") // which rejects all of it
	}
	return target, nil
}

// pointerEscapes undoes the escapes of a JSON pointer.
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// find returns what a reference points to. Its errors complete a message that starts with "reference …".
func (im *importer) find(ref string) (*tree.Node, error) {
	file, pointer, _ := strings.Cut(ref, "#")
	if file != "" {
		return nil, errors.New("leads out of the document: bundle its files into one first")
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, errors.New("has no path after the #, such as #/components/parameters/limit")
	}
	n := im.root
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
