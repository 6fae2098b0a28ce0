package tree

import (
	"encoding/json"
	"strings"
	"testing"

	"signpost/internal/testkit"
)

// TestWrite shows how values are written in place of that of the only field of a document.
func TestWrite(t *testing.T) {
	testkit.Cases(t, "testdata/write.golden", func(input string) string {
		text, written, _ := strings.Cut(input, " => ")
		var value any
		testkit.OK(t, json.Unmarshal([]byte(written), &value))
		got, ok := Parse([]byte(text), text[0] == '{').Root.Fields[0].Value.Write(value)
		if !ok {
			return "not at all"
		}
		return got
	})
}

// TestUnclosed marks the brackets and quotes that are not closed with ¦.
func TestUnclosed(t *testing.T) {
	for _, marked := range []string{
		`a: ¦[b, ¦{c: d, e: [f]`, `a: [b] ¦"c \" d`, "# {\na: ¦{", "a: it's ¦{b ¦'c [", "https://{{host}}/a: ¦[", "a: 'b\nc: ¦[", "a: ] ¦[", "a: ¦[ # {", `{"a": "\\"}`,
	} {
		text, got := strings.ReplaceAll(marked, "¦", ""), ""
		last := 0
		for _, at := range Unclosed(text) {
			got += text[last:at] + "¦"
			last = at
		}
		if got += text[last:]; got != marked {
			t.Errorf("got %s, want %s", got, marked)
		}
	}
}
