package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

// Prove checks that net/http works as this package expects: announced responses must be the same as those that net/http
// writes itself. If it returns an error, leave [Context] out of the [http.Server].
func Prove() error {
	for _, first := range []string{"GET / HTTP/1.1", "HEAD / HTTP/1.1", "GET / HTTP/1.0", "GET / HTTP/1.1\r\nIf-None-Match: \"a\""} {
		requests := first + "\r\nHost: localhost\r\n\r\n" + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
		if err := compare(proof, func() io.Reader { return strings.NewReader(requests) }); err != nil {
			return err
		}
	}
	return nil
}

// proof responds like the manifest handler.
func proof(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("If-None-Match") != "" {
		reply(w, r, http.StatusNotModified, "", "Etag: \"a\"")
		return
	}
	reply(w, r, http.StatusOK, "{}\n", "Etag: \"a\"", "Content-Length: 3", "Content-Type: application/json")
}

// reply announces a response or, if that is not possible, lets net/http write it.
func reply(w http.ResponseWriter, r *http.Request, status int, body string, header ...string) {
	if c := Of(w, r); c != nil {
		res := &Response{Status: status, Head: r.Method == http.MethodHead, Header: []byte(strings.Join(header, "\r\n") + "\r\n"), Observer: unobserved{}}
		if !res.Head {
			res.Body = []byte(body)
		}
		c.Announce(res)
		w.WriteHeader(status)
		return
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	io.WriteString(w, body) // net/http drops it in response to HEAD
}

type unobserved struct{}

func (unobserved) Written(int, error) {}

// compare sends requests to a handler twice, on a connection of this package and on one without, and returns an error if
// the responses differ.
func compare(handler http.HandlerFunc, requests func() io.Reader) error {
	got := respond(handler, requests(), func(l net.Listener) net.Listener { return NewListener(l, 0) })
	want := respond(handler, requests(), func(l net.Listener) net.Listener { return l })
	if got != want {
		return fmt.Errorf("announced responses are %.5000q, and those of net/http %.5000q", got, want)
	}
	return nil
}

// respond returns the responses to requests, without Date and with the lines of each in a fixed order.
func respond(handler http.HandlerFunc, requests io.Reader, wrap func(net.Listener) net.Listener) string {
	unused, _ := net.Pipe() // for the methods that are not replaced
	conn := &recorder{Conn: unused, in: requests}
	ended, cancel := context.WithCancel(context.Background())
	conn.close = cancel
	accept := make(pipeListener, 1)
	accept <- conn
	srv := &http.Server{Handler: handler, ConnContext: Context, MaxHeaderBytes: 16 << 10}
	go srv.Serve(wrap(accept))
	defer srv.Close()
	<-ended.Done() // at the latest when it has read everything
	var all []string
	for response := range strings.SplitSeq(conn.out.String(), "HTTP/1.") {
		lines := strings.Split(response, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return strings.Join(all, "\n")
}

// recorder is a connection whose client has already sent everything.
type recorder struct {
	net.Conn
	in    io.Reader
	out   bytes.Buffer
	close context.CancelFunc
}

func (r *recorder) Read(p []byte) (int, error)  { return r.in.Read(p) }
func (r *recorder) Write(p []byte) (int, error) { return r.out.Write(p) }
func (r *recorder) Close() error                { r.close(); return nil }

// pipeListener accepts the connections in a channel until it is closed.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Close() error   { close(l); return nil }
func (l pipeListener) Addr() net.Addr { return &net.IPAddr{} }
