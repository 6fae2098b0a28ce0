//go:build unix

package wire

import "syscall"

// arrived reports whether the kernel has bytes of the client that have not been read.
func (c *Conn) arrived() (yes bool) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		yes = err == nil && n > 0
	})
	return yes
}
