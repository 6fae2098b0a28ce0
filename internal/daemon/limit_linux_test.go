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

// fileLimit returns how many files may be open. Package os has already raised the soft limit to the hard one.
func fileLimit(t *testing.T) int {
	t.Helper()
	var files unix.Rlimit
	testkit.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	return int(files.Cur)
}
