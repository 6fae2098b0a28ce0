//go:build !unix

package testkit

import "testing"

// Mkfifo needs a Unix system: elsewhere the test ends here, and says so at the end of the run.
func Mkfifo(t testing.TB, _ string) {
	t.Helper()
	Missing(t, "mkfifo of Unix", "files that are named pipes")
}
