package tree

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

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
			if value := doc.Root.Get(fmt.Sprintf("k%d", i)); value.Text != fmt.Sprintf("v%d", i) {
				t.Errorf("of %d fields, k%d is %v", size, i, value)
			}
		}
		if key, _ := doc.Root.Field("none"); key != nil || doc.Root.Get("none").Text != "" {
			t.Error("there is a field that nobody wrote")
		}
		if len(doc.Problems) != 1 || doc.Problems[0].Kind != DuplicateKey || doc.Problems[0].At.Line() != size+1 ||
			doc.Problems[0].Message != `"k0" is already used on line 1, column 1` {
			t.Errorf("problems: %+v", doc.Problems)
		}
	}
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
		if doc := Parse([]byte(text+strings.Repeat("\n", size-len(text))), false); doc.Failed != failed {
			t.Errorf("%d values: %+v", many, doc.Problems)
		}
	}
	// The values behind an alias count every time.
	bomb := "a: &a [" + strings.Repeat("x,", 1000) + "]\nb: [" + strings.Repeat("*a,", 200) + "]\n"
	if doc := Parse([]byte(bomb), false); !doc.Failed || doc.Problems[0].Kind != TooLarge {
		t.Errorf("problems: %+v", doc.Problems)
	}
}
