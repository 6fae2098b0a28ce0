package tree

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// written lists the keys and values of a tree as they appear in the text.
func written(n *Node) []string {
	all := []string{string(n.doc.Text[n.start:n.end])}
	for _, f := range n.Fields {
		all = append(append(all, string(n.doc.Text[f.Key.start:f.Key.end])), written(f.Value)...)
	}
	for _, item := range n.Items {
		all = append(all, written(item)...)
	}
	return all
}

func TestExtents(t *testing.T) {
	for _, test := range []struct {
		name, text string
		json       bool
		want       []string // without the root
	}{
		{"JSON", `{"a": [1, -2.5e3, true, null, "x\"y"], "b" :{ } }`, true,
			[]string{`"a"`, `[1, -2.5e3, true, null, "x\"y"]`, "1", "-2.5e3", "true", "null", `"x\"y"`, `"b"`, "{ }"}},
		{"plain", "a: b c # d\n'e f':   g\n", false, []string{"a", "b c", "'e f'", "g"}},
		{"quoted", `{a: "x \" y", b: 'it''s', "c": ''}`, false, []string{"a", `"x \" y"`, "b", "'it''s'", `"c"`, "''"}},
		{"over lines", "a: one\n  two\n\n  three  \nb: \"x\n  y\"\n", false, []string{"a", "one\n  two\n\n  three", "b", "\"x\n  y\""}},
		{"flow", "a: [x, {y: z,\n  # why\n  w: [] }, ]\n", false, []string{"a", "[x, {y: z,\n  # why\n  w: ", "x", "{y: z,\n  # why\n  w: ", "y", "z", "w", ""}},
		{"block list", "a:\n  - x\n  - y: z\n", false, []string{"a", "- x\n  - y: z", "x", "y: z", "y", "z"}},
		{"nothing", "a:\nb: x\n", false, []string{"a", "", "b", "x"}},
		{"properties", "a: &n !!str x\nb: *n\n", false, []string{"a", "x", "b", "x"}},
		{"properties of a list", "a: &n [x]\n", false, []string{"a", "&n [x", "x"}},
		{"literal", "a: |\n  x\n   y\n\n  z\n\nb: c\n", false, []string{"a", "|", "b", "c"}},
		{"not ASCII", "ä: {ö: über, 😀: x}\n", false, []string{"ä", "{ö: über, 😀: x", "ö", "über", "😀", "x"}},
		{"alias as a key", "a: &k x\n*k : y\n", false, []string{"a", "x", "*k", "y"}},
		{"URL", "https://{{host}}/a: {x: https://h/b}\n", false, []string{"https://{{host}}/a", "{x: https://h/b", "x", "https://h/b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, text := range []string{test.text, ByteOrderMark + test.text, strings.ReplaceAll(test.text, "\n", "\r\n")} {
				doc := Parse([]byte(text), test.json)
				if len(doc.Problems) > 0 {
					t.Fatalf("%q: %+v", text, doc.Problems)
				}
				got := written(doc.Root)[1:]
				for i := range got {
					got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
				}
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
					t.Errorf("%q:\ngot  %q\nwant %q", text, got, test.want)
				}
			}
		})
	}
}

func TestPositions(t *testing.T) {
	long := strings.Repeat("é", 3000)
	doc := Parse([]byte("a: x\n"+`b: ["`+long+`", y]`+"\nc: z"), false)
	for _, test := range []struct {
		at           string
		line, column int
	}{{"x", 1, 4}, {`"é`, 2, 5}, {"y", 2, 5 + 3000 + 4}, {"z", 3, 4}} {
		offset := bytes.Index(doc.Text, []byte(test.at))
		if line, column := doc.Position(offset); line != test.line || column != test.column {
			t.Errorf("%q is at %d:%d, not %d:%d", test.at, line, column, test.line, test.column)
		}
		if got := doc.Offset(test.line, test.column); got != offset {
			t.Errorf("%d:%d is offset %d, not %d", test.line, test.column, got, offset)
		}
	}
	if line, column := doc.Position(len(doc.Text) + 5); line != 3 || column != 5 {
		t.Errorf("the end is at %d:%d", line, column)
	}
	for _, test := range []struct{ line, column, want int }{{0, 1, 0}, {1, 99, 4}, {9, 1, len(doc.Text)}} {
		if got := doc.Offset(test.line, test.column); got != test.want {
			t.Errorf("%d:%d is offset %d, not %d", test.line, test.column, got, test.want)
		}
	}
	if got := string(doc.Line(1)); got != "a: x" || doc.Line(0) != nil || doc.Line(4) != nil {
		t.Errorf("line 1 is %q, or there are lines before the first or behind the last", got)
	}
	if line, column := Parse([]byte("a: x\rb: y\r\nc: z\r"), false).Position(11); line != 3 || column != 1 {
		t.Errorf("after carriage returns, the third line begins at %d:%d", line, column)
	}
	for _, test := range []struct {
		line, column int
		text         string
		first        int
	}{{2, 2000, strings.Repeat("é", 10), 1995}, {2, 3009, `ééééé", y]`, 3001}, {1, 2, "a: x", 1}, {7, 1, "", 1}} {
		if text, first := doc.Snippet(test.line, test.column, 10); text != test.text || first != test.first {
			t.Errorf("got %q from %d", text, first)
		}
	}
}

