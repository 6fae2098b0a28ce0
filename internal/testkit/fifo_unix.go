//go:build unix

package testkit

import (
	"syscall"
	"testing"
)

// Mkfifo makes a named pipe.
func Mkfifo(t testing.TB, path string) {
	t.Helper()
	OK(t, syscall.Mkfifo(path, 0o600))
}
