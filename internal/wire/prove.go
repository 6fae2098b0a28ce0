package wire

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// proofTimeout ends a proof in which one side waits for the other.
const proofTimeout = 10 * time.Second

// Prove checks that net/http works as this package expects: announced responses must be the same as those that net/http
// writes itself. If it returns an error, leave [Context] out of the [http.Server].
func Prove() error { return prove(proof) }

// proof responds with the same bytes either way, except for the order of header fields.
func proof(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, []byte("{}\n")
	if r.Header.Get("If-None-Match") != "" {
		status, body = http.StatusNotModified, nil
	}
	if c := Of(w, r); c != nil {
		res := &Response{Status: status, Header: []byte("Etag: \"a\"\r\n"), Body: body, Head: r.Method == http.MethodHead, Observer: unobserved{}}
		if status == http.StatusOK {
			res.Header = append(res.Header, "Content-Length: 3\r\nContent-Type: application/json\r\n"...)
		}
		if res.Head {
			res.Body = nil
		}
		c.Announce(res)
		w.WriteHeader(status)
		return
	}
	w.Header().Set("ETag", `"a"`)
	if status == http.StatusOK {
		w.Header().Set("Content-Length", "3")
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	w.Write(body) // net/http drops it in response to HEAD
}

type unobserved struct{}

func (unobserved) Written(int, error) {}

func prove(handler http.HandlerFunc) error {
	for _, head := range []string{"GET / HTTP/1.1", "HEAD / HTTP/1.1", "GET / HTTP/1.0", "GET / HTTP/1.1\r\nIf-None-Match: \"a\""} {
		request := head + "\r\nHost: localhost\r\n\r\n" + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
		got, err := respond(handler, request, func(l net.Listener) net.Listener { return NewListener(l, 0) })
		if err != nil {
			return fmt.Errorf("announced response: %w", err)
		}
		want, err := respond(handler, request, func(l net.Listener) net.Listener { return l })
		if err != nil {
			return fmt.Errorf("response of net/http: %w", err)
		}
		if got != want {
			return fmt.Errorf("announced response is %q, and that of net/http %q", got, want)
		}
	}
	return nil
}

// respond returns the responses to a request over a connection in memory, as sorted lines without Date.
func respond(handler http.HandlerFunc, request string, wrap func(net.Listener) net.Listener) (string, error) {
	near, far := net.Pipe()
	near.SetDeadline(time.Now().Add(proofTimeout))
	once := make(pipeListener, 1)
	once <- far
	srv := &http.Server{Handler: handler, ConnContext: Context}
	go srv.Serve(wrap(once))
	defer srv.Close()
	defer near.Close()
	go io.WriteString(near, request) // an error shows up when reading
	text, err := io.ReadAll(near)
	lines := strings.Split(string(text), "\r\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

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
