package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// large writes a definition whose manifest of some 20 MB exceeds the buffers of such a connection: the send buffer
// grows to several megabytes.
func large(t *testing.T) (path string) {
	t.Helper()
	// Five megabytes of names, and seven of a shared modifier: more is not accepted.
	text := strings.ReplaceAll(feeds(strings.Repeat("long", 12_500), 100), `"method"`, `"modifiers": ["long"], "method"`)
	text = strings.Replace(text, `"versions"`, `"modifiers": {"long": {"kind": "text", "id": "a", "key": "a", "label": "a", "name": "`+
		strings.Repeat("long", 17_500)+`"}}, "versions"`, 1)
	path = filepath.Join(t.TempDir(), "large.json")
	write(t, path, text)
	return path
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
		{"no body", "GET", "Content-Length: 0\r\n", "", "200"},
		{"body", "GET", "Content-Length: 11\r\n", "0123456789a", "413"},
		{"body that never arrives", "GET", "Content-Length: 1000000000000\r\n", "", "413"},
		{"endless body", "GET", "Transfer-Encoding: chunked\r\n", "5\r\n01234\r\n", "413"},
		{"body with another method", "POST", "Content-Length: 1000000000000\r\n", "", "405"},
		{"two lengths", "GET", "Content-Length: 1\r\nContent-Length: 2\r\n", "x", "400"},
		{"no host", "GET", "Host: b\r\n", "", "400"},
	} {
		answer := send(t, p, test.method+" "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n"+test.headers+"\r\n"+test.body)
		if !strings.HasPrefix(answer, "HTTP/1.1 "+test.want) {
			t.Errorf("%s: the response is %.100q, want %s", test.name, answer, test.want)
		}
	}
	if got := p.metric(t, `signpost_requests_total{base_path="/",status="413",version="v1"}`); got != 3 {
		t.Errorf("%v bodies were rejected, want 3", got)
	}
}

// TestShutdownUnderLoad sends SIGTERM while clients send requests without a pause. They stop when the server is no
// longer ready, as a load balancer does, and every request until then is served.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feeds.json")
	write(t, path, feeds("one", 200))
	p := startServe(t, path, "--shutdown-delay", "2s")
	var requests atomic.Int64
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range 4 {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}}
		clients.Go(func() {
			for ctx.Err() == nil {
				r, err := fetch(client, p.url+manifestV1, "")
				if _, n, jsonErr := names(r.body); err != nil || r.StatusCode != http.StatusOK || jsonErr != nil || n != 200 {
					t.Errorf("a request was lost: %v, %v, %v", r.Response, err, jsonErr)
					return
				}
				requests.Add(1)
			}
		})
	}
	waitFor(t, "load", func() bool { return requests.Load() > 100 })
	p.signal(t, syscall.SIGTERM)
	waitFor(t, "the server to become unready", func() bool { return mustFetch(t, p.admin+"/readyz").StatusCode == http.StatusServiceUnavailable })
	seen := requests.Load()
	waitFor(t, "requests during the delay", func() bool { return requests.Load() > seen+10 })
	stop()
	clients.Wait()
	<-p.ended
	if code := p.stop(t); code != exitFine {
		t.Errorf("serve exited with %d", code)
	}
}

// TestShutdownFinishes sends SIGTERM while a client reads slowly, or not at all. Neither is a failure of the server.
func TestShutdownFinishes(t *testing.T) {
	t.Parallel()
	path := large(t)
	for _, test := range []struct {
		timeout string
		reads   bool
	}{{"30s", true}, {"100ms", false}} {
		p := startServe(t, path, "--shutdown-timeout", test.timeout)
		conn := dial(t, p)
		io.WriteString(conn, "GET "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1024), nil)
		if err != nil {
			t.Fatal(err)
		}
		p.signal(t, syscall.SIGTERM)
		waitFor(t, "the listener to be closed", func() bool {
			c, err := net.Dial("tcp", conn.RemoteAddr().String())
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		if !test.reads {
			<-p.ended // it has waited long enough
		}
		body, err := io.ReadAll(res.Body)
		if whole := err == nil && int64(len(body)) == res.ContentLength; whole != test.reads {
			t.Errorf("%s: %d of %d bytes, %v", test.timeout, len(body), res.ContentLength, err)
		}
		conn.Close()
		<-p.ended
		if code := p.stop(t); code != exitFine {
			t.Errorf("%s: serve exited with %d", test.timeout, code)
		}
		if cut := len(p.logged("open requests were cut off")) > 0; cut == test.reads {
			t.Errorf("%s: the log says that requests were cut off: %v", test.timeout, cut)
		}
	}
}

// TestDrainingClosesConnections checks that responses after SIGTERM tell clients to reconnect elsewhere.
func TestDrainingClosesConnections(t *testing.T) {
	t.Parallel()
	p := startServe(t, "--shutdown-delay", "60s")
	p.manual = true
	conn := dial(t, p)
	in := bufio.NewReader(conn)
	ask := func() bool {
		io.WriteString(conn, "HEAD "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\n\r\n")
		res, err := http.ReadResponse(in, &http.Request{Method: http.MethodHead})
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", res, err)
		}
		return res.Close
	}
	if ask() {
		t.Error("the connection is closed before SIGTERM")
	}
	p.signal(t, syscall.SIGTERM)
	waitFor(t, "the server to become unready", func() bool { return mustFetch(t, p.admin+"/readyz").StatusCode == http.StatusServiceUnavailable })
	conn, in = dial(t, p), nil
	in = bufio.NewReader(conn)
	if !ask() {
		t.Error("a response lacks Connection: close")
	}
	p.kill()
}
