package tree

import (
	"fmt"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestExplainYAML makes one mistake at a time in a definition and checks what the author is told.
func TestExplainYAML(t *testing.T) {
	var out strings.Builder
	for _, v := range testkit.Variants(t, "testdata/mistakes.txtar") {
		fmt.Fprintf(&out, "%s\n", v.Name)
		doc := Parse([]byte(v.Text), false)
		for _, p := range doc.Problems {
			line, column := doc.Position(p.At.Start())
			fmt.Fprintf(&out, "    %d:%d %q\n        %s\n        hint: %s\n", line, column, doc.Text[p.At.Start():p.At.End()], p.Message, p.Hint)
		}
	}
	testkit.Golden(t, "testdata/mistakes.golden", out.String())
}

func wantProblem(t *testing.T, doc *Document, want string) {
	t.Helper()
	if len(doc.Problems) != 1 {
		t.Fatalf("%d problems: %+v", len(doc.Problems), doc.Problems)
	}
	p := doc.Problems[0]
	line, column := doc.Position(p.At.Start())
	if got := fmt.Sprintf("%d:%d %q: %s (%s)", line, column, doc.Text[p.At.Start():p.At.End()], p.Message, p.Hint); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestExplainJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2}`:         `1:7 "[": "[" is not closed (add the missing ])`,
		`{"a": [1, 2,]}`:       `1:12 ",": unexpected comma before "]" (JSON has no comma after the last item)`,
		"{\"a\": 1\n\"b\": 2}": `1:8 "": missing comma after the value (separate the items with commas)`,
		`{"a" 1}`:              `1:5 "": missing colon after the key (write a colon between key and value)`,
		`{method: "get"}`:      `1:2 "method": a key is not in quotes (put it in double quotes)`,
		`{"method": get}`:      `1:12 "get": this is not a value (put text in double quotes)`,
		`{"a": , "b": 1}`:      `1:7 ",": a value is missing here (give the field a value, or remove it)`,
		`{"a": 1,, "b": 1}`:    `1:9 ",": unexpected comma (remove it)`,
		`{"a": “b”}`:           `1:7 "“": this is not a quote in JSON (use straight double quotes: "…")`,
		"{\u00a0\"a\": 1}":     `1:2 "\u00a0": U+00A0 is not a space in JSON (replace it with a normal space)`,
		"service: Sports\n":    `1:1 "service": "service" where JSON begins with { (if the file is YAML, give it a name that ends in .yaml)`,
		`{"a": 'b'}`:           `1:7 "'": text in single quotes (JSON uses double quotes: "…")`,
		`{"a": "b}`:            `1:7 "\"": this quote is not closed (end the text with ")`,
		"{\"a\": \"b\n\"}":     `1:7 "\"": this quote is not closed (end the text with ")`,
		`{"a": "\x"}`:          `1:9 "x": this is not an escape sequence (write \\ for a backslash)`,
		`{"a\"[": 1]`:          `1:1 "{": "{" is not closed (add the missing })`,
		`{"a": {"b": "}"}`:     `1:1 "{": "{" is not closed (add the missing })`,
		"// x\n{}":             `1:1 "/": JSON has no comments (remove it)`,
		"{} // x":              `1:4 "/": JSON has no comments (remove it)`,
		"{}\n{}":               `2:1 "{": more than one JSON document in the file (one file holds one service: put the next one into a file of its own)`,
		`{}}`:                  `1:3 "}": invalid character '}' after top-level value ()`,
	} {
		t.Run(text, func(t *testing.T) {
			input := []byte(text)
			wantProblem(t, Parse(input, true), want)
			if string(input) != text {
				t.Errorf("the input is now %q", input)
			}
		})
	}
}
