//go:build !linux

package daemon

// monotonicMicroseconds is for systemd, which is on Linux only.
func monotonicMicroseconds() string { return "0" }
