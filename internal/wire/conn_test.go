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
	"sync"
	"testing"
	"time"
)

// patience is how long tests wait for something that must happen. It measures nothing.
const patience = 5 * time.Minute

// start serves the handler on connections of this package and returns the address.
func start(t testing.TB, h http.HandlerFunc) string {
	l := listen(t)
	serve(t, &http.Server{Handler: h}, NewListener(l, 0))
	return l.Addr().String()
}

func listen(t testing.TB) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l.(*net.TCPListener)
}

func serve(t testing.TB, srv *http.Server, l *Listener) {
	srv.ConnContext = Context
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
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

func (o observer) wait(t testing.TB) outcome {
	t.Helper()
	select {
	case got := <-o:
		return got
	case <-time.After(patience):
		t.Fatal("the observer was not told")
		return outcome{}
	}
}

// response returns a response to r with a body.
func response(r *http.Request, status int, body string, o Observer) *Response {
	res := &Response{Status: status, Header: fmt.Appendf(nil, "X-Test: yes\r\nContent-Length: %d\r\n", len(body)), Head: r.Method == "HEAD", Observer: o}
	if !res.Head && status != http.StatusNotModified {
		res.Body = []byte(body)
	}
	return res
}

func TestAnnounce(t *testing.T) {
	body := strings.Repeat("body ", 10_000) // larger than net/http's buffers
	observed := make(observer, 1)
	address := start(t, func(w http.ResponseWriter, r *http.Request) {
		conn, status := Of(w, r), http.StatusOK
		if conn == nil {
			t.Errorf("%s %s cannot be announced", r.Method, r.Proto)
			return
		}
		fmt.Sscan(r.URL.Query().Get("status"), &status)
		conn.Announce(response(r, status, body, observed))
		w.WriteHeader(status)
	})
	conn := dial(t, address)
	in := bufio.NewReader(conn)
	for _, test := range []struct {
		request string
		status  int
		length  int64
		close   bool
	}{
		{"GET / HTTP/1.1", 200, int64(len(body)), false},
		{"HEAD / HTTP/1.1", 200, int64(len(body)), false},
		{"GET /?status=304 HTTP/1.1", 304, 0, false},
		{"HEAD /?status=304 HTTP/1.1", 304, int64(len(body)), false},
		{"GET /?status=421 HTTP/1.1", 421, int64(len(body)), false},
		{"GET / HTTP/1.0\r\nConnection: keep-alive", 200, int64(len(body)), false},
		{"GET / HTTP/1.1\r\nConnection: close", 200, int64(len(body)), true},
	} {
		fmt.Fprintf(conn, "%s\r\nHost: a\r\n\r\n", test.request)
		method, _, _ := strings.Cut(test.request, " ")
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := body
		if method == "HEAD" || test.status == 304 {
			want = ""
		}
		if res.StatusCode != test.status || res.ContentLength != test.length || res.Close != test.close || string(got) != want {
			t.Errorf("%q: status %d, length %d, close %v, body of %d bytes", test.request, res.StatusCode, res.ContentLength, res.Close, len(got))
		}
		if res.Header.Get("X-Test") != "yes" || res.Header.Get("Date") == "" {
			t.Errorf("%q: header %v", test.request, res.Header)
		}
		if told := observed.wait(t); told.err != nil || told.body != len(want) {
			t.Errorf("%q: the observer was told of %d bytes, %v", test.request, told.body, told.err)
		}
	}
	if rest, err := io.ReadAll(in); len(rest) > 0 || err != nil {
		t.Errorf("after the responses there is %q, %v", rest, err)
	}
}

// TestFailsClosed runs handlers that break their announcement. Of would never give them the connection; here they have
// it anyway. The client must get nothing, and the observer an error.
func TestFailsClosed(t *testing.T) {
	announce := func(r *http.Request, o Observer) { connOf(r).Announce(response(r, http.StatusOK, "announced", o)) }
	for name, handler := range map[string]func(http.ResponseWriter, *http.Request, Observer){
		"another status": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.WriteHeader(http.StatusAccepted)
		},
		"an error in its place": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			http.Error(w, "too late", http.StatusServiceUnavailable)
		},
		"a body of its own": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			io.WriteString(w, "written")
		},
		"a long body of its own": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			io.WriteString(w, strings.Repeat("written", 10_000))
		},
		"a header of its own": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.Header().Set("X-Own", "1")
			w.WriteHeader(http.StatusOK)
		},
		"a type of its own": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusOK)
		},
		"a length of its own": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(http.StatusOK)
		},
		"a head of 8 kB": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.Header().Set("Connection", strings.Repeat("a", 8<<10)) // a field that is allowed
			w.WriteHeader(http.StatusOK)
		},
		"flushed": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.(http.Flusher).Flush() // chunked, because the length is not yet known
		},
		"hijacked": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			conn, buffered, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			buffered.WriteString("anything")
			buffered.Flush()
		},
		"informational": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
		},
		"announced twice": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, unobserved{})
			announce(r, o)
			w.WriteHeader(http.StatusOK)
		},
		"aborted": func(w http.ResponseWriter, r *http.Request, o Observer) {
			announce(r, o)
			panic(http.ErrAbortHandler)
		},
		"HEAD announced for GET": func(w http.ResponseWriter, r *http.Request, o Observer) {
			res := response(r, http.StatusOK, "announced", o)
			res.Head = true
			connOf(r).Announce(res)
			w.WriteHeader(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			observed := make(observer, 2)
			conn := dial(t, start(t, func(w http.ResponseWriter, r *http.Request) { handler(w, r, observed) }))
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if got, _ := io.ReadAll(conn); len(got) > 0 { // a reset is fine, too
				t.Errorf("%q was sent", got)
			}
			if told := observed.wait(t); told.err == nil || told.body != 0 {
				t.Errorf("the observer was told of %d bytes, %v", told.body, told.err)
			}
			if len(observed) > 0 {
				t.Error("the observer was told twice")
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
	if told := observed.wait(t); !errors.Is(told.err, errNotSent) {
		t.Errorf("the observer was told %v", told.err)
	}
}

// Unencrypted HTTP/2 uses the same connections, but has frames instead of heads.
func TestUnencryptedHTTP2(t *testing.T) {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	observed := make(observer, 1)
	l := listen(t)
	address := l.Addr().String()
	serve(t, &http.Server{Protocols: &protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := Of(w, r); conn != nil {
			t.Error("a response to HTTP/2 could be announced")
		}
		if r.URL.Path == "/forced" {
			connOf(r).Announce(response(r, http.StatusOK, "announced", observed))
		}
	})}, NewListener(l, 0))
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: transport, Timeout: patience}
	res, err := client.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Fatal(res.Proto)
	}
	if res, err := client.Get("http://" + address + "/forced"); err == nil {
		res.Body.Close()
		t.Errorf("status %d with header %v", res.StatusCode, res.Header)
	}
	if told := observed.wait(t); told.err == nil {
		t.Error("the observer was told that it was written")
	}
}

