package openapi

import (
	"strings"
	"testing"

	"signpost/internal/testkit"
	"signpost/internal/tree"
)

func TestWords(t *testing.T) {
	testkit.Cases(t, "testdata/words.golden", func(input string) string {
		if description, ok := strings.CutPrefix(input, "description: "); ok {
			return sentence(&tree.Node{Kind: tree.String, Text: description})
		}
		return humanise(input)
	})
	word := strings.Repeat("é", 60)
	for description, want := range map[string]string{
		word: word, word + "é": "", // half a sentence is not a name
		strings.Repeat("word ", 12) + "end": "", "Short. Long " + strings.Repeat("word ", 1000): "Short",
	} {
		if got := sentence(&tree.Node{Kind: tree.String, Text: description}); got != want {
			t.Errorf("sentence(%.80q) is %q, want %q", description, got, want)
		}
	}
	for text, want := range map[string]string{"Media\nof an entry.": "Media of an entry", strings.Repeat("é", 121): ""} {
		if got := title(&tree.Node{Kind: tree.String, Text: text}); got != want {
			t.Errorf("title gives %q, want %q", got, want)
		}
	}
}
