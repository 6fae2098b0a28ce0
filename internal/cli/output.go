package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"

	"signpost/internal/escape"
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
func printable(text string) string { return escape.Text(text, "") }

// stream is standard output or standard error. It escapes what libraries write to it (logs, JSON, help), except for
// line breaks and tabs. A character that is split between two writes is escaped as well.
type stream struct {
	io.Writer
	terminal bool // a person may be reading
	palette  palette
}

// stream returns a stream that writes to w. Only a terminal has colour, and only without NO_COLOR.
func (c *CLI) stream(w, target io.Writer) *stream {
	file, ok := target.(*os.File)
	terminal := ok && term.IsTerminal(int(file.Fd()))
	noColour, _ := c.LookupEnv("NO_COLOR")
	return &stream{w, terminal, palette(terminal && noColour == "")}
}

// isTerminal reports whether a person may be reading what is written to w.
func isTerminal(w io.Writer) bool {
	s, ok := w.(*stream)
	return ok && s.terminal
}

// paletteOf returns the colours for what is written to w.
func paletteOf(w io.Writer) palette {
	s, ok := w.(*stream)
	return palette(ok) && s.palette
}

func (s *stream) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, escape.Text(string(p), "\n\t")); err != nil {
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

// palette colours text for a terminal, or leaves it without colour.
type palette bool

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

// printJSON writes a result for programs.
func printJSON(w io.Writer, result any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	enc.Encode(result) // stdout remembers a failed write
}
