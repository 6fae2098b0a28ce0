package cli

import (
	"io"
	"os"
)

// isTerminal reports whether a person may be reading what is written to w. Not every character device is a terminal:
// /dev/null is one, too.
func isTerminal(w io.Writer) bool {
	if out, ok := w.(*escaping); ok {
		return out.terminal
	}
	if out, ok := w.(*results); ok {
		w = out.Writer
	}
	f, ok := w.(*os.File)
	return ok && isConsole(f)
}
