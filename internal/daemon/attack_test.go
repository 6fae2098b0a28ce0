package daemon_test

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"signpost/internal/daemon"
	"signpost/server"
)

// maxGrowth is how much memory may grow under any attack, in MB: see docs/hardening.md.
const maxGrowth = 400

// resident returns the resident memory of a process in MB. It says something about the program where startPlain has
// started it.
func resident(t *testing.T, p *process) int { return procStatus(t, p, "VmRSS") }

// mostResident returns the peak resident memory of a process in MB.
func mostResident(t *testing.T, p *process) int { return procStatus(t, p, "VmHWM") }

func procStatus(t *testing.T, p *process, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Skip("this system does not report the memory of a process")
	}
	_, after, _ := strings.Cut(string(status), field+":")
	var kilobytes int
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes >> 10
}

// soak returns the size of an attack: small by default, or the value of the variable, which make soak sets.
func soak(t *testing.T, variable string, few int) int {
	t.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return few
	}
	many, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return many
}

// largeManifest writes a definition whose manifest has half a megabyte.
func largeManifest(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "feeds.json")
	write(t, path, feeds(strings.Repeat("a", 400), 1000))
	return path
}

// anyCertificate returns the flags for https with a certificate.
func anyCertificate(t *testing.T) []string {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	cert, key := newAuthority(t).issue(t, 1, "feeds.example.com")
	write(t, certFile, cert)
	write(t, keyFile, key)
	return []string{"--tls-cert", certFile, "--tls-key", keyFile}
}

// checkGrowth checks that memory has stayed in bounds.
func checkGrowth(t *testing.T, p *process, base int) {
	t.Helper()
	most := mostResident(t, p)
	t.Logf("soak: memory grew from %d MB to at most %d MB", base, most)
	if most > base+maxGrowth {
		t.Errorf("memory grew from %d MB to %d MB, by more than %d MB", base, most, maxGrowth)
	}
}

// TestBurstOfHosts runs many concurrent clients that each request a different host, compressed, and read nothing. Those
// that do not fit get 503. A host that others request continuously is still served.
func TestBurstOfHosts(t *testing.T) {
	t.Parallel()
	t.Run("http", func(t *testing.T) { burstOfHosts(t, startPlain(t, largeManifest(t)), daemon.DefaultMaxConnections) })
	t.Run("https", func(t *testing.T) {
		burstOfHosts(t, startPlain(t, append([]string{largeManifest(t)}, anyCertificate(t)...)...), daemon.DefaultMaxConnections)
	})
}

func burstOfHosts(t *testing.T, p *process, connections int) {
	clients := soak(t, "SIGNPOST_SOAK_CLIENTS", 100)
	anyServer := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	known := func() (reply, error) { return fetch(anyServer, p.url+manifestV1, "feeds.example.com") }
	if r, err := known(); err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r.Response, err)
	}
	base := resident(t, p)
	var asked, all sync.WaitGroup
	var served, busy, other atomic.Int64
	read := make(chan struct{})
	// Few at a time, because the server limits the time of a handshake, and all clients share this machine with it.
	connecting := make(chan struct{}, 16)
	connect := func() (net.Conn, error) {
		connecting <- struct{}{}
		defer func() { <-connecting }()
		scheme, address, _ := strings.Cut(p.url, "://")
		conn, err := net.Dial("tcp", address)
		if err != nil || scheme == "http" {
			return conn, err
		}
		secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // of HTTP/1.1
		if err := secure.Handshake(); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
	for i := range clients {
		asked.Add(1)
		all.Go(func() {
			conn, err := connect()
			if err != nil {
				t.Log(err)
				other.Add(1)
				asked.Done()
				return
			}
			defer conn.Close()
			encoding := "identity" // which takes most
			if i%4 == 0 || clients > connections {
				encoding = "gzip"
			}
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h%d.example.com\r\nAccept-Encoding: %s\r\n\r\n", manifestV1, i, encoding)
			asked.Done()
			<-read
			conn.SetReadDeadline(time.Now().Add(patience))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			switch {
			case err == nil && res.StatusCode == http.StatusOK:
				served.Add(1)
			case err == nil && res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
				busy.Add(1)
			default:
				other.Add(1)
			}
		})
	}
	asked.Wait()
	for range 20 {
		if r, err := known(); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("a cached host gets %v, %v", r.Response, err)
		}
		if n := p.metric(t, "signpost_in_flight_bytes"); n > server.DefaultInFlightBytes+server.DefaultCacheBytes {
			t.Errorf("%v bytes are in flight, more than allowed", n)
		}
	}
	close(read)
	all.Wait()
	t.Logf("%d clients: %d were served, %d got 503", clients, served.Load(), busy.Load())
	// With more clients than connections, one that has been waiting for a second may be replaced. Over https, so many
	// handshakes take longer than that.
	n, tolerated := other.Load(), 0
	if clients > connections {
		tolerated = clients / 10
		if strings.HasPrefix(p.url, "https") {
			tolerated = clients
		}
	}
	if served.Load() == 0 || n > int64(tolerated) {
		t.Errorf("%d clients got a different response, or none", n)
	}
	checkGrowth(t, p, base)
	if r, err := fetch(anyServer, p.url+manifestV1, "after.example.com"); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("afterwards a new host gets %v, %v", r.Response, err)
	}
	waitFor(t, "nothing in flight", func() bool { return p.metric(t, "signpost_in_flight_bytes") == 0 })
}

