package lsp

import (
	"math/rand"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestPositions compares positions with those that are counted from the start of each line.
func TestPositions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	pieces := []string{"a", "é", "€", "😀", "\xff", strings.Repeat("b", 100), strings.Repeat("😀é", 60), "\n", "\r\n", "\r"}
	for range 60 {
		var text strings.Builder
		for range random.Intn(60) {
			text.WriteString(pieces[random.Intn(len(pieces))])
		}
		doc := newDocument("file:///feeds.yaml", 1, text.String())
		var want position
		for i, r := range doc.text {
			if got := doc.position(i); got != want {
				t.Fatalf("offset %d of %q is at %v, want %v", i, doc.text, got, want)
			}
			lineEnd := r == '\n' || r == '\r'
			if got := doc.offset(want); got != i && !(r == '\n' && i > 0 && doc.text[i-1] == '\r') {
				t.Fatalf("position %v of %q is at offset %d, want %d", want, doc.text, got, i)
			}
			switch {
			case lineEnd && !(r == '\r' && strings.HasPrefix(doc.text[i+1:], "\n")):
				want = position{want.Line + 1, 0}
			default:
				want.Character += utf16.RuneLen(r)
			}
		}
		if got := doc.offset(position{0, 1 << 40}); got > len(doc.text) || strings.ContainsAny(doc.text[:got], "\r\n") {
			t.Errorf("a position after the end of the first line of %q is at offset %d", doc.text, got)
		}
	}
}
