//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// isConsole reports whether a file is a terminal: only these have a window size.
func isConsole(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	err = raw.Control(func(fd uintptr) {
		_, sizeErr := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		terminal = sizeErr == nil
	})
	return err == nil && terminal
}