// TestClosedWindows runs HTTP/2 clients that open as many streams as possible, each for a different host, and never let
// the server send a byte of a body.
func TestClosedWindows(t *testing.T) {
	t.Parallel()
	clients, streams := soak(t, "SIGNPOST_SOAK_HTTP2_CLIENTS", 8), 250
	p := startPlain(t, append([]string{largeManifest(t)}, anyCertificate(t)...)...)
	base := resident(t, p)
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	var heads atomic.Int64
	for i := range clients {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write(closedStreams(i, streams)); err != nil {
			t.Fatal(err)
		}
		go func() {
			in := bufio.NewReader(conn)
			for {
				head := make([]byte, frameHead)
				if _, err := io.ReadFull(in, head); err != nil {
					return
				}
				if head[3] == frameHeaders {
					heads.Add(1)
				}
				if _, err := io.CopyN(io.Discard, in, int64(binary.BigEndian.Uint32(append([]byte{0}, head[:3]...)))); err != nil {
					return
				}
			}
		}()
	}
	waitFor(t, "streams to be blocked", func() bool { return heads.Load() > 0 })
	checkGrowth(t, p, base)
	t.Logf("%d streams got the head of a response", heads.Load())
}

// closedStreams returns what a client sends to open streams in which it accepts no data, each for a different host.
func closedStreams(client, streams int) []byte {
	text := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	text = appendFrame(text, frameSettings, 0, 0, []byte{0, 4, 0, 0, 0, 0}) // an initial window of zero
	for s := range streams {
		host := fmt.Sprintf("h%d-%d.example.com", client, s)
		block := []byte{0x82, 0x87} // GET, https
		block = append(append(block, 0x04, byte(len(manifestV1))), manifestV1...)
		block = append(append(block, 0x01, byte(len(host))), host...)
		text = appendFrame(text, frameHeaders, flagEndStream|flagEndHeaders, 1+2*s, block)
	}
	return text
}

// TestUnreadPings runs HTTP/2 clients that do the same and then send as many PING frames as net/http queues replies for.
// They read nothing.
func TestUnreadPings(t *testing.T) {
	t.Parallel()
	clients, streams, pings := soak(t, "SIGNPOST_SOAK_HTTP2_CLIENTS", 20), 32, 9000
	p := startPlain(t, append([]string{largeManifest(t)}, anyCertificate(t)...)...)
	base := resident(t, p)
	var text []byte
	for range pings {
		text = appendFrame(text, framePing, 0, 0, make([]byte, 8))
	}
	var sending sync.WaitGroup
	var connected atomic.Int64
	handshakes := make(chan struct{}, 16)
	for i := range clients {
		tcp, err := net.Dial("tcp", strings.TrimPrefix(p.url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		conn := tls.Client(tcp, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		conn.SetDeadline(time.Now().Add(patience))
		handshakes <- struct{}{}
		sending.Go(func() {
			err := conn.Handshake()
			<-handshakes
			if err != nil {
				return // it took longer than the server allows, or another connection has taken the place of this one
			}
			connected.Add(1)
			tcp.(*net.TCPConn).SetReadBuffer(4 << 10) // the replies stay in the server
			conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
			conn.Write(append(closedStreams(i, streams), text...)) // the server may stop reading
		})
	}
	sending.Wait()
	t.Logf("%d of %d clients connected", connected.Load(), clients)
	if enough := min(clients, daemon.DefaultMaxConnections) / 2; connected.Load() < int64(enough) {
		t.Errorf("less than %d clients connected, too few for an attack", enough)
	}
	checkGrowth(t, p, base)
}

// TestLargeFrames runs HTTP/2 clients that each send a frame of unknown type, as large as net/http accepts by default.
func TestLargeFrames(t *testing.T) {
	t.Parallel()
	clients := soak(t, "SIGNPOST_SOAK_HTTP2_CLIENTS", 20)
	p := startPlain(t, anyCertificate(t)...)
	base := resident(t, p)
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	frame := make([]byte, 1<<20-1)
	for range clients {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		text := appendFrame([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frameSettings, 0, 0, nil)
		text = append(text, byte(len(frame)>>16), byte(len(frame)>>8), byte(len(frame)), 0xfe, 0, 0, 0, 0, 0)
		conn.Write(append(text, frame...)) // the server may refuse to read it
	}
	checkGrowth(t, p, base)
}

// TestIdleConnections opens more idle connections than allowed. Those that have been idle longest are replaced, and
// every request is served.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	if os.Getenv("SIGNPOST_SOAK_IDLE") != "" {
		t.Run("http", func(t *testing.T) { idleConnections(t, startPlain(t), daemon.DefaultMaxConnections) })
		t.Run("https", func(t *testing.T) {
			idleConnections(t, startPlain(t, anyCertificate(t)...), daemon.DefaultMaxConnections)
		})
		return
	}
	idleConnections(t, startServe(t, append(anyCertificate(t), "--max-connections", "20")...), 20)
}

func idleConnections(t *testing.T, p *process, most int) {
	const beyond = 50
	clients := soak(t, "SIGNPOST_SOAK_IDLE", most+beyond)
	base := resident(t, p)
	ask := func(conn net.Conn) error {
		conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: a.example.com\r\n\r\n", manifestV1)
		res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodHead})
		if err == nil && res.StatusCode != http.StatusOK {
			err = errors.New(res.Status)
		}
		return err
	}
	var conns []net.Conn
	for i := range clients {
		conn := dial(t, p)
		if strings.HasPrefix(p.url, "https") {
			conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		}
		if err := ask(conn); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conns = append(conns, conn)
	}
	anyServer := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if r, err := fetch(anyServer, p.url+manifestV1, ""); err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("another client gets %v, %v", r.Response, err)
	}
	closed := clients - most
	for i, conn := range []net.Conn{conns[0], conns[closed-10], conns[closed+10], conns[clients-1]} {
		if err := ask(conn); (err != nil) != (i < 2) {
			t.Errorf("a second request on a connection (want it closed: %v): %v", i < 2, err)
		}
	}
	checkGrowth(t, p, base)
	if mustFetch(t, p.admin+"/healthz").StatusCode != http.StatusOK {
		t.Error("the admin listener accepts no connection")
	}
}

