//go:build !linux

package daemon_test

import (
	"testing"

	"signpost/internal/testkit"
)

// liftFileLimit needs Linux: elsewhere the test ends here, and says so at the end of the run.
func liftFileLimit(t *testing.T, _ int) {
	t.Helper()
	testkit.Missing(t, "prlimit of Linux", "a definition cache on a full disk")
}

// fileLimit needs Linux: elsewhere the test ends here.
func fileLimit(t *testing.T) int {
	t.Helper()
	testkit.Missing(t, "the limits of Linux", "many slow clients")
	return 0
}
