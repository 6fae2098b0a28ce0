package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is a connection accepted by a [Listener]. It behaves like a plain TCP connection until a response is announced.
type Conn struct {
	*net.TCPConn
	listener  *Listener
	peer      string
	idleSince atomic.Int64 // on the listener's clock; 0 while a request is in progress
	pace      pace

	mu      sync.Mutex
	pending *announcement // nil or &next
	next    announcement

	pieces  [4][]byte
	buffers net.Buffers // of pieces; a field to avoid an allocation per response
}

// Response is a response to announce. It must not change until it has been written.
type Response struct {
	Status int
	Header []byte // complete lines with CRLF, including Content-Length, but not Date, Connection or Transfer-Encoding
	Body   []byte // empty for a response to HEAD
	Head   bool   // responds to HEAD
}

// Observer is notified when an announced response has been written.
type Observer interface {
	// Written is called exactly once, with the number of body bytes written. An error means that the connection is gone
	// or that the response was never sent.
	Written(body int, err error)
}

type announcement struct {
	Response
	observer Observer
}

// Announce hands over the response to the current request. The handler must then write the status, but no headers and
// no body, and return. The observer may be nil.
func (c *Conn) Announce(r Response, observer Observer) {
	c.mu.Lock()
	taken := c.pending != nil
	if !taken {
		c.next = announcement{r, observer}
		c.pending = &c.next
	}
	c.mu.Unlock()
	if taken {
		err := errors.New("wire: response not sent: the previous one is still pending")
		c.abandon(err)
		announcement{r, observer}.written(0, err)
	}
}

// take returns the pending response and clears it.
func (c *Conn) take() (a announcement, ok bool) {
	c.mu.Lock()
	if c.pending != nil {
		a, ok = c.next, true
		c.pending, c.next = nil, announcement{} // release the memory while the connection is idle
	}
	c.mu.Unlock()
	return a, ok
}

// abandon closes the connection if a response is pending, because it can no longer be sent. It reports whether it did.
func (c *Conn) abandon(err error) bool {
	a, ok := c.take()
	if ok {
		c.TCPConn.Close()
		a.written(0, err)
	}
	return ok
}

func (a announcement) written(body int, err error) {
	if a.observer != nil {
		a.observer.Written(body, err)
	}
}

// Read is called by net/http.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(c.pace.beforeRead(p))
	c.pace.read(n)
	return n, err
}

// Write is called by net/http. While a response is pending, p must be its head as net/http writes it: complete, with
// the announced status, and declaring an empty body.
func (c *Conn) Write(p []byte) (int, error) {
	a, ok := c.take()
	if !ok {
		return c.pace.write(c.TCPConn.Write, p)
	}
	before, after, err := a.cut(p)
	if err != nil {
		c.TCPConn.Close()
		a.written(0, err)
		return 0, err
	}
	c.pieces = [4][]byte{before, a.Header, after, a.Body}
	c.buffers = c.pieces[:]
	n, err := c.buffers.WriteTo(c.TCPConn)
	c.pieces = [4][]byte{}
	a.written(max(0, int(n)-len(before)-len(a.Header)-len(after)), err)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

var (
	errReplaced = errors.New("wire: response not sent: another one was written instead")
	errSkipped  = errors.New("wire: response not sent: the request ended without it")
)

// ReadFrom is overridden because the one of TCPConn would bypass Write.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	if c.abandon(errReplaced) {
		return 0, errReplaced
	}
	return c.TCPConn.ReadFrom(r)
}

// SetWriteDeadline is called by net/http before it reads a request and after it has finished one, but not in between. A
// response that is still pending then was never written and must not be sent with the next one.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.abandon(errSkipped) {
		return errSkipped
	}
	return c.TCPConn.SetWriteDeadline(t)
}

// Close closes the connection and frees its slot.
func (c *Conn) Close() error {
	err := c.TCPConn.Close()
	c.listener.remove(c)
	c.abandon(net.ErrClosed)
	return err
}

var (
	headEnd = []byte("\r\n\r\n")
	empty   = []byte("\r\nContent-Length: 0\r\n")

	// own lists the header fields that net/http adds to a response that sets none.
	own = [][]byte{[]byte("Date: "), []byte("Connection: ")}
)

// cut checks the head of an empty response and returns the parts to send before and after the announced header.
func (a *announcement) cut(p []byte) (before, after []byte, err error) {
	bad := func(why string) ([]byte, []byte, error) {
		return nil, nil, fmt.Errorf("wire: response not sent: net/http's head %s: %.60q", why, p)
	}
	first := cutLine(p) // the status line
	if !isStatusLine(first, a.Status) {
		return bad(fmt.Sprintf("does not have status %d of HTTP/1", a.Status))
	}
	if bytes.Index(p, headEnd) != len(p)-len(headEnd) {
		return bad("is incomplete, or is followed by something else")
	}
	from, to := len(first), len(first)
	if noLength := a.Head || a.Status == http.StatusNotModified || a.Status == http.StatusNoContent; !noLength {
		i := bytes.Index(p, empty)
		if i < 0 {
			return bad("does not declare an empty body")
		}
		from, to = i+len("\r\n"), i+len(empty)
	}
	if !onlyOwn(p[len(first):from]) || !onlyOwn(p[to:len(p)-len("\r\n")]) {
		return bad("has more header fields than Date and Connection")
	}
	return p[:from], p[to:], nil
}

// cutLine returns the first line of p with its CRLF, or nil.
func cutLine(p []byte) []byte {
	if i := bytes.IndexByte(p, '\n'); i > 0 && p[i-1] == '\r' {
		return p[:i+1]
	}
	return nil
}

// isStatusLine reports whether line is an HTTP/1 status line with this status.
func isStatusLine(line []byte, status int) bool {
	const example = "HTTP/1.1 200 "
	return len(line) > len(example) && string(line[:7]) == example[:7] && (line[7] == '0' || line[7] == '1') && line[8] == ' ' && line[12] == ' ' &&
		int(line[9]-'0')*100+int(line[10]-'0')*10+int(line[11]-'0') == status
}

// onlyOwn reports whether net/http adds all these fields by itself.
func onlyOwn(lines []byte) bool {
	for len(lines) > 0 {
		line := cutLine(lines)
		if !bytes.HasPrefix(line, own[0]) && !bytes.HasPrefix(line, own[1]) {
			return false
		}
		lines = lines[len(line):]
	}
	return true
}
