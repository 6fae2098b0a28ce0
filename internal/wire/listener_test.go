package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// ask sends a request and reads the head of the response.
func ask(conn net.Conn, path string) error {
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path); err != nil {
		return err
	}
	head := make([]byte, len("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"))
	_, err := io.ReadFull(conn, head)
	return err
}

// waitIdle waits until a connection counts as idle. The response may have arrived before that.
func waitIdle(t *testing.T, l *Listener, conn net.Conn) {
	t.Helper()
	idle := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.open {
			if c.peer == conn.LocalAddr().String() {
				return !c.active.Load() && c.ripe.Load() <= l.now()
			}
		}
		return false
	}
	testkit.Eventually(t, "an idle connection", idle)
}

// At the limit, a new connection replaces the one that has been idle longest, and no other.
func TestLongestIdleMakesWay(t *testing.T) {
	const max = 3
	l := listen(t)
	listener := NewListener(l, max)
	serve(t, &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ConnState: listener.ConnState}, listener)
	var conns []net.Conn
	for range max {
		conn := dial(t, l.Addr().String())
		if err := ask(conn, "/"); err != nil {
			t.Fatal(err)
		}
		waitIdle(t, listener, conn)
		conns = append(conns, conn)
	}
	if err := ask(conns[0], "/"); err != nil { // makes the second one the longest idle
		t.Fatal(err)
	}
	waitIdle(t, listener, conns[0])
	late := dial(t, l.Addr().String())
	if err := ask(late, "/"); err != nil { // before the others, since it may not have been accepted yet
		t.Fatal(err)
	}
	conns = append(conns, late)
	for i, conn := range conns {
		if err := ask(conn, "/"); (err != nil) != (i == 1) {
			t.Errorf("connection %d: %v", i, err)
		}
	}
	if n := listener.Open(); n != max {
		t.Errorf("%d connections are open, want %d", n, max)
	}
	for _, conn := range conns {
		conn.Close()
	}
	testkit.Eventually(t, "all slots to be free", func() bool { return listener.Open() == 0 })
}

// While all connections are busy, a new one waits.
func TestBusyConnectionsStay(t *testing.T) {
	const max = 3
	l := listen(t)
	listener := NewListener(l, max)
	listener.stalled = time.Hour
	finish, started := make(chan struct{}), make(chan struct{}, max)
	serve(t, &http.Server{ConnState: listener.ConnState, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			started <- struct{}{}
			<-finish
		}
	})}, listener)
	answered := make(chan error, max)
	for range max {
		conn := dial(t, l.Addr().String())
		go func() { answered <- ask(conn, "/busy") }()
		<-started
	}
	late := make(chan error, 1)
	conn := dial(t, l.Addr().String())
	go func() { late <- ask(conn, "/") }()
	finish <- struct{}{} // one becomes idle and is replaced; the late one cannot be answered before
	if err := <-late; err != nil {
		t.Error(err)
	}
	close(finish)
	for range max {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// A client that does not read its response makes way for a new one, although its request is in progress.
func TestStalledConnectionsMakeWay(t *testing.T) {
	const max = 3
	l := listen(t)
	listener := NewListener(l, max)
	listener.stalled = time.Millisecond
	started := make(chan struct{}, max)
	serve(t, &http.Server{ConnState: listener.ConnState, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			started <- struct{}{}
			w.Write(make([]byte, 64<<20)) // more than the buffers of a connection hold
		}
	})}, listener)
	for range max {
		fmt.Fprintf(dial(t, l.Addr().String()), "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
		<-started
	}
	if err := ask(dial(t, l.Addr().String()), "/"); err != nil {
		t.Error(err)
	}
}

// A client that sends half a request counts as idle.
func TestHalfRequestsMakeWay(t *testing.T) {
	const max = 3
	l := listen(t)
	listener := NewListener(l, max)
	serve(t, &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ConnState: listener.ConnState}, listener)
	for range 2 * max {
		fmt.Fprintf(dial(t, l.Addr().String()), "GET / HTTP/1.1\r\nHo")
	}
	if err := ask(dial(t, l.Addr().String()), "/"); err != nil {
		t.Error(err)
	}
}

func TestAcceptEndsWithTheListener(t *testing.T) {
	l := listen(t)
	listener := NewListener(l, 1)
	dial(t, l.Addr().String())
	if _, err := listener.Accept(); err != nil {
		t.Fatal(err)
	}
	dial(t, l.Addr().String())
	ended := make(chan error)
	go func() {
		_, err := listener.Accept() // no slot
		ended <- err
	}()
	if err := errors.Join(listener.Close(), listener.Close()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept ended with %v", err)
	}
}
