package wire

import (
	"container/list"
	"net"
	"sync/atomic"
)

// Conn is a connection accepted by a [Listener].
type Conn struct {
	net.Conn
	listener *Listener
	silent   *list.Element // in the listener's list, until the first byte has been read
	heard    atomic.Bool   // a byte has been read
	active   atomic.Bool   // a request is in progress
	ripe     atomic.Int64  // when the connection may be closed in favor of another, on the listener's clock
	unread   []byte        // what was read before net/http got the connection
}

// Read reads what is unread, and then from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
		c.listener.heard(c)
	}
	c.progress()
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.progress()
	return n, err
}

// progress puts off closing an active connection in favor of another.
func (c *Conn) progress() {
	if c.active.Load() {
		c.ripe.Store(c.listener.now() + int64(c.listener.stalled))
	}
}

// begin and end mark the connection as active and as idle.
func (c *Conn) begin() {
	c.active.Store(true)
	c.progress()
}

func (c *Conn) end() {
	c.active.Store(false)
	c.ripe.Store(c.listener.now())
	c.listener.wake()
}

// CloseWrite is called by net/http before it closes a connection whose client may still be sending.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection and frees its slot.
func (c *Conn) Close() error {
	err := c.Conn.Close()
	c.listener.remove(c)
	return err
}
