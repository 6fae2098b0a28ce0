package wire

import (
	"container/list"
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstRequest is how long a client may take to complete a request that has begun to arrive. Those that never do
	// cannot take all slots for longer than that.
	firstRequest = 200 * time.Millisecond

	// stalled is how long a request in progress may go without a read or write. Clients that do not read, or leave an
	// HTTP/2 window closed, get no further. A slow one is cut off only if others are waiting for its slot.
	stalled = 5 * time.Second

	// shutdownPoll is how often Shutdown looks whether requests are complete.
	shutdownPoll = 5 * time.Millisecond
)

// Listener accepts a limited number of concurrent connections. At the limit, a new connection replaces the oldest one
// that has never sent a byte, and otherwise the one that has been idle or stalled longest; one whose request has
// arrived is neither. If there is none, it waits, and further connections wait in the kernel's accept queue.
type Listener struct {
	net.Listener
	max     int // 0 means unlimited
	stalled time.Duration
	start   time.Time
	closed  context.Context
	cancel  context.CancelFunc // of closed
	changed chan struct{}      // signals that a connection was closed or became idle

	server   *http.Server // that plain requests are answered for; nil for none
	begin    sync.Once    // accepting, for that server
	left     chan *Conn   // connections that are left to net/http
	failed   chan error   // of accepting
	draining atomic.Bool  // responses close their connection

	mu     sync.Mutex
	conns  map[*Conn]bool
	silent list.List // of those, the ones that have not sent a byte, oldest first
}

// NewListener returns a listener for at most max connections; 0 or less means unlimited. It can tell idle connections
// only if [Listener.ConnState] is the ConnState of the [http.Server].
func NewListener(inner net.Listener, max int) *Listener {
	l := &Listener{
		Listener: inner, max: max, stalled: stalled, start: time.Now(),
		conns: make(map[*Conn]bool), changed: make(chan struct{}, 1), left: make(chan *Conn), failed: make(chan error),
	}
	l.closed, l.cancel = context.WithCancel(context.Background())
	return l
}

// Answer makes the listener answer plain requests itself, with the handler and the timeouts of the server that is going
// to serve on it, over plain http. The handler must use the [Sender].
func (l *Listener) Answer(srv *http.Server) { l.server = srv }

// Accept waits for a connection: with [Listener.Answer], for one with a request that is not plain.
func (l *Listener) Accept() (net.Conn, error) {
	if l.server == nil {
		return l.accept()
	}
	l.begin.Do(func() { go l.answer() })
	select {
	case c := <-l.left:
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed.Done():
		return nil, net.ErrClosed
	}
}

// answer accepts connections, and answers the plain requests on each, until the listener is closed.
func (l *Listener) answer() {
	for l.closed.Err() == nil {
		c, err := l.accept()
		if err != nil {
			select {
			case l.failed <- err: // net/http pauses before it calls Accept again
			case <-l.closed.Done():
			}
			continue
		}
		go func() {
			if c.answer(l.server) {
				return
			}
			select {
			case l.left <- c:
			case <-l.closed.Done():
				c.Close()
			}
		}()
	}
}

// accept waits for a connection and then for a free slot.
func (l *Listener) accept() (*Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: inner, listener: l}
	for {
		ripest, wait := l.add(c)
		if ripest == nil {
			return c, nil
		}
		if wait <= 0 {
			if !l.spares(ripest) {
				ripest.Close()
			}
			continue
		}
		select {
		case <-l.changed:
		case <-time.After(wait):
		case <-l.closed.Done():
			inner.Close()
			return nil, net.ErrClosed
		}
	}
}

// add registers a connection or, at the limit, returns the one that may be closed first, and the time until then. Of
// those that have sent something it scans all, so that requests need not maintain an order.
func (l *Listener) add(c *Conn) (ripest *Conn, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.max <= 0 || len(l.conns) < l.max {
		c.ripe.Store(l.now() + int64(firstRequest))
		c.element = l.silent.PushBack(c)
		l.conns[c] = true
		return nil, 0
	}
	if oldest := l.silent.Front(); oldest != nil {
		return oldest.Value.(*Conn), 0
	}
	for other := range l.conns {
		if ripest == nil || other.ripe.Load() < ripest.ripe.Load() {
			ripest = other
		}
	}
	return ripest, time.Duration(ripest.ripe.Load() - l.now())
}

// spares puts off closing a connection whose next request has arrived, and is only waiting for a processor to read it.
// It reports whether it did, or whether the first bytes were read since the connection was chosen.
func (l *Listener) spares(c *Conn) bool {
	state := c.state.Load()
	if state == reading && c.ripe.Load() > l.now() {
		return true
	}
	if state == active || !c.arrived() {
		return false
	}
	c.ripe.Store(l.now() + int64(firstRequest))
	l.heard(c)
	return true
}

func (l *Listener) heard(c *Conn) {
	l.mu.Lock()
	l.silent.Remove(c.element)
	l.mu.Unlock()
}

func (l *Listener) remove(c *Conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.silent.Remove(c.element)
	l.mu.Unlock()
	l.wake()
}

// wake makes a waiting Accept look again.
func (l *Listener) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *Listener) now() int64 { return int64(time.Since(l.start)) }

// Len returns the number of open connections.
func (l *Listener) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// ConnState is for the [http.Server.ConnState] of a server on this listener. It tracks which connections are idle. One
// whose request has not arrived completely is idle, too.
func (l *Listener) ConnState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c := conn.(*Conn)
	switch state {
	case http.StateActive:
		c.begin()
	case http.StateIdle:
		c.end()
	}
}

// Drain makes all responses to plain requests the last ones on their connections, and closes connections that wait for
// another request. One that is silent, or in the middle of a request, gets its response.
func (l *Listener) Drain() {
	l.draining.Store(true)
	l.closeIf(func(c *Conn) bool { return c.state.Load() == idle && c.waits() })
}

// Shutdown closes connections as soon as they wait for a request, or for the rest of one longer than firstRequest, and
// all of them when ctx is done. It goes with the Shutdown of the [http.Server], which does not know about all of them,
// and waits for seconds for those that have sent half a request, or only a TLS handshake.
func (l *Listener) Shutdown(ctx context.Context) error {
	for l.Len() > 0 {
		if ctx.Err() != nil {
			l.closeIf(func(*Conn) bool { return true })
			return ctx.Err()
		}
		l.closeIf(func(c *Conn) bool {
			isSlow := c.state.Load() == reading && c.ripe.Load() < l.now()
			return isSlow || c.waits()
		})
		select {
		case <-ctx.Done():
		case <-time.After(shutdownPoll):
		}
	}
	return nil
}

func (l *Listener) connections() []*Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.conns))
}

func (l *Listener) closeIf(condition func(*Conn) bool) {
	for _, c := range l.connections() {
		if condition(c) {
			c.Close()
		}
	}
}

// Close closes the listener. Connections stay open.
func (l *Listener) Close() error {
	l.cancel()
	return l.Listener.Close()
}
