// Package escape makes text from anywhere safe to print on a terminal.
package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text replaces unsafe characters, except for those to keep, and bytes that are no character. It writes them as JSON
// does, so that a JSON document stays the same document.
func Text(text, keep string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !Unsafe(r) || strings.ContainsRune(keep, r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Unsafe reports whether a terminal might act on a character, or show others in another order because of it: control
// characters, and format characters such as those for the direction of text. The joiners are neither, and are part of
// words and emojis.
func Unsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}
