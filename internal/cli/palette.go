package cli

import (
	"io"

	"signpost"
)

// palette colours text for a terminal, or leaves it unchanged.
type palette bool

// palette returns the palette for a stream: colour only on a terminal, and without NO_COLOR.
func (c *CLI) palette(w io.Writer) palette {
	if value, _ := c.LookupEnv("NO_COLOR"); value != "" {
		return false
	}
	return palette(isTerminal(w))
}

func (p palette) wrap(code, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p palette) bold(text string) string { return p.wrap("1", text) }
func (p palette) dim(text string) string  { return p.wrap("2", text) }

// mark colours text by severity.
func (p palette) mark(s signpost.Severity, text string) string {
	if s == signpost.SeverityError {
		return p.wrap("31", text)
	}
	return p.wrap("33", text)
}

func (p palette) severity(s signpost.Severity) string { return p.mark(s, string(s)+":") }
