package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// isUnsafe reports whether a terminal might act on a character, or show others in another order because of it: control
// characters, and format characters such as those for the direction of text. The joiners are neither, and are part of
// words and emojis.
func isUnsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// escape replaces unsafe characters, except for those to keep, and bytes that are no character. It writes them as JSON
// does, so that a JSON document stays the same document.
func escape(text, keep string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || isUnsafe(r) && !strings.ContainsRune(keep, r) }) < 0 {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !isUnsafe(r) || strings.ContainsRune(keep, r):
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

// printable returns text in one line of what a terminal only shows: definitions, manifests and responses may come from
// anywhere.
func printable(text string) string { return escape(text, "") }

// escaping is a stream that passes on text with unsafe characters escaped, whatever command writes it. Only what the
// palette and the progress of check write goes through, and only to a terminal.
type escaping struct {
	io.Writer
	terminal bool
	mu       sync.Mutex
	rest     []byte // the beginning of a character, of which the next write has the end
}

// ownSequences are the sequences that Signpost writes to a terminal itself.
var ownSequences = []string{"\r\x1b[K", "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"}

func (e *escaping) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := string(append(e.rest, p...))
	whole := len(text)
	for i := max(0, len(text)-utf8.UTFMax); i < len(text); i++ {
		if !utf8.FullRuneInString(text[i:]) {
			whole = i
			break
		}
	}
	e.rest = []byte(text[whole:])
	if _, err := io.WriteString(e.Writer, e.escape(text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what is left of a text that ends within a character.
func (e *escaping) flush() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.rest) > 0 {
		io.WriteString(e.Writer, escape(string(e.rest), ""))
		e.rest = nil
	}
}

func (e *escaping) escape(text string) string {
	const lines = "\n\t"
	if !e.terminal {
		return escape(text, lines)
	}
	var out strings.Builder
	for text != "" {
		next, own := len(text), ""
		for _, s := range ownSequences {
			if i := strings.Index(text, s); i >= 0 && i < next {
				next, own = i, s
			}
		}
		out.WriteString(escape(text[:next], lines) + own)
		text = text[next+len(own):]
	}
	return out.String()
}