func TestObjects(t *testing.T) {
	for _, size := range []int{1, smallObject, smallObject + 1, 100} {
		var text strings.Builder
		for i := range size {
			fmt.Fprintf(&text, "k%d: v%d\n", i, i)
		}
		text.WriteString("k0: again\n")
		doc := Parse([]byte(text.String()), false)
		if len(doc.Root.Fields) != size {
			t.Errorf("%d fields, not %d", len(doc.Root.Fields), size)
		}
		for i := range size {
			if _, value := doc.Root.Field(fmt.Sprintf("k%d", i)); value == nil || value.Text != fmt.Sprintf("v%d", i) {
				t.Errorf("of %d fields, k%d is %v", size, i, value)
			}
		}
		if key, _ := doc.Root.Field("none"); key != nil {
			t.Error("there is a field that nobody wrote")
		}
		if len(doc.Problems) != 1 || doc.Problems[0].Kind != DuplicateKey || doc.Problems[0].At.Line() != size+1 ||
			doc.Problems[0].Message != `"k0" is already used on line 1, column 1` {
			t.Errorf("problems: %+v", doc.Problems)
		}
	}
}

func TestMerge(t *testing.T) {
	doc := Parse([]byte("a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {z: 3, <<: [*a, *b]}\nd: {<<: *a, y: 4}\n"), false)
	for name, want := range map[string]string{"c": "z3 x1 y1", "d": "y4 x1"} {
		_, object := doc.Root.Field(name)
		var got []string
		for _, f := range object.Fields {
			got = append(got, f.Key.Text+f.Value.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %v, not %s", name, got, want)
		}
	}
	// The finding is where the merge is, not where the anchor is.
	bad := Parse([]byte("x: &x text\ny:\n  <<: *x\n"), false)
	wantProblem(t, bad, `3:3 "<<": << cannot merge text (<< takes an alias of an object, such as <<: *defaults)`)
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name, text string
		json       bool
		want       string
	}{
		{"too many values", "[" + strings.Repeat("1,", 300_000) + "1]", true, "too many values for a file of this size"},
		{"too many values", "[" + strings.Repeat("1,", 300_000) + "1]", false, "too many values for a file of this size"},
		{"too large", strings.Repeat("#", MaxSize+1), false, "the file is larger than 64 MiB"},
		{"very deep", strings.Repeat("[", 20_000), true, "nested more than 1000 levels deep"},
		{"very deep", strings.Repeat("[", 20_000), false, "nested more than 1000 levels deep"},
		{"not UTF-8", "a: \xff", false, "the file is not UTF-8 text"},
		{"alias in itself", "a: &a [*a]", false, "alias *a is inside the value that it names"},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := Parse([]byte(test.text), test.json)
			if doc.Root != nil || len(doc.Problems) != 1 || !strings.HasPrefix(doc.Problems[0].Message, test.want) {
				t.Errorf("got %v, %+v", doc.Root, doc.Problems)
			}
		})
	}
	// A text may have as many values as its size allows, and no more.
	const size = 200_000
	for many, failed := range map[int]bool{(freeValues + size/bytesPerValue) / 2: false, (freeValues+size/bytesPerValue)/2 + 1: true} {
		text := "[" + strings.Repeat("1,", many-1) + "1]"
		if doc := Parse([]byte(text+strings.Repeat("\n", size-len(text))), false); doc.Failed() != failed {
			t.Errorf("%d values: %+v", many, doc.Problems)
		}
	}
	// The values behind an alias count every time.
	bomb := "a: &a [" + strings.Repeat("x,", 1000) + "]\nb: [" + strings.Repeat("*a,", 200) + "]\n"
	if doc := Parse([]byte(bomb), false); !doc.Failed() || doc.Problems[0].Kind != TooLarge {
		t.Errorf("problems: %+v", doc.Problems)
	}
}

// The library reads YAML 1.1 and is stricter than YAML 1.2 about tabs.
func TestYAML12(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: |\n  \tx\n  y\nb: z\n", "\tx\ny\n"},
		{"a: |-\n\n    \tx\nb: z\n", "\n\tx"},
		{"- &a |\n \tx\n- {a: *a, b: z}\n", "\tx\n"},
		{"c:\n  - d:\n    a: |\n       \tx\n    b: z\n", "\tx\n"},
		{"c:\n  - - >\n       \tx\n", "\tx\n"},
		{"a: |\n  x\u2028y\n  z\nb: z # \u2028 \u2029\n", "x\u2028y\nz\n"},
		{"a: \"x\u0085y\u2029\"\nb: z\n", "x\u0085y\u2029"},
		{"a: x\u0085y\nb: \u0378\n", "x\u0085y"},
		{"%YAML 1.2\n---\na: 1\n", "1"},
		{"# about\n\n%YAML 1.2\n---\na: 1\n", "1"},
		{"%YAML 1.1\n---\na: 1\n", "1"},
	} {
		input := []byte(test.text)
		doc := Parse(input, false)
		if len(doc.Problems) > 0 {
			t.Errorf("%q: %+v", test.text, doc.Problems)
			continue
		}
		if got := texts(doc.Root); !slices.Contains(got, test.want) || string(input) != test.text {
			t.Errorf("%q: no %q in %q; the input is now %q", test.text, test.want, got, input)
		}
	}
	if doc := Parse([]byte("a:\n\t|\n b\n"), false); !doc.Failed() {
		t.Error("a tab in the indentation is accepted")
	}
}

// texts lists the texts of a tree.
func texts(n *Node) []string {
	all := []string{n.Text}
	for _, f := range n.Fields {
		all = append(all, texts(f.Value)...)
	}
	for _, item := range n.Items {
		all = append(all, texts(item)...)
	}
	return all
}
