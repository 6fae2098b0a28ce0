package daemon

import "syscall"

// deferAccept makes the kernel hand over a connection when its first byte has arrived, or after a second. A client that
// sends nothing then takes neither a slot nor a goroutine.
func deferAccept(_, _ string, conn syscall.RawConn) error {
	return conn.Control(func(fd uintptr) {
		// Without the option, connections are handed over at once: that works, too.
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_DEFER_ACCEPT, 1)
	})
}
