package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// start serves the handler on connections of this package and returns the address.
func start(t testing.TB, h http.HandlerFunc) string {
	l := listen(t)
	serve(t, &http.Server{Handler: h}, NewListener(l, 0))
	return l.Addr().String()
}

func listen(t testing.TB) *net.TCPListener {
	t.Helper()
	return testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t).(*net.TCPListener)
}

func serve(t testing.TB, srv *http.Server, l *Listener) {
	srv.ConnContext, srv.ConnState = Context, l.ConnState
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn := testkit.Must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	return conn
}

// connOf returns the connection of a request without the checks of Of.
func connOf(r *http.Request) *Conn { return r.Context().Value(connKey{}).(*Conn) }

// outcome is what an observer received.
type outcome struct {
	body int
	err  error
}

type observer chan outcome

func (o observer) Written(body int, err error) { o <- outcome{body, err} }

// response returns a response to r with a body.
func response(r *http.Request, status int, body string, o Observer) *Response {
	res := &Response{Status: status, Header: fmt.Appendf(nil, "X-Test: yes\r\nContent-Length: %d\r\n", len(body)), Observer: o}
	if r.Method != http.MethodHead && status != http.StatusNotModified {
		res.Body = []byte(body)
	}
	return res
}

// TestAnnounce checks what the client and the observer get. TestWireSequences compares everything else with net/http.
func TestAnnounce(t *testing.T) {
	body := strings.Repeat("body ", 10_000) // larger than net/http's buffers
	observed := make(observer, 1)
	address := start(t, func(w http.ResponseWriter, r *http.Request) {
		Of(w, r).Announce(response(r, http.StatusOK, body, observed))
		w.WriteHeader(http.StatusOK)
	})
	for method, want := range map[string]string{"GET": body, "HEAD": ""} {
		conn := dial(t, address)
		fmt.Fprintf(conn, "%s / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", method)
		res := testkit.Must(http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method}))(t)
		got, err := io.ReadAll(res.Body)
		if err != nil || string(got) != want || res.ContentLength != int64(len(body)) || res.Header.Get("X-Test") != "yes" || res.Header.Get("Date") == "" {
			t.Errorf("%s: %v with a body of %d bytes, %v", method, res.Header, len(got), err)
		}
		if told := <-observed; told.err != nil || told.body != len(want) {
			t.Errorf("%s: the observer was told of %d bytes, %v", method, told.body, told.err)
		}
	}
}

// TestFailsClosed runs handlers that break their announcement. Of would never give them the connection; here they have
// it anyway. The client must get nothing, and the observer an error.
func TestFailsClosed(t *testing.T) {
	for name, write := range map[string]func(http.ResponseWriter){
		"another status":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"informational":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) },
		"a body":          func(w http.ResponseWriter) { io.WriteString(w, "written") },
		"a long body":     func(w http.ResponseWriter) { w.Write(make([]byte, 100_000)) },
		"a header":        func(w http.ResponseWriter) { w.Header().Set("X-Own", "1") },
		"a length":        func(w http.ResponseWriter) { w.Header().Set("Content-Length", "9") },
		"a head of 8 kB":  func(w http.ResponseWriter) { w.Header().Set("Connection", strings.Repeat("a", 8<<10)) },
		"flushed":         func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, // chunked
		"aborted":         func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"announced twice": func(http.ResponseWriter) {},
		"hijacked": func(w http.ResponseWriter) {
			conn, buffered, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			buffered.WriteString("anything")
			buffered.Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			observed, announced := make(observer, 3), 1
			if name == "announced twice" {
				announced = 2
			}
			conn := dial(t, start(t, func(w http.ResponseWriter, r *http.Request) {
				for range announced {
					connOf(r).Announce(response(r, http.StatusOK, "announced", observed))
				}
				write(w)
			}))
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if got, _ := io.ReadAll(conn); len(got) > 0 { // a reset is fine, too
				t.Errorf("%q was sent", got)
			}
			for range announced {
				if told := <-observed; told.err == nil || told.body != 0 {
					t.Errorf("the observer was told of %d bytes, %v", told.body, told.err)
				}
			}
			if len(observed) > 0 {
				t.Error("the observer was told too often")
			}
		})
	}
}

// A response that was announced but never written must not be sent with the next request on the connection, even if
// that one looks exactly the same.
func TestWriteByAnotherRequest(t *testing.T) {
	observed := make(observer, 1)
	conn := dial(t, start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			secret := connOf(r)
			// Like net/http, an outer handler writes an empty response, only later.
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			secret.Announce(response(r, http.StatusOK, "secret", observed))
		}
	}))
	fmt.Fprintf(conn, "HEAD /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n")
	got, _ := io.ReadAll(conn)
	if bytes.Contains(got, []byte("secret")) || bytes.Contains(got, []byte("X-Test")) || bytes.Count(got, []byte("HTTP/1.1")) != 1 {
		t.Errorf("%q was sent", got)
	}
	if told := <-observed; !errors.Is(told.err, errNotSent) {
		t.Errorf("the observer was told %v", told.err)
	}
}

func TestOf(t *testing.T) {
	for name, of := range map[string]func(http.ResponseWriter, *http.Request) *Conn{
		"yes: as it is": Of,
		"yes: a context around": func(w http.ResponseWriter, r *http.Request) *Conn {
			return Of(w, r.WithContext(context.WithValue(r.Context(), t, 1)))
		},
		"another context": func(w http.ResponseWriter, r *http.Request) *Conn { return Of(w, r.WithContext(context.Background())) },
		"a header is set": func(w http.ResponseWriter, r *http.Request) *Conn {
			w.Header().Set("Vary", "Origin")
			return Of(w, r)
		},
		"HTTP/2": func(w http.ResponseWriter, r *http.Request) *Conn {
			r.ProtoMajor = 2
			return Of(w, r)
		},
	} {
		var got *Conn
		testkit.Get(t, nil, "http://"+start(t, func(w http.ResponseWriter, r *http.Request) { got = of(w, r) }))
		if (got != nil) != strings.HasPrefix(name, "yes") {
			t.Errorf("%s: %v", name, got != nil)
		}
	}
}

// net/http ends its own half of a connection first, so that a client that is still sending gets the response.
func TestHalfClose(t *testing.T) {
	read := make(chan struct{})
	conn := dial(t, start(t, func(_ http.ResponseWriter, r *http.Request) {
		connOf(r).CloseWrite()
		<-read
	}))
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client reads: %v", err)
	}
	close(read)
}

// TestSplit checks heads, most of which net/http does not write today.
func TestSplit(t *testing.T) {
	testkit.Cases(t, "testdata/heads.golden", func(head string) string {
		res := Response{Status: http.StatusOK}
		before, after, err := res.split([]byte(head))
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%q\n%q", before, after)
	})
}
