package wire

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Listener accepts connections of this package, up to a maximum at a time. Where that is reached, a new connection
// takes the place of the one that has been idle for longest. While none is idle, it waits, and those behind it wait in
// the kernel's accept queue.
type Listener struct {
	*net.TCPListener
	max     int // 0: any number
	start   time.Time
	closed  chan struct{}
	close   func() error
	waiting atomic.Bool   // for a slot
	changed chan struct{} // a connection was closed or became idle while waiting

	mu   sync.Mutex
	open map[*Conn]bool
}

// firstRequest is how long a new connection does not count as idle. Its request may be there already and wait for a
// busy machine to read it.
const firstRequest = time.Second

// NewListener returns a listener for up to max connections. 0 or less means any number. Connections are known to be idle
// only where [Listener.ConnState] is the ConnState of the [http.Server].
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

// Accept waits for a connection, and then for its turn.
func (l *Listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &Conn{TCPConn: tcp, listener: l, peer: tcp.RemoteAddr().String()}
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

// add counts a connection, unless there are as many as there may be.
func (l *Listener) add(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.max > 0 && len(l.open) >= l.max
	l.waiting.Store(full) // before it looks for an idle one, so that it hears of those that become idle meanwhile
	if !full {
		l.open[c] = true
	}
	return !full
}

// longestIdle returns the connection that has been idle for longest, if there is one, and for how long it is still left
// alone. It looks at all of them, so that nothing needs to be kept in order for each request.
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

// wake lets Accept look again, if it waits.
func (l *Listener) wake() {
	if l.waiting.Load() {
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

// now returns the time since the start, which is never 0.
func (l *Listener) now() int64 { return int64(time.Since(l.start)) + 1 }

// Open returns the number of connections.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// ConnState is for [http.Server.ConnState]. It notes which connections are idle.
func (l *Listener) ConnState(conn net.Conn, state http.ConnState) {
	if under, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = under.NetConn() // of a TLS connection
	}
	c, ok := conn.(*Conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		c.idleSince.Store(0)
	case http.StateNew:
		c.idleSince.Store(l.now() + int64(firstRequest))
		l.wake()
	case http.StateIdle: // until a whole request has come
		c.idleSince.Store(l.now())
		l.wake()
	}
}

// Close closes the listener. Connections stay open.
func (l *Listener) Close() error { return l.close() }
