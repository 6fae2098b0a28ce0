//go:build unix

package wire

import "syscall"

// arrived reports whether the kernel has bytes of the client that have not been read.
func (c *Conn) arrived() (yes bool) {
	if socket := c.socket(); socket != nil {
		socket.Control(func(fd uintptr) { yes, _ = peek(fd) })
	}
	return yes
}

// await waits until the kernel has bytes of the client, and reports whether it has. If not, reading tells why.
func (c *Conn) await() (yes bool) {
	if socket := c.socket(); socket != nil {
		socket.Read(func(fd uintptr) (done bool) {
			yes, done = peek(fd)
			return done
		})
	}
	return yes
}

// socket returns the socket of the connection, or nil if it has none.
func (c *Conn) socket() syscall.RawConn {
	conn, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil
	}
	socket, _ := conn.SyscallConn()
	return socket
}

// peek looks for bytes in a socket, and leaves them there. It is done unless there may be some later.
func peek(fd uintptr) (found, done bool) {
	n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	return err == nil && n > 0, err != syscall.EAGAIN
}
