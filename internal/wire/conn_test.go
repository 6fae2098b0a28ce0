package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signpost/internal/testkit"
)

func listen(t testing.TB) *net.TCPListener {
	t.Helper()
	return testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t).(*net.TCPListener)
}

// serve serves on a listener that answers plain requests, until the test ends.
func serve(t testing.TB, srv *http.Server, l *Listener) {
	srv.ConnState = l.ConnState
	l.Answer(srv)
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

// start serves the handler and returns the address.
func start(t testing.TB, h http.HandlerFunc) string {
	l := NewListener(listen(t), 0)
	serve(t, &http.Server{Handler: h}, l)
	return l.Addr().String()
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn := testkit.Must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	return conn
}

// sending is a handler that sends what another one writes, if it can.
type sending struct {
	http.Handler
	sent *atomic.Int64 // number of responses sent
}

func (h *sending) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sender, ok := w.(Sender)
	if !ok {
		h.Handler.ServeHTTP(w, r)
		return
	}
	written := httptest.NewRecorder()
	h.Handler.ServeHTTP(written, r)
	body := written.Body.Bytes()
	if written.Header().Get("Content-Length") == "" && written.Code != http.StatusNotModified {
		written.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	var lines bytes.Buffer
	written.Header().Write(&lines)
	if r.Method == http.MethodHead {
		body = nil
	}
	h.sent.Add(1)
	sender.Send(written.Code, lines.Bytes(), body)
}

// TestSend checks what the client and the handler get. TestWireSequences compares everything else with net/http.
func TestSend(t *testing.T) {
	body := strings.Repeat("body ", 1<<20) // larger than the buffers of a connection
	type outcome struct {
		body int
		err  error
	}
	sent := make(chan outcome, 1)
	address := start(t, func(w http.ResponseWriter, r *http.Request) {
		text := []byte(body)
		if r.Method == http.MethodHead {
			text = nil
		}
		n, err := w.(Sender).Send(http.StatusOK, fmt.Appendf(nil, "X-Test: %s\r\nContent-Length: %d\r\n", r.RemoteAddr, len(body)), text)
		sent <- outcome{n, err}
	})
	conn := dial(t, address)
	in := bufio.NewReader(conn)
	for _, method := range []string{"GET", "HEAD", "GET"} {
		want := body
		if method == "HEAD" {
			want = ""
		}
		fmt.Fprintf(conn, "%s / HTTP/1.1\r\nHost: a\r\n\r\n", method)
		res := testkit.Must(http.ReadResponse(in, &http.Request{Method: method}))(t)
		got, err := io.ReadAll(res.Body)
		if err != nil || string(got) != want || res.ContentLength != int64(len(body)) || res.Header.Get("X-Test") != conn.LocalAddr().String() {
			t.Errorf("%s: %v with a body of %d bytes, %v", method, res.Header, len(got), err)
		}
		date, err := http.ParseTime(res.Header.Get("Date"))
		if age := time.Since(date); err != nil || age < 0 || age > time.Minute {
			t.Errorf("%s: Date is %q", method, res.Header["Date"])
		}
		if told := <-sent; told.err != nil || told.body != len(want) {
			t.Errorf("%s: the handler was told of %d bytes, %v", method, told.body, told.err)
		}
	}
	gone := dial(t, address)
	gone.(*net.TCPConn).SetReadBuffer(4 << 10) // so that the response does not fit into the buffers
	fmt.Fprintf(gone, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	gone.Close()
	if told := <-sent; told.err == nil || told.body >= len(body) {
		t.Errorf("after the client is gone, the handler was told of %d bytes, %v", told.body, told.err)
	}
}

// TestFailsClosed runs handlers that do not send a response. The client must get nothing.
func TestFailsClosed(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"no response": func(http.ResponseWriter, *http.Request) {},
		"aborted":     func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"panic":       func(http.ResponseWriter, *http.Request) { panic("a mistake") },
		"written": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Own", "1")
			w.WriteHeader(http.StatusOK)
			if _, err := io.WriteString(w, "written"); !errors.Is(err, errNotSent) {
				t.Errorf("writing returns %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var logged testkit.Buffer
			l := NewListener(listen(t), 0)
			serve(t, &http.Server{Handler: handle, ErrorLog: log.New(&logged, "", 0)}, l)
			conn := dial(t, l.Addr().String())
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if got, err := io.ReadAll(conn); len(got) > 0 || err != nil {
				t.Errorf("%q was sent, %v", got, err)
			}
			if isLogged := strings.HasPrefix(logged.String(), "http: panic serving 127.0.0.1:"); isLogged != (name == "panic") {
				t.Errorf("the log is %s", logged.String())
			}
		})
	}
}

// TestPlainRequest checks which requests are plain.
func TestPlainRequest(t *testing.T) {
	testkit.Cases(t, "testdata/requests.golden", func(request string) string {
		r := plainRequest([]byte(request))
		if r == nil {
			return "left to net/http"
		}
		return fmt.Sprintf("%s %s of %s", r.Method, r.URL.Path, r.Host)
	})
	long := "GET / HTTP/1.1\r\nHost: a\r\nX: "
	long += strings.Repeat("a", maxPlain-len(long)-len("\r\n\r\n")) + "\r\n\r\n"
	if plainRequest([]byte(long)) == nil {
		t.Error("the longest possible request is not plain")
	}
}

// TestHandOver sends requests that are not plain after one that is. net/http must get them as they were sent, and all that
// follow.
func TestHandOver(t *testing.T) {
	const plain = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n"
	address := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		by := "net/http"
		sender, ok := w.(Sender)
		if ok {
			by = "wire"
		}
		text := fmt.Sprintf("%s %s %q by %s\n", r.Method, r.URL.Path, body, by)
		if ok {
			sender.Send(http.StatusOK, fmt.Appendf(nil, "Content-Length: %d\r\n", len(text)), []byte(text))
			return
		}
		io.WriteString(w, text)
	})
	for name, test := range map[string]struct{ pieces, want []string }{
		"a body":     {[]string{"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"}, []string{`POST /p "{}"`}},
		"two pieces": {[]string{"GET /p HTTP/1.1\r\nHo", "st: a\r\n\r\n"}, []string{`GET /p ""`}},
		"pipelined":  {[]string{"GET /p HTTP/1.1\r\nHost: a\r\n\r\nGET /q HTTP/1.1\r\nHost: a\r\n\r\n"}, []string{`GET /p ""`, `GET /q ""`}},
		"chunks":     {[]string{"POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", "\r\n"}, []string{`POST /p "a"`}},
	} {
		conn := dial(t, address)
		in := bufio.NewReader(conn)
		next := func(want string) {
			res := testkit.Must(http.ReadResponse(in, nil))(t)
			testkit.Equal(t, name, string(testkit.Must(io.ReadAll(res.Body))(t)), want+"\n")
		}
		io.WriteString(conn, plain)
		next(`GET /plain "" by wire`)
		for _, piece := range test.pieces {
			io.WriteString(conn, piece)
			time.Sleep(time.Millisecond) // so that it is probably read alone; nothing fails otherwise
		}
		for _, want := range test.want {
			next(want + " by net/http")
		}
		io.WriteString(conn, plain)
		next(`GET /plain "" by net/http`)
	}
}

