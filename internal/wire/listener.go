package wire

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Listener accepts a limited number of concurrent connections. At the limit, a new connection replaces the one that has
// been idle longest. If none is idle, it waits, and further connections wait in the kernel's accept queue.
type Listener struct {
	*net.TCPListener
	max     int // 0 means unlimited
	start   time.Time
	closed  chan struct{}
	close   func() error
	waiting atomic.Bool   // Accept is waiting for a slot
	changed chan struct{} // signals that a connection was closed or became idle

	mu   sync.Mutex
	open map[*Conn]bool
}

// firstRequest is how long a new connection does not count as idle: its request may have arrived already but not been
// read yet on a busy machine.
const firstRequest = time.Second

// NewListener returns a listener for at most max connections; 0 or less means unlimited. It can detect idle connections
// only if [Listener.ConnState] is the ConnState of the [http.Server].
func NewListener(l *net.TCPListener, max int) *Listener {
	wrapped := &Listener{
		TCPListener: l, max: max, start: time.Now(), open: make(map[*Conn]bool),
		closed: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	wrapped.close = sync.OnceValue(func() error {
		close(wrapped.closed)
		return l.Close()
	})
	return wrapped
}

// Accept waits for a connection and then for a free slot.
func (l *Listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &Conn{TCPConn: tcp, listener: l, peer: tcp.RemoteAddr().String(), pace: pace{wrote: make(chan struct{}, 1)}}
	for !l.add(c) {
		idle, wait := l.longestIdle()
		if idle != nil && wait <= 0 {
			idle.Close()
			continue
		}
		var ripe <-chan time.Time
		if idle != nil {
			ripe = time.After(wait)
		}
		select {
		case <-l.changed:
		case <-ripe:
		case <-l.closed:
			tcp.Close()
			return nil, net.ErrClosed
		}
	}
	return c, nil
}

// add registers a connection unless the limit is reached.
func (l *Listener) add(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.max > 0 && len(l.open) >= l.max
	l.waiting.Store(full) // set before looking for an idle connection, so as not to miss one that becomes idle meanwhile
	if !full {
		l.open[c] = true
	}
	return !full
}

// longestIdle returns the connection that has been idle longest, or nil, and the time until it may be closed. It scans
// all connections, so that requests need not maintain an order.
func (l *Listener) longestIdle() (*Conn, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var longest *Conn
	var since int64
	for c := range l.open {
		if at := c.idleSince.Load(); at > 0 && (longest == nil || at < since) {
			longest, since = c, at
		}
	}
	return longest, time.Duration(since - l.now())
}

// remove frees the slot of a connection.
func (l *Listener) remove(c *Conn) {
	l.mu.Lock()
	delete(l.open, c)
	l.mu.Unlock()
	l.wake()
}

// wake makes a waiting Accept look again.
func (l *Listener) wake() {
	if l.waiting.Load() {
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

// now returns the time since the start. It is never 0.
func (l *Listener) now() int64 { return int64(time.Since(l.start)) + 1 }

// Open returns the number of open connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// ConnState is for [http.Server.ConnState]. It tracks which connections are idle, and which use HTTP/2.
func (l *Listener) ConnState(conn net.Conn, state http.ConnState) {
	secure, isTLS := conn.(*tls.Conn)
	if isTLS {
		conn = secure.NetConn()
	}
	c, ok := conn.(*Conn)
	if !ok {
		return
	}
	if isTLS && state == http.StateActive && secure.ConnectionState().NegotiatedProtocol == "h2" {
		c.pace.on.Store(true)
	}
	switch state {
	case http.StateActive:
		c.idleSince.Store(0)
	case http.StateNew:
		c.idleSince.Store(l.now() + int64(firstRequest))
		l.wake()
	case http.StateIdle: // idle until a complete request has arrived
		c.idleSince.Store(l.now())
		l.wake()
	}
}

// Close closes the listener. Connections stay open.
func (l *Listener) Close() error { return l.close() }
