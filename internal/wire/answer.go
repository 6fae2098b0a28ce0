package wire

import (
	"cmp"
	"errors"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// deadlineSlack is how much later than asked for a deadline may be, so that they need not be set for each request.
const deadlineSlack = time.Second

// Sender is implemented by the ResponseWriter that handlers get for plain requests. They must send a response with it,
// exactly once, and not write it as usual.
type Sender interface {
	// Send sends a complete response. The header consists of lines with CRLF, including Content-Length, but not Date and
	// Connection. The body is empty in a response to HEAD. It returns the number of body bytes written.
	Send(status int, header, body []byte) (n int, err error)
}

// answer answers the requests on a connection as long as they are plain, and then closes it. It returns false, with the
// connection open, if the next request is one for net/http.
func (c *Conn) answer(srv *http.Server) (closed bool) {
	defer func() {
		failure := recover()
		if failure != nil && failure != http.ErrAbortHandler {
			errorLog := cmp.Or(srv.ErrorLog, log.Default())
			errorLog.Printf("http: panic serving %v: %v\n%s", c.RemoteAddr(), failure, debug.Stack())
		}
		if closed || failure != nil {
			c.Close()
			closed = true
		}
	}()
	data, peer := make([]byte, maxPlain), c.RemoteAddr().String()
	w := &writer{conn: c}
	var renewed time.Time // when the deadlines were set
	c.SetReadDeadline(deadline(time.Now(), srv.ReadHeaderTimeout))
	for {
		n, err := c.Read(data)
		if err != nil {
			return true
		}
		r := plainRequest(data[:n])
		if r == nil {
			c.unread = data[:n]
			c.SetDeadline(time.Time{})
			return false
		}
		r.RemoteAddr = peer
		c.begin()
		now := time.Now()
		if now.Sub(renewed) >= deadlineSlack {
			c.SetWriteDeadline(deadline(now.Add(deadlineSlack), srv.WriteTimeout))
			c.SetReadDeadline(deadline(now.Add(deadlineSlack), srv.IdleTimeout))
			renewed = now
		}
		w.now, w.sent, w.last = now, false, c.listener.draining.Load()
		srv.Handler.ServeHTTP(w, r)
		if !w.sent || w.last {
			return true
		}
		c.end()
	}
}

// deadline returns the end of a timeout, which is unlimited if it is not positive.
func deadline(now time.Time, timeout time.Duration) time.Time {
	if timeout <= 0 {
		return time.Time{}
	}
	return now.Add(timeout)
}

type writer struct {
	conn   *Conn
	now    time.Time
	last   bool // close the connection after this response
	sent   bool // successfully
	second int64
	date   []byte // the header line, for that second
	head   []byte
	pieces [2][]byte
	bodies net.Buffers // of pieces; a field to avoid an allocation per response
}

var errNotSent = errors.New("wire: the response was written and not sent")

// Header, Write and WriteHeader make it a ResponseWriter. What is written is not sent.
func (w *writer) Header() http.Header       { return make(http.Header) }
func (w *writer) Write([]byte) (int, error) { return 0, errNotSent }
func (w *writer) WriteHeader(int)           {}

// Send implements [Sender].
func (w *writer) Send(status int, header, body []byte) (n int, err error) {
	if second := w.now.Unix(); second != w.second {
		w.second = second
		w.date = append(w.now.UTC().AppendFormat(append(w.date[:0], "Date: "...), http.TimeFormat), "\r\n"...)
	}
	head := append(w.head[:0], "HTTP/1.1 "...)
	head = append(strconv.AppendInt(head, int64(status), 10), ' ')
	head = append(append(head, http.StatusText(status)...), "\r\n"...)
	head = append(append(head, w.date...), header...)
	if w.last {
		head = append(head, "Connection: close\r\n"...)
	}
	w.head = append(head, "\r\n"...)
	w.pieces = [2][]byte{w.head, body}
	w.bodies = w.pieces[:]
	written, err := w.bodies.WriteTo(w.conn.Conn)
	w.pieces = [2][]byte{}
	w.sent = err == nil
	return max(0, int(written)-len(w.head)), err
}