// flagged is a wrapped ResponseWriter.
type flagged struct{ http.ResponseWriter }

func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		of   func(http.ResponseWriter, *http.Request) *Conn
		want bool
	}{
		"as it is":        {Of, true},
		"another context": {func(w http.ResponseWriter, r *http.Request) *Conn { return Of(w, r.WithContext(context.Background())) }, false},
		"a context around": {func(w http.ResponseWriter, r *http.Request) *Conn {
			return Of(w, r.WithContext(context.WithValue(r.Context(), t, 1)))
		}, true},
		"behind a buffer":  {func(w http.ResponseWriter, r *http.Request) *Conn { return Of(flagged{w}, r) }, false},
		"behind a pointer": {func(w http.ResponseWriter, r *http.Request) *Conn { return Of(&flagged{w}, r) }, false},
		"a header is set": {func(w http.ResponseWriter, r *http.Request) *Conn {
			w.Header().Set("Vary", "Origin")
			return Of(w, r)
		}, false},
		"another peer": {func(w http.ResponseWriter, r *http.Request) *Conn {
			r.RemoteAddr = "192.0.2.1:1234"
			return Of(w, r)
		}, false},
	} {
		var got *Conn
		address := start(t, func(w http.ResponseWriter, r *http.Request) { got = test.of(w, r) })
		res, err := http.Get("http://" + address)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if (got != nil) != test.want {
			t.Errorf("%s: %v", name, got != nil)
		}
	}
}

// TestManyConnections announces responses on many connections at once, each with its own number in header and body.
func TestManyConnections(t *testing.T) {
	address := start(t, func(w http.ResponseWriter, r *http.Request) {
		n := strings.TrimPrefix(r.URL.Path, "/")
		body := strings.Repeat(n+" ", 2000)
		Of(w, r).Announce(&Response{Status: 200, Header: fmt.Appendf(nil, "X-N: %s\r\nContent-Length: %d\r\n", n, len(body)), Body: []byte(body), Observer: unobserved{}})
		w.WriteHeader(200)
	})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: patience}
			for j := range 50 {
				n := fmt.Sprint(i*1000 + j)
				res, err := client.Get("http://" + address + "/" + n)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || res.Header.Get("X-N") != n || string(body) != strings.Repeat(n+" ", 2000) {
					t.Errorf("request %s got %s, %v", n, res.Header.Get("X-N"), err)
				}
			}
		})
	}
	all.Wait()
}

// FuzzSplit compares the check of heads with net/http's parser: accepted heads are empty responses with the announced
// status and without any header that a handler set.
func FuzzSplit(f *testing.F) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.0 200 OK\r\nDate: x\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nDate: x\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
		"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"\x00\x00\x04\x01\x05\x00\x00\x00\x01", "", "HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 200 \r\n",
	} {
		f.Add([]byte(head), 200, false)
		f.Add([]byte(head), 304, false)
		f.Add([]byte(head), 200, true)
	}
	f.Fuzz(func(t *testing.T, p []byte, status int, head bool) {
		a := &Response{Status: status, Header: []byte("X-Announced: 1\r\n"), Head: head}
		before, after, err := a.split(p)
		if err != nil {
			return
		}
		res, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(before), bytes.NewReader(a.Header), bytes.NewReader(after))), nil)
		if err != nil {
			t.Skip() // Date and Connection may contain anything here
		}
		defer res.Body.Close()
		if res.StatusCode != status || res.ProtoMajor != 1 || res.Header.Get("X-Announced") != "1" {
			t.Errorf("%q becomes status %d with %v", p, res.StatusCode, res.Header)
		}
		for name := range res.Header {
			if name != "Date" && name != "Connection" && name != "X-Announced" {
				t.Errorf("%q has %s", p, name)
			}
		}
	})
}
