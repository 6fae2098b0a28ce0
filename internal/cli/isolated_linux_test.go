package cli

import (
	"os"
	"syscall"
)

// isolated starts a process in a network namespace, and in a user namespace so that no privileges are needed.
func isolated() *syscall.SysProcAttr {
	self := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings, attr.GidMappings = self(os.Getuid()), self(os.Getgid())
	}
	return attr
}
