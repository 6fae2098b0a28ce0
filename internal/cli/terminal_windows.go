package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// isConsole reports whether a file is a console: only these have a console mode.
func isConsole(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}
