package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// maxOpen is the limit of connections in these tests.
const maxOpen = 3

// limited serves a handler on at most maxOpen connections, and returns the address.
func limited(t *testing.T, stalled time.Duration, h http.HandlerFunc) (*Listener, string) {
	listener := NewListener(listen(t), maxOpen)
	listener.stalled = stalled
	serve(t, &http.Server{Handler: &sending{Handler: h, sent: new(atomic.Int64)}}, listener)
	return listener, listener.Addr().String()
}

// methods are those of a plain request, and of one that is left to net/http.
var methods = []string{"GET", "OPTIONS"}

// ask sends a plain request and reads the head of the response.
func ask(conn net.Conn, path string) error { return askBy(conn, "GET", path) }

func askBy(conn net.Conn, method, path string) error {
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: a\r\n\r\n", method, path); err != nil {
		return err
	}
	head := make([]byte, len("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"))
	_, err := io.ReadFull(conn, head)
	return err
}

// waitIdle waits until a connection counts as idle. The response may have arrived before that.
func waitIdle(t *testing.T, l *Listener, conn net.Conn) {
	t.Helper()
	testkit.Eventually(t, "an idle connection", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for c := range l.conns {
			if c.RemoteAddr().String() == conn.LocalAddr().String() {
				return c.state.Load() == idle && c.ripe.Load() <= l.now()
			}
		}
		return false
	})
}

// At the limit, a new connection replaces the one that has been idle longest, and no other.
func TestLongestIdleMakesWay(t *testing.T) {
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			listener, address := limited(t, time.Hour, func(http.ResponseWriter, *http.Request) {})
			var conns []net.Conn
			for range maxOpen {
				conn := dial(t, address)
				testkit.OK(t, askBy(conn, method, "/"))
				waitIdle(t, listener, conn)
				conns = append(conns, conn)
			}
			testkit.OK(t, askBy(conns[0], method, "/")) // makes the second one the longest idle
			waitIdle(t, listener, conns[0])
			conns = append(conns, dial(t, address))
			testkit.OK(t, askBy(conns[maxOpen], method, "/")) // before the others, since it may not have been accepted yet
			for i, conn := range conns {
				if err := askBy(conn, method, "/"); (err != nil) != (i == 1) {
					t.Errorf("connection %d: %v", i, err)
				}
			}
			if n := listener.Len(); n != maxOpen {
				t.Errorf("%d connections are open, want %d", n, maxOpen)
			}
			for _, conn := range conns {
				conn.Close()
			}
			testkit.Eventually(t, "all slots to be free", func() bool { return listener.Len() == 0 })
		})
	}
}

// While all connections are busy, a new one waits.
func TestBusyConnectionsStay(t *testing.T) {
	for _, method := range methods {
		t.Run(method, func(t *testing.T) {
			finish, started := make(chan struct{}), make(chan struct{}, maxOpen)
			_, address := limited(t, time.Hour, func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/busy" {
					started <- struct{}{}
					<-finish
				}
			})
			answered := make(chan error, maxOpen)
			for range maxOpen {
				conn := dial(t, address)
				testkit.OK(t, askBy(conn, method, "/")) // so that it was idle
				go func() { answered <- askBy(conn, method, "/busy") }()
				<-started
			}
			late := make(chan error, 1)
			conn := dial(t, address)
			go func() { late <- askBy(conn, method, "/") }()
			finish <- struct{}{} // one becomes idle and is replaced; the late one cannot be answered before
			testkit.OK(t, <-late)
			close(finish)
			for range maxOpen {
				testkit.OK(t, <-answered)
			}
		})
	}
}

// A connection that has never sent a byte makes way, however young, before one that has been idle for long.
func TestSilentConnectionsMakeWay(t *testing.T) {
	listener, address := limited(t, time.Hour, func(http.ResponseWriter, *http.Request) {})
	idle := dial(t, address)
	testkit.OK(t, ask(idle, "/"))
	waitIdle(t, listener, idle)
	var silent []net.Conn
	for n := range 4 * maxOpen {
		silent = append(silent, dial(t, address))
		testkit.Eventually(t, "the oldest silent connection to make way", func() bool { return listener.Len() == min(n+2, maxOpen) })
	}
	testkit.OK(t, ask(silent[len(silent)-1], "/")) // the last one begins to speak
	testkit.OK(t, ask(dial(t, address), "/"))
	testkit.OK(t, ask(idle, "/"))
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest silent connection is still open: %v", err)
	}
}

