package wire

import (
	"net"
	"sync"
)

// Listener accepts connections of this package, up to a maximum at a time.
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

// Accept waits for a slot, then for a connection.
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
	return &Conn{TCPConn: c, peer: c.RemoteAddr().String(), release: release}, nil
}

// Close closes the listener. Connections stay open.
func (l *Listener) Close() error { return l.close() }
