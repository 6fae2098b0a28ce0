package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestTrees shows the trees of documents, and what is wrong with them.
func TestTrees(t *testing.T) {
	testkit.Cases(t, "testdata/trees.golden", func(text string) string {
		input := []byte(text)
		out := dump(Parse(input, false))
		if string(input) != text {
			t.Errorf("%q is now %q", text, input)
		}
		for _, other := range []string{ByteOrderMark + text, strings.ReplaceAll(text, "\n", "\r\n")} {
			if got := dump(Parse([]byte(other), false)); got != out {
				t.Errorf("%q:\n%s\n%q:\n%s", text, out, other, got)
			}
		}
		if json.Valid(input) {
			if asJSON := dump(Parse(input, true)); asJSON != out {
				return out + "as JSON:\n" + asJSON
			}
		}
		return out
	})
}

// dump lists the values of a tree, with their extents, and the problems.
func dump(doc *Document) string {
	var out strings.Builder
	written := func(n *Node) string { return strings.ReplaceAll(string(n.doc.Text[n.start:n.end]), "\r\n", "\n") }
	var visit func(path string, n *Node)
	visit = func(path string, n *Node) {
		if path != "" {
			fmt.Fprintf(&out, "%s: %v of width %d, %q: %q\n", path[1:], n.Kind, n.Width(), written(n), n.Text)
		}
		if n.Date {
			fmt.Fprintln(&out, path[1:], "is a date")
		}
		for _, f := range n.Fields {
			name := written(f.Key)
			if name != f.Key.Text {
				name += " (" + f.Key.Text + ")"
			}
			visit(path+" "+name, f.Value)
		}
		for i, item := range n.Items {
			visit(fmt.Sprintf("%s %d", path, i), item)
		}
	}
	if doc.Root != nil {
		visit("", doc.Root)
	}
	return out.String() + problems(doc)
}

// Nesting counts the same in YAML and JSON, in brackets and by indentation.
func TestDepth(t *testing.T) {
	for depth, fails := range map[int]bool{maxDepth: false, maxDepth + 1: true} {
		brackets := strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)
		objects := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
		block := ""
		for i := range depth {
			block += strings.Repeat(" ", i) + "a:\n"
		}
		block += strings.Repeat(" ", depth) + "1\n"
		for _, test := range []struct {
			text string
			json bool
		}{{brackets, true}, {objects, true}, {brackets, false}, {objects, false}, {block, false}} {
			if doc := Parse([]byte(test.text), test.json); doc.Failed != fails {
				t.Errorf("%d levels, JSON %v: %q: %+v", depth, test.json, test.text, doc.Problems)
			}
		}
	}
}
