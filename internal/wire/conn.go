package wire

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// Conn is a connection accepted by a [Listener]. It behaves like the one that it wraps until a response is announced.
type Conn struct {
	net.Conn
	listener *Listener
	silent   *list.Element // in the listener's list, until the first byte has been read
	heard    atomic.Bool   // a byte has been read
	active   atomic.Bool   // a request is in progress
	ripe     atomic.Int64  // when the connection may be closed in favor of another, on the listener's clock

	plain      bool // net/http has this connection itself, and not TLS above it
	reads      deadline
	writes     deadline
	background backgroundRead

	pending atomic.Pointer[Response]
	pieces  [4][]byte
	buffers net.Buffers // of pieces; a field to avoid an allocation per response
}

// Response is a response to announce. It must not change until it has been written.
type Response struct {
	Status int
	Header []byte // complete lines with CRLF, including Content-Length, but not Date, Connection or Transfer-Encoding
	Body   []byte // empty for a response to HEAD
	Observer
}

// Observer is notified when an announced response has been written.
type Observer interface {
	// Written is called exactly once, with the number of body bytes written. An error means that the connection is gone
	// or that the response was never sent.
	Written(body int, err error)
}

var errNotSent = errors.New("wire: response not sent: net/http ended the request without it")

// Announce hands over the response to the current request. The handler must then write the status, but no headers and
// no body, and return.
func (c *Conn) Announce(r *Response) {
	if !c.pending.CompareAndSwap(nil, r) {
		c.abandon(errNotSent)
		r.Written(0, errNotSent)
	}
}

// abandon closes the connection if a response is pending, because it can no longer be sent. It reports whether it did.
func (c *Conn) abandon(err error) bool {
	r := c.pending.Swap(nil)
	if r != nil {
		c.Conn.Close()
		r.Written(0, err)
	}
	return r != nil
}

// Read is called by net/http.
func (c *Conn) Read(p []byte) (int, error) {
	if c.plain {
		if len(p) == 1 && c.active.Load() { // what is read of a request or its body is buffered
			return c.background.wait()
		}
		if t, due := c.reads.due(); due {
			c.Conn.SetReadDeadline(t)
		}
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
		c.listener.heard(c)
	}
	c.progress()
	return n, err
}

// Write is called by net/http. While a response is pending, p must be its head as net/http writes it.
func (c *Conn) Write(p []byte) (int, error) {
	if c.plain {
		if t, due := c.writes.due(); due {
			c.Conn.SetWriteDeadline(t)
		}
	}
	r := c.pending.Swap(nil)
	if r == nil {
		n, err := c.Conn.Write(p)
		c.progress()
		return n, err
	}
	before, after, err := r.split(p)
	if err != nil {
		c.Conn.Close()
		r.Written(0, err)
		return 0, err
	}
	head := len(before) + len(r.Header) + len(after)
	c.pieces = [4][]byte{before, r.Header, after, r.Body}
	c.buffers = c.pieces[:]
	n, err := c.buffers.WriteTo(c.Conn)
	c.pieces = [4][]byte{}
	r.Written(max(0, int(n)-head), err)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// progress puts off closing an active connection in favor of another.
func (c *Conn) progress() {
	if c.active.Load() {
		c.ripe.Store(c.listener.now() + int64(c.listener.stalled))
	}
}

// SetReadDeadline is called by net/http before every read, and to abort one in the background.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.plain {
		return c.Conn.SetReadDeadline(t)
	}
	c.reads.wanted = t
	c.background.abort(!t.IsZero() && t.Before(c.listener.start))
	return nil
}

// SetWriteDeadline is called by net/http before it reads a request and after it has finished one, but not in between. A
// response that is still pending then was never written and must not be sent with the next one.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.abandon(errNotSent) {
		return errNotSent
	}
	if !c.plain {
		return c.Conn.SetWriteDeadline(t)
	}
	c.writes.wanted = t
	return nil
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
	c.abandon(net.ErrClosed)
	return err
}

var (
	crlf = []byte("\r\n")

	// Fields that net/http adds to a response that sets none, besides Content-Length.
	dateField, connectionField = []byte("Date: "), []byte("Connection: ")
)

// split checks that p is the complete head of an empty response with the right status, and returns the parts to send
// before and after the announced header. It leaves out the length, which responses to HEAD, 204 and 304 do not have.
func (r *Response) split(p []byte) (before, after []byte, err error) {
	bad := func(why string) ([]byte, []byte, error) {
		return nil, nil, fmt.Errorf("wire: response not sent: net/http's head %s: %.60q", why, p)
	}
	line, after, _ := bytes.Cut(p, crlf)
	isStatus := len(line) >= len("HTTP/1.1 200") && string(line[:7]) == "HTTP/1."
	if !isStatus || int(line[9]-'0')*100+int(line[10]-'0')*10+int(line[11]-'0') != r.Status {
		return bad(fmt.Sprintf("does not have status %d", r.Status))
	}
	before = p[:len(p)-len(after)]
	for rest, lengths := after, 0; string(rest) != "\r\n"; {
		line, next, _ := bytes.Cut(rest, crlf)
		switch {
		case bytes.HasPrefix(line, dateField) || bytes.HasPrefix(line, connectionField):
		case lengths == 0 && string(line) == "Content-Length: 0":
			before, after = p[:len(p)-len(rest)], next
			lengths++
		default:
			return bad("is not that of an empty response")
		}
		rest = next
	}
	return before, after, nil
}
