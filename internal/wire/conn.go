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
	element  *list.Element // in the listener's list of silent connections, until the first byte has been read
	state    atomic.Int32  // one of the constants below
	ripe     atomic.Int64  // when the connection may be closed in favor of another, on the listener's clock
	unread   []byte        // what was read before net/http got the connection
}

// States of a connection.
const (
	silent  = iota // nothing was read
	reading        // a part of a request was read
	active         // a request is in progress
	idle           // it waits for another request
)

// Read reads what is unread, and then from the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	// Before the first bytes are read, so that the connection never looks silent while they are in nobody's hands.
	if c.state.Load() == silent && c.await() {
		c.hear()
	}
	n, err := c.Conn.Read(p)
	switch state := c.state.Load(); {
	case n == 0:
	case state == silent: // await could not tell
		c.hear()
	case state == idle:
		c.state.Store(reading)
	}
	c.progress()
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.progress()
	return n, err
}

func (c *Conn) hear() {
	c.ripe.Store(c.listener.now() + int64(firstRequest))
	c.state.Store(reading)
	c.listener.heard(c)
}

// progress puts off closing an active connection in favor of another.
func (c *Conn) progress() {
	if c.state.Load() == active {
		c.ripe.Store(c.listener.now() + int64(c.listener.stalled))
	}
}

func (c *Conn) begin() {
	c.state.Store(active)
	c.progress()
}

func (c *Conn) end() {
	c.state.Store(idle)
	c.ripe.Store(c.listener.now())
	c.listener.wake()
}

// waits reports whether the connection waits for a request. One that has arrived, but was not read, counts as read.
func (c *Conn) waits() bool {
	state := c.state.Load()
	return (state == silent || state == idle) && !c.arrived()
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