// TestShutdown drains and shuts down while one connection is idle, and a request is in progress on another.
func TestShutdown(t *testing.T) {
	for _, whole := range []bool{true, false} {
		finish, started := make(chan struct{}), make(chan struct{})
		l := NewListener(listen(t), 0)
		serve(t, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				started <- struct{}{}
				<-finish
			}
			if sender, ok := w.(Sender); ok { // otherwise net/http responds with nothing but a head
				sender.Send(http.StatusOK, []byte("Content-Length: 0\r\n"), nil)
			}
		})}, l)
		idle, slow, silent := dial(t, l.Addr().String()), dial(t, l.Addr().String()), dial(t, l.Addr().String())
		begun, half := dial(t, l.Addr().String()), dial(t, l.Addr().String())
		io.WriteString(begun, "GET /")
		io.WriteString(half, "GET /")
		testkit.OK(t, ask(idle, "/"))
		waitIdle(t, l, idle)
		io.WriteString(slow, "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
		<-started
		testkit.Eventually(t, "five connections, two with half a request", func() bool {
			halves := slices.DeleteFunc(l.connections(), func(c *Conn) bool { return c.state.Load() != reading })
			return l.Len() == 5 && len(halves) == 2
		})

		l.Drain()
		if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the idle connection after Drain: %v", err)
		}
		io.WriteString(begun, " HTTP/1.1\r\nHost: a\r\n\r\n")
		if got, err := http.ReadResponse(bufio.NewReader(begun), nil); err != nil || got.StatusCode != http.StatusOK {
			t.Errorf("the response to a request that had begun before Drain: %v, %v", got, err)
		}
		late := dial(t, l.Addr().String())
		io.WriteString(late, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if got, err := io.ReadAll(late); err != nil || !bytes.HasSuffix(got, []byte("\r\nConnection: close\r\n\r\n")) {
			t.Errorf("the response after Drain: %q, %v", got, err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Shutdown(ctx) }()
		if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the silent connection after Shutdown: %v", err)
		}
		if _, err := half.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the connection with half a request after Shutdown: %v", err)
		}
		if whole {
			close(finish)
		} else {
			cancel()
		}
		if err := <-ended; (err == nil) != whole {
			t.Errorf("Shutdown: %v", err)
		}
		if got, err := io.ReadAll(slow); (err == nil && len(got) > 0) != whole {
			t.Errorf("the client of the request in progress got %q, %v", got, err)
		}
		if !whole {
			close(finish)
		}
		cancel()
	}
}

// net/http ends its own half of a connection first, so that a client that is still sending gets the response.
func TestHalfClose(t *testing.T) {
	l := NewListener(listen(t), 0)
	t.Cleanup(func() { l.Close() })
	client := dial(t, l.Addr().String())
	conn := testkit.Must(l.Accept())(t)
	testkit.OK(t, conn.(*Conn).CloseWrite())
	if _, err := client.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client reads: %v", err)
	}
	io.WriteString(client, "G")
	testkit.Must(conn.Read(make([]byte, 1)))(t)
}
