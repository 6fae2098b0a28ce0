package daemon_test

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signpost/internal/daemon"
)

// slowKinds are the ways to hold a connection: what is sent first, and what trickles in after it.
var slowKinds = []struct{ start, drip string }{
	{"", ""}, // sends nothing
	{"GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\n", "X-Slow: 1\r\n"},                        // never completes its headers
	{"GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\n\r\n", ""},                                 // reads nothing
	{"POST /nowhere HTTP/1.1\r\nHost: a.example.com\r\nContent-Length: 1000\r\n\r\n", "x"},                 // never completes its body
	{strings.Repeat("GET "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\n\r\n", 20), "GET / HTTP/1.1\r"}, // keeps sending requests
}

// TestManySlowClients runs several times as many slow clients as connections are allowed; they reconnect whenever they
// are cut off. Others are served all the time, and memory stays in bounds. make soak uses 10,000 clients.
func TestManySlowClients(t *testing.T) {
	t.Parallel()
	const few = 50
	clients, connections := soak(t, "SIGNPOST_SOAK_SLOW", few), daemon.DefaultMaxConnections
	if clients <= few {
		connections = few / 5
	}
	var files syscall.Rlimit // package os has already raised the soft limit to the hard one
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	const reserve = 1000 // for concurrent tests
	if clients+reserve > int(files.Cur) {
		clients = int(files.Cur) - reserve
		t.Logf("only %d clients: the limit of open files is %d", clients, files.Cur)
	}
	p := startPlain(t, largeManifest(t), "--max-connections", strconv.Itoa(connections))
	ask := func() (reply, error) {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * patience}
		return fetch(client, p.url+manifestV1, "feeds.example.com")
	}
	if r, err := ask(); err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r.Response, err)
	}
	base := resident(t, p)
	var connected, cut atomic.Int64
	var slow sync.WaitGroup
	stop := make(chan struct{})
	for i := range clients {
		kind := slowKinds[i%len(slowKinds)]
		slow.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.url, "http://"), patience)
				if err != nil {
					t.Errorf("a slow client cannot connect: %v", err)
					return
				}
				connected.Add(1)
				hold(conn, kind.start, kind.drip, stop)
				conn.Close()
				cut.Add(1)
			}
		})
	}
	waitFor(t, "all slow clients", func() bool { return connected.Load() >= int64(clients) || t.Failed() })
	start := time.Now()
	var others sync.WaitGroup
	for range 5 {
		others.Go(func() {
			if r, err := ask(); err != nil || r.StatusCode != http.StatusOK {
				t.Errorf("another client gets %v, %v", r.Response, err)
			}
		})
	}
	others.Wait()
	t.Logf("soak: 5 requests among %d slow clients took %v; slow clients were cut off %d times", clients, time.Since(start).Round(time.Millisecond), cut.Load())
	if mustFetch(t, p.admin+"/readyz").StatusCode != http.StatusOK {
		t.Error("it is not ready")
	}
	close(stop)
	slow.Wait()
	checkGrowth(t, p, base)
}

// hold keeps a connection for as long as the server allows it, or until stop is closed.
func hold(conn net.Conn, start, drip string, stop <-chan struct{}) {
	if _, err := io.WriteString(conn, start); err != nil {
		return
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if _, err := io.WriteString(conn, drip); err != nil {
			return
		}
		if drip == "" && closed(conn) {
			return
		}
	}
}

// closed reports whether the peer has closed a connection, without reading what it sent.
func closed(conn net.Conn) bool {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err == nil && n == 0 || err != nil && err != syscall.EAGAIN
	})
	return gone || err != nil
}
