package daemon_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// dial connects to the manifest listener.
func dial(t *testing.T, p *process) net.Conn {
	t.Helper()
	_, address, _ := strings.Cut(p.url, "://")
	conn := testkit.Must(net.Dial("tcp", address))(t)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	return conn
}

// TestRawRequests sends headers that are too large, and a body that is ambiguous. There is one response to each.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := startServe(t)
	const limit, slack = 16 << 10, 4096 // net/http adds the slack
	const get = "GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n"
	for _, test := range []struct {
		name, request, want string
	}{
		{"large header", get + "X-Large: " + strings.Repeat("x", limit-100) + "\r\n\r\n", "200"},
		{"larger header", get + "X-Large: " + strings.Repeat("x", limit+slack) + "\r\n\r\n", "431"},
		{"many headers", get + strings.Repeat("X-Many: x\r\n", (limit+slack)/10) + "\r\n", "431"},
		{"OPTIONS * with two lengths, and what looks like a second request",
			"OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n", ""},
	} {
		answer := send(t, p, test.request)
		if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) || strings.Count(answer, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: the response is %.100q, want %s", test.name, answer, test.want)
		}
	}
}
