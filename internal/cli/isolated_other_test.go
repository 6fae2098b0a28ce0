//go:build !linux

package cli

import "syscall"

// isolated needs Linux: elsewhere processes share the network of the machine.
func isolated() *syscall.SysProcAttr { return nil }
