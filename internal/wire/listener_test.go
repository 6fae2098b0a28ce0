package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

func TestListenerIsBounded(t *testing.T) {
	const max = 3
	address := startServer(t, &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}, max)
	ask := func(conn net.Conn) error {
		if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 OK")))
		return err
	}
	var conns []net.Conn
	for range max {
		conn := dial(t, address)
		if err := ask(conn); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	late := dial(t, address)
	answered := make(chan error, 1)
	go func() { answered <- ask(late) }()
	conns[0].Close() // only now is there a slot
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestAcceptEndsWithTheListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := NewListener(l.(*net.TCPListener), 1)
	dial(t, l.Addr().String())
	if _, err := listener.Accept(); err != nil {
		t.Fatal(err)
	}
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
