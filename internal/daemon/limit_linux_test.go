package daemon_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"signpost/internal/testkit"
)

// liftFileLimit lets a process write files of any size again.
func liftFileLimit(t *testing.T, pid int) {
	t.Helper()
	testkit.OK(t, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil))
}