const (
	frameHead      = 9
	frameHeaders   = 1
	frameSettings  = 4
	framePing      = 6
	flagEndStream  = 1
	flagEndHeaders = 4
)

// appendFrame appends an HTTP/2 frame.
func appendFrame(text []byte, kind, flags byte, stream int, payload []byte) []byte {
	text = append(text, 0, byte(len(payload)>>8), byte(len(payload)), kind, flags)
	return append(binary.BigEndian.AppendUint32(text, uint32(stream)), payload...)
}

// TestMadeUpHosts requests many made-up hosts, one after the other. SIGNPOST_SOAK_HOSTS sets the number; make soak uses
// a million. Memory grows until the cache is full, and no further.
func TestMadeUpHosts(t *testing.T) {
	t.Parallel()
	const few = 1000
	hosts, endpoints := soak(t, "SIGNPOST_SOAK_HOSTS", few), 400
	if hosts > few {
		endpoints = 100 // faster, but needs more hosts to fill the cache
	}
	path := filepath.Join(t.TempDir(), "feeds.json")
	write(t, path, feeds("one", endpoints)) // a hundred endpoints have some 10 kB
	p := startPlain(t, path)
	ask := func(from, to int) {
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() {
				client := &http.Client{Transport: &http.Transport{DisableCompression: c%2 == 0}}
				defer client.CloseIdleConnections()
				for i := from + c; i < to && !t.Failed(); i += 4 {
					host := fmt.Sprintf("host-%d.example.com", i)
					r, err := fetch(client, p.url+manifestV1, host)
					if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(r.body, `"https://`+host+`/v1/`) {
						t.Errorf("the response for %s is %v, %v", host, r.Response, err)
					}
				}
			})
		}
		clients.Wait()
	}
	start, base := time.Now(), resident(t, p)
	ask(0, hosts/2)
	before := resident(t, p)
	ask(hosts/2, hosts)
	after := resident(t, p)
	entries, bytes := p.metric(t, "signpost_cache_entries"), p.metric(t, "signpost_cache_bytes")
	t.Logf("soak: %d hosts in %v: %d MB after half of them, %d MB after all; the cache has %v manifests in %.1f MB",
		hosts, time.Since(start).Round(time.Millisecond), before, after, entries, bytes/(1<<20))
	if bytes > server.DefaultCacheBytes || bytes < server.DefaultCacheBytes*9/10 {
		t.Errorf("the cache holds %v bytes, but should be full", bytes)
	}
	if hosts > few && (after > before+32 || after > base+maxGrowth) {
		t.Errorf("memory grew from %d MB to %d MB, and then to %d MB", base, before, after)
	}
}