// A connection whose request has arrived does not make way for a new one, even if nobody has had the time to read it.
func TestUnreadRequestsStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it cannot be told there")
	}
	listener := NewListener(listen(t), maxOpen)
	t.Cleanup(func() { listener.Close() })
	var clients, accepted []net.Conn
	for i := range maxOpen {
		clients = append(clients, dial(t, listener.Addr().String()))
		accepted = append(accepted, testkit.Must(listener.Accept())(t))
		if i != 1 {
			io.WriteString(clients[i], "G")
			testkit.Eventually(t, "a byte", func() bool { return accepted[i].(*Conn).arrived() })
		}
	}
	dial(t, listener.Addr().String())
	testkit.Must(listener.Accept())(t)
	io.WriteString(clients[1], "G") // so that reading from it ends, if it is still open
	for i, conn := range accepted {
		if _, err := conn.Read(make([]byte, 1)); (err != nil) != (i == 1) {
			t.Errorf("connection %d: %v", i, err)
		}
	}
}

// Clients that get no further make way for a new one: those that do not read their response, although their request is in
// progress, and those that have sent half a request.
func TestStalledConnectionsMakeWay(t *testing.T) {
	for request, stalled := range map[string]time.Duration{
		"GET /large HTTP/1.1\r\nHost: a\r\n\r\n": time.Millisecond,
		"GET / HTTP/1.1\r\nHo":                   time.Hour, // of a request in progress, which this is not
	} {
		started := make(chan struct{}, maxOpen)
		_, address := limited(t, stalled, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/large" {
				started <- struct{}{}
				w.Write(make([]byte, 64<<20)) // more than the buffers of a connection hold
			}
		})
		for range maxOpen {
			io.WriteString(dial(t, address), request)
			if request[5] == 'l' {
				<-started
			}
		}
		testkit.OK(t, ask(dial(t, address), "/"))
	}
}

// Over HTTP/2, a client that leaves the window of its stream closed makes way, too.
func TestClosedWindowsMakeWay(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	listener := NewListener(srv.Listener, maxOpen)
	listener.stalled = time.Millisecond
	started := make(chan struct{}, maxOpen)
	srv.Listener, srv.EnableHTTP2, srv.Config.ConnState = listener, true, listener.ConnState
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "silent" {
			started <- struct{}{}
		}
		io.WriteString(w, "manifest")
	})
	srv.StartTLS()
	t.Cleanup(srv.Close) // after the connections below, which it would wait for
	for range maxOpen {
		conn := tls.Client(dial(t, listener.Addr().String()), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
			"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00"+ // SETTINGS with an initial window of 0
			"\x00\x00\x0b\x01\x05\x00\x00\x00\x01\x82\x84\x87\x01\x06silent") // HEADERS: GET, /, https, host
		<-started
	}
	if res, text := testkit.Get(t, srv.Client(), srv.URL); text != "manifest" || res.ProtoMajor != 2 {
		t.Errorf("%s %q", res.Proto, text)
	}
}

// A connection that waits for a slot is closed with the listener.
func TestAcceptEndsWithTheListener(t *testing.T) {
	inner := make(pipeListener)
	listener := NewListener(inner, 1)
	ended := make(chan error)
	go func() {
		conn, _ := listener.Accept()
		conn.Read(make([]byte, 1))
		_, err := listener.Accept() // no slot
		ended <- err
	}()
	first, speaker := net.Pipe()
	go speaker.Write([]byte("G"))
	second, client := net.Pipe()
	inner <- first
	inner <- second
	testkit.OK(t, listener.Close())
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept ended with %v", err)
	}
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection that waited is still open: %v", err)
	}
}
