package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"signpost"
)

// printf writes text for people. It escapes every argument, including line breaks: names of files, definitions,
// manifests and responses may come from anywhere. Only the format and text of type safe are written as they are. All
// commands print with it; a test finds those that do not.
func printf(w io.Writer, format string, args ...any) {
	if s, ok := w.(*stream); ok {
		w = s.Writer // the text is escaped already, and may be coloured
	}
	escaped := make([]any, len(args))
	for i, arg := range args {
		escaped[i] = argument{arg}
	}
	fmt.Fprintf(w, format, escaped...) // stdout remembers a failed write
}

// safe is text that printf does not escape, because it is Signpost's own or escaped already.
type safe string

// argument formats a value like fmt, and escapes the result.
type argument struct{ value any }

func (a argument) Format(f fmt.State, verb rune) {
	text := fmt.Sprintf(fmt.FormatString(f, verb), a.value)
	if _, ok := a.value.(safe); !ok {
		text = printable(text)
	}
	io.WriteString(f, text)
}

// printable returns text as one line that a terminal only shows.
func printable(text string) string { return escape(text, "") }

// escape replaces unsafe characters, except for those to keep, and bytes that are no character. It writes them as JSON
// does, so that a JSON document stays the same document.
func escape(text, keep string) string {
	unsafe := func(r rune) bool { return isUnsafe(r) && !strings.ContainsRune(keep, r) }
	if strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || unsafe(r) }) < 0 {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !unsafe(r):
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

// isUnsafe reports whether a terminal might act on a character, or show others in another order because of it: control
// characters, and format characters such as those for the direction of text. The joiners are neither, and are part of
// words and emojis.
func isUnsafe(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// stream is standard output or standard error. It escapes what libraries write to it (logs, JSON, help), except for
// line breaks and tabs. A character that is split between two writes is escaped as well.
type stream struct {
	io.Writer
	terminal bool
}

func newStream(w io.Writer) *stream { return &stream{w, isTerminal(w)} }

func (s *stream) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, escape(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// results is standard output. It remembers the first failed write, so commands need not check each write, and no
// command succeeds if its output is lost.
type results struct {
	io.Writer
	err error
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if err != nil && r.err == nil {
		r.err = err
		if file := (&fs.PathError{}); errors.As(err, &file) {
			r.err = file.Err // the file name adds nothing
		}
		r.err = fmt.Errorf("write to standard output: %w", r.err)
	}
	return n, err
}

// isTerminal reports whether a person may be reading what is written to w.
func isTerminal(w io.Writer) bool {
	switch w := w.(type) {
	case *stream:
		return w.terminal
	case *results:
		return isTerminal(w.Writer)
	case *os.File:
		return term.IsTerminal(int(w.Fd()))
	}
	return false
}

// palette colours text for a terminal, or leaves it without colour.
type palette bool

// palette returns the palette for a stream: colour only on a terminal, and without NO_COLOR.
func (c *CLI) palette(w io.Writer) palette {
	if value, _ := c.LookupEnv("NO_COLOR"); value != "" {
		return false
	}
	return palette(isTerminal(w))
}

// wrap escapes a text and puts it between an escape sequence and the one that ends it.
func (p palette) wrap(code, text string) safe {
	if !p {
		return safe(printable(text))
	}
	return safe("\x1b[" + code + "m" + printable(text) + "\x1b[0m")
}

// Colours of the palette, besides bold and dim.
const red, green, yellow = "31", "32", "33"

func (p palette) bold(text string) safe { return p.wrap("1", text) }
func (p palette) dim(text string) safe  { return p.wrap("2", text) }

// mark colours text by severity.
func (p palette) mark(s signpost.Severity, text string) safe {
	if s == signpost.SeverityError {
		return p.wrap(red, text)
	}
	return p.wrap(yellow, text)
}

// printJSON writes a result for programs.
func printJSON(w io.Writer, result any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}
