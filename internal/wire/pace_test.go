package wire

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// counted counts the bytes that a client gets rid of.
type counted struct {
	net.Conn
	sent *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// A client that sends PING frames without end and reads no reply is not read from any more, so that the replies do not
// pile up. Once it reads, it gets all of them.
func TestPingsWithoutReading(t *testing.T) {
	l := listen(t)
	listener := NewListener(l, 0)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.Listener.Close()
	srv.Listener, srv.EnableHTTP2 = listener, true
	srv.Config.ConnState = listener.ConnState
	srv.StartTLS()
	t.Cleanup(srv.Close)
	tcp := dial(t, l.Addr().String()).(*net.TCPConn)
	tcp.SetReadBuffer(64 << 10)
	var sent atomic.Int64
	conn := tls.Client(counted{tcp, &sent}, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil { // with empty SETTINGS
		t.Fatal(err)
	}
	const pings, batch = 1 << 18, 1 << 10 // 4 MB, more than the buffers of the system take in both directions
	failed := make(chan error, 1)
	go func() {
		for i := 0; i < pings; i += batch {
			var frames []byte
			for n := range batch {
				frames = binary.BigEndian.AppendUint64(append(frames, 0, 0, 8, 6, 0, 0, 0, 0, 0), uint64(i+n))
			}
			if _, err := conn.Write(frames); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	for before := int64(-1); before < sent.Load(); time.Sleep(300 * time.Millisecond) { // until it can send no more
		before = sent.Load()
	}
	for want := uint64(0); want < pings; {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			t.Fatalf("after %d replies: %v", want, err)
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		if head[3] == 6 {
			if got := binary.BigEndian.Uint64(payload); head[4] != 1 || got != want {
				t.Fatalf("reply %d has flags %d and is to %d", want, head[4], got)
			}
			want++
		}
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}
