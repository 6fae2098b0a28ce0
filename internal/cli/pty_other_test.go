//go:build !linux

package cli

import (
	"os"
	"syscall"
	"testing"

	"signpost/internal/testkit"
)

// openTerminal needs Linux: elsewhere the test ends here, and says so at the end of the run.
func openTerminal(t *testing.T) (control, tty *os.File) {
	t.Helper()
	testkit.Missing(t, "/dev/ptmx of Linux", "colour and progress on a terminal")
	return nil, nil
}

func onTerminal() *syscall.SysProcAttr { return nil }
