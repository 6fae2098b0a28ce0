//go:build !linux

package daemon

import "syscall"

// deferAccept does nothing: only Linux can hold back connections until their first byte.
func deferAccept(_, _ string, _ syscall.RawConn) error { return nil }
