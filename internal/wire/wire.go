// Package wire sends an answer of HTTP/1.1 in one piece that was made beforehand.
//
// net/http copies the headers of an answer from one map into another, sorts them, and sends the head apart from a body
// of more than 4 KB. For a manifest, all of that is a third of the time of an answer. So a handler can give its answer to
// the connection, with the headers written out, and leave it empty towards net/http. When net/http then writes the head
// of an empty answer, the connection completes it, and sends it in one system call. Status line, Date and Connection
// are those of net/http, as are all decisions about what becomes of the connection.
package wire

import (
	"bytes"
	"context"
	"net"
	"sync"
)

// Conn is a connection of a [Listener]. It is a plain one as long as no answer is announced.
type Conn struct {
	*net.TCPConn
	release func() // its slot at the listener

	announced   bool
	lines, body []byte // of the answer that is announced

	pieces  [4][]byte
	buffers net.Buffers // of pieces; here, so that it is not made anew for each answer
}

// Announce gives the headers of the answer that is next, as lines that end in CRLF each, and its body. The handler then
// writes the status, and neither headers nor a body. What is announced must not change until it is sent.
func (c *Conn) Announce(lines, body []byte) {
	c.announced, c.lines, c.body = true, lines, body
}

var (
	lineEnd = []byte("\r\n")
	empty   = []byte("Content-Length: 0\r\n")
)

// Write is called by net/http, for an announced answer with its head. Where that says that it is empty, the answer goes;
// for HEAD and with 304 it says nothing of a length.
func (c *Conn) Write(p []byte) (int, error) {
	if !c.announced {
		return c.TCPConn.Write(p)
	}
	from := bytes.Index(p, empty)
	to := from + len(empty)
	if from < 0 {
		from = bytes.Index(p, lineEnd) + len(lineEnd) // after the status line
		to = from
	}
	c.pieces = [4][]byte{p[:from], c.lines, p[to:], c.body}
	c.announced, c.lines, c.body = false, nil, nil
	c.buffers = c.pieces[:]
	if _, err := c.buffers.WriteTo(c.TCPConn); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the connection, and lets another one in.
func (c *Conn) Close() error {
	err := c.TCPConn.Close()
	c.release()
	return err
}

// Listener accepts connections of this package, and no more than a number of them at a time.
type Listener struct {
	*net.TCPListener
	slots  chan struct{} // nil: any number
	closed chan struct{}
	close  func() error
}

// NewListener returns a listener for up to max connections. 0 means any number.
func NewListener(l *net.TCPListener, max int) *Listener {
	wrapped := &Listener{TCPListener: l, closed: make(chan struct{})}
	if max > 0 {
		wrapped.slots = make(chan struct{}, max)
	}
	wrapped.close = sync.OnceValue(func() error {
		close(wrapped.closed)
		return l.Close()
	})
	return wrapped
}

// Accept waits for a slot, and then for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	release := func() {}
	if l.slots != nil {
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		release = sync.OnceFunc(func() { <-l.slots })
	}
	c, err := l.AcceptTCP()
	if err != nil {
		release()
		return nil, err
	}
	return &Conn{TCPConn: c, release: release}, nil
}

// Close closes the listener. Connections stay open.
func (l *Listener) Close() error { return l.close() }

type connKey struct{}

// Context is for [http.Server.ConnContext]: it makes a connection known to [FromContext].
func Context(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx // under TLS, answers are cut into records anyway
}

// FromContext returns the connection of a request, or nil if it is none of this package.
func FromContext(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
