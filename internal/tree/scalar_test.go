package tree

import (
	"fmt"
	"strings"
	"testing"
)

func TestScalars(t *testing.T) {
	for _, test := range []struct {
		text, want string
		json       bool
	}{
		{"12", "a number 12", true},
		{"-0.5e+3", "a number -0.5e+3", true},
		{"123456789012345678901234567890", "a number 123456789012345678901234567890", true},
		{"1e400", "1e400 is not a plain number", true},
		{"true", "true or false true", true},
		{"null", "null ", true},
		{`"12"`, "text 12", true},

		{"12", "a number 12", false},
		{"0", "a number 0", false},
		{"123456789012345678901234567890", "a number 123456789012345678901234567890", false},
		{"1e400", "1e400 is not a plain number", false},
		{"017", "017 is not a plain number", false},
		{"1_000", "1_000 is not a plain number", false},
		{".5", ".5 is not a plain number", false},
		{".inf", ".inf is not a plain number", false},
		{"+1", "+1 is not a plain number", false},
		{"'12'", "text 12", false},
		{"!!str 12", "text 12", false},
		{"!!str 123456789012345678901234567890", "text 123456789012345678901234567890", false},
		{"'123456789012345678901234567890'", "text 123456789012345678901234567890", false},
		{"12 or so", "text 12 or so", false},
		{"True", "true or false true", false},
		{"'true'", "text true", false},
		{"yes", "text yes", false},
		{"~", "null ", false},
		{"2026-01-01", "text 2026-01-01, a date", false},
		{"'2026-01-01'", "text 2026-01-01", false},
		{"!label x", "tag !label is not supported", false},
		{"<<", "text <<", false},
	} {
		list := "[" + test.text + "]"
		doc := Parse([]byte(list), test.json)
		got := ""
		switch {
		case len(doc.Problems) == 1:
			got = doc.Problems[0].Message
			if doc.Problems[0].Value != doc.Root.Items[0] || doc.Problems[0].Kind != BadValue {
				t.Errorf("%s: the problem is with something else: %+v", list, doc.Problems[0])
			}
		case len(doc.Problems) == 0:
			got = fmt.Sprint(doc.Root.Items[0].Kind, " ", doc.Root.Items[0].Text)
			if doc.Root.Items[0].Date {
				got += ", a date"
			}
		}
		if got != test.want {
			t.Errorf("%s (JSON %v): got %q, want %q", list, test.json, got, test.want)
		}
	}
}

func TestKeys(t *testing.T) {
	doc := Parse([]byte("a: &k name\n*k : x\n1: y\n? [b]\n: z\n{{c}}: w\n"), false)
	var keys []string
	for _, f := range doc.Root.Fields {
		keys = append(keys, f.Key.Text)
	}
	if got := strings.Join(keys, " "); got != "a name 1" {
		t.Errorf("keys: %s", got)
	}
	if len(doc.Problems) != 2 || doc.Problems[0].Kind != BadKey || doc.Problems[0].Message != "a key must be text, not a list" ||
		doc.Problems[1].Message != "a key must be text, not an object" || doc.Problems[0].At.Line() != 4 {
		t.Errorf("problems: %+v", doc.Problems)
	}
	// An alias of a key is a duplicate of it.
	if doc := Parse([]byte("&k a: x\n*k : y\n"), false); len(doc.Problems) != 1 || doc.Problems[0].Kind != DuplicateKey || doc.Problems[0].At.Line() != 2 {
		t.Errorf("problems: %+v", doc.Problems)
	}
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
			if doc := Parse([]byte(test.text), test.json); doc.Failed() != fails {
				t.Errorf("%d levels, JSON %v: %q: %+v", depth, test.json, test.text, doc.Problems)
			}
		}
	}
}
