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

// Prove checks that net/http works as this package expects: a handler's responses to the requests, announced, must be
// the same as those that net/http writes itself, when they are sent again on a connection without this package. If it
// returns an error, leave [Context] out of the [http.Server].
func Prove(handler http.Handler, requests func() io.Reader) error {
	got := respond(handler, requests(), func(l net.Listener) net.Listener { return NewListener(l, 0) })
	want := respond(handler, requests(), func(l net.Listener) net.Listener { return l })
	if got != want {
		return fmt.Errorf("announced responses are %.5000q, and those of net/http %.5000q", got, want)
	}
	return nil
}

// respond returns the responses to requests, without Date and with the lines of each in a fixed order.
func respond(handler http.Handler, requests io.Reader, wrap func(net.Listener) net.Listener) string {
	unused, _ := net.Pipe() // for the methods that are not replaced
	ended, cancel := context.WithCancel(context.Background())
	conn := &recorder{Conn: unused, in: requests, close: cancel}
	accept := make(pipeListener, 1)
	accept <- conn
	srv := &http.Server{Handler: handler, ConnContext: Context, MaxHeaderBytes: 16 << 10}
	listener := wrap(accept)
	if ours, ok := listener.(*Listener); ok {
		srv.ConnState = ours.ConnState
	}
	go srv.Serve(listener)
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
