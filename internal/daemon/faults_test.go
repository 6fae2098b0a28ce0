package daemon_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// dial connects with small buffers, so that unread data soon blocks the sender.
func dial(t *testing.T, p *process) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		controlErr := c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(controlErr, err)
	}}
	_, address, _ := strings.Cut(p.url, "://")
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// TestTooLarge sends headers and bodies that are too large.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	p := startServe(t)
	const limit, slack = 16 << 10, 4096 // net/http adds the slack
	for _, test := range []struct {
		name, method, headers, body, want string
	}{
		{"valid request", "GET", "", "", "200"},
		{"large header", "GET", "X-Large: " + strings.Repeat("x", limit-100) + "\r\n", "", "200"},
		{"larger header", "GET", "X-Large: " + strings.Repeat("x", limit+slack) + "\r\n", "", "431"},
		{"many headers", "GET", strings.Repeat("X-Many: x\r\n", (limit+slack)/10), "", "431"},
		{"body", "GET", "Content-Length: 11\r\n", "0123456789a", "413"},
		{"two lengths", "GET", "Content-Length: 1\r\nContent-Length: 2\r\n", "x", "400"},
		{"no host", "GET", "Host: b\r\n", "", "400"},
	} {
		answer := send(t, p, test.method+" "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n"+test.headers+"\r\n"+test.body)
		if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) {
			t.Errorf("%s: the response is %.100q, want %s", test.name, answer, test.want)
		}
	}
}
