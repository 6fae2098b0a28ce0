//go:build unix

package wire

import "syscall"

// arrived reports whether the kernel has bytes of the client that have not been read.
func (c *Conn) arrived() (yes bool) {
	if raw := c.raw(); raw != nil {
		raw.Control(func(fd uintptr) {
			n, err := peek(fd)
			yes = err == nil && n > 0
		})
	}
	return yes
}

// await waits until the kernel has bytes of the client, and reports whether it has. Otherwise reading tells what happened.
func (c *Conn) await() (arrived bool) {
	if raw := c.raw(); raw != nil {
		raw.Read(func(fd uintptr) bool {
			n, err := peek(fd)
			arrived = err == nil && n > 0
			return err != syscall.EAGAIN
		})
	}
	return arrived
}

// raw returns the socket of the connection, or nil if it has none.
func (c *Conn) raw() syscall.RawConn {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// peek looks for bytes in a socket, and leaves them there.
func peek(fd uintptr) (n int, err error) {
	n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	return n, err
}
