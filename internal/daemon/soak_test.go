package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"signpost/internal/daemon"
	"signpost/internal/testkit"
	"signpost/server"
)

// The tests in this file attack a server, or load it. They run with make soak only, which sets the number of attackers.
// Each logs a line of the table that make soak prints. What they check in size is tested in small by packages server and
// wire, and in running_test.go.

// maxGrowth is how much memory may grow under any attack, in MB: see docs/hardening.md.
const maxGrowth = 400

// soak returns the size of an attack: the value of the variable, without which the test is skipped.
func soak(t *testing.T, variable string) int {
	t.Helper()
	if os.Getenv(variable) == "" {
		t.Skip("for make soak, which sets " + variable)
	}
	n := testkit.Must(strconv.Atoi(os.Getenv(variable)))(t)
	return n
}

// Fields of /proc/PID/status.
const resident, mostResident = "VmRSS", "VmHWM"

// memory returns the resident memory of a process in MB.
func memory(t *testing.T, p *process, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Skip("this system does not report the memory of a process")
	}
	_, after, _ := strings.Cut(string(status), field+":")
	var kilobytes int
	testkit.Must(fmt.Sscan(after, &kilobytes))(t)
	return kilobytes >> 10
}

// checkGrowth checks that memory has stayed in bounds, and logs how the attack went.
func checkGrowth(t *testing.T, p *process, base int, format string, args ...any) {
	t.Helper()
	most := memory(t, p, mostResident)
	t.Logf("soak: %s; memory grew from %d MB to at most %d MB", fmt.Sprintf(format, args...), base, most)
	if most > base+maxGrowth {
		t.Errorf("memory grew by more than %d MB", maxGrowth)
	}
}

// checkServed checks that another client gets its manifest, on a connection of its own. Like every client, it tries again
// if the server is too busy.
func checkServed(t *testing.T, p *process, host string) {
	t.Helper()
	client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{TLSClientConfig: anyServer.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: true}}
	waitFor(t, "another client gets the manifest for "+host, func() bool {
		r, err := fetch(client, p.url+manifestV1, host)
		return err == nil && r.StatusCode == http.StatusOK
	})
}

var anyServer = &tls.Config{InsecureSkipVerify: true}

// startLarge serves a manifest of half a megabyte, and returns the memory of the server after the first request.
func startLarge(t *testing.T, args ...string) (p *process, base int) {
	path := filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, path, feeds(strings.Repeat("a", 400), 1000))
	p = startPlain(t, append(args, path)...)
	checkServed(t, p, "feeds.example.com")
	return p, memory(t, p, resident)
}

// anyCertificate returns the flags for https with a certificate.
func anyCertificate(t *testing.T) []string {
	flags, _, _ := certificateFiles(t, 1)
	return flags
}

// attackers connects many clients, a few at a time: they share this machine with the server, which limits the time of a
// handshake. Those that do not get through in time give up. Each calls attack with its number. The connections stay open
// until the test ends.
func attackers(t *testing.T, p *process, clients int, attack func(i int, conn net.Conn)) (connected int) {
	scheme, address, _ := strings.Cut(p.url, "://")
	var all sync.WaitGroup
	var n atomic.Int64
	handshakes := make(chan struct{}, 16)
	for i := range clients {
		handshakes <- struct{}{}
		all.Go(func() {
			tcp, err := net.Dial("tcp", address)
			conn := tcp
			if err == nil {
				t.Cleanup(func() { tcp.Close() })
				tcp.SetDeadline(time.Now().Add(time.Minute))
				tcp.(*net.TCPConn).SetReadBuffer(4 << 10) // what is not read stays in the server
				if scheme == "https" {
					secure := tls.Client(tcp, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
					conn, err = secure, secure.Handshake()
				}
			}
			<-handshakes
			if err == nil {
				n.Add(1)
				attack(i, conn)
			}
		})
	}
	all.Wait()
	if enough := min(clients, daemon.DefaultMaxConnections) / 2; n.Load() < int64(enough) {
		t.Errorf("%d clients connected, too few for an attack", n.Load())
	}
	return int(n.Load())
}

// TestBurstOfHosts runs many concurrent clients that each request a different host and read nothing. A host that others
// request is still served, and those that do not fit get 503.
func TestBurstOfHosts(t *testing.T) {
	clients := soak(t, "SIGNPOST_SOAK_CLIENTS")
	p, base := startLarge(t)
	var mu sync.Mutex
	var conns []net.Conn
	attackers(t, p, clients, func(i int, conn net.Conn) {
		encoding := []string{"identity", "gzip"}[i%2]
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h%d.example.com\r\nAccept-Encoding: %s\r\n\r\n", manifestV1, i, encoding)
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, conn)
	})
	for range 20 {
		checkServed(t, p, "feeds.example.com")
		if n := p.metric(t, "signpost_in_flight_bytes"); n > server.DefaultInFlightBytes+server.DefaultCacheBytes {
			t.Errorf("%v bytes are in flight, more than allowed", n)
		}
	}
	count := make(map[int]int) // by status; 0 for a connection that has made way for another
	for _, conn := range conns {
		conn.SetDeadline(time.Now().Add(testkit.Patience))
		status := 0
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			status = res.StatusCode
		}
		count[status]++
		conn.Close()
	}
	if count[200] == 0 || count[200]+count[503]+count[0] != len(conns) {
		t.Errorf("the statuses are %v", count)
	}
	checkServed(t, p, "after.example.com")
	waitFor(t, "nothing in flight", func() bool { return p.metric(t, "signpost_in_flight_bytes") == 0 })
	checkGrowth(t, p, base, "%d clients, of which %d got a manifest, %d got 503 and %d made way", clients, count[200], count[503], count[0])
}

// overHTTP2 runs clients that send the same kind of frames over HTTP/2, and read nothing. Another client is served.
func overHTTP2(t *testing.T, frames func(f *http2.Framer, client int)) {
	clients := soak(t, "SIGNPOST_SOAK_HTTP2_CLIENTS")
	p, base := startLarge(t, anyCertificate(t)...)
	connected := attackers(t, p, clients, func(i int, conn net.Conn) {
		text := bytes.NewBufferString(http2.ClientPreface)
		frames(http2.NewFramer(text, nil), i)
		conn.SetDeadline(time.Now().Add(2 * time.Second))
		conn.Write(text.Bytes()) // the server may stop reading
	})
	start := time.Now()
	checkServed(t, p, "feeds.example.com")
	checkGrowth(t, p, base, "%d of %d clients connected; another one was served after %v", connected, clients, time.Since(start).Round(time.Millisecond))
}

// TestClosedWindows opens as many streams as possible, each for a different host, without accepting a byte of a body.
func TestClosedWindows(t *testing.T) {
	overHTTP2(t, func(f *http2.Framer, client int) { closedStreams(f, client, 250) })
}

// TestUnreadPings opens such streams and then sends as many PING frames as net/http queues replies for.
func TestUnreadPings(t *testing.T) {
	overHTTP2(t, func(f *http2.Framer, client int) {
		closedStreams(f, client, 8)
		for range 9000 {
			f.WritePing(false, [8]byte{})
		}
	})
}

// TestLargeFrames sends a frame of unknown type, as large as net/http accepts by default.
func TestLargeFrames(t *testing.T) {
	overHTTP2(t, func(f *http2.Framer, _ int) {
		f.WriteSettings()
		f.WriteRawFrame(0xfe, 0, 0, make([]byte, 1<<20-1))
	})
}

// closedStreams opens streams in which a client accepts no data, each for a different host.
func closedStreams(f *http2.Framer, client, streams int) {
	f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for s := range streams {
		host := fmt.Sprintf("h%d-%d.example.com", client, s)
		block := fmt.Appendf(nil, "\x82\x87\x04%c%s\x01%c%s", len(manifestV1), manifestV1, len(host), host) // GET, https, path and host
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(1 + 2*s), BlockFragment: block, EndStream: true, EndHeaders: true})
	}
}

// TestIdleConnections opens more idle connections than allowed. Those that have been idle longest are replaced, and every
// request is served.
func TestIdleConnections(t *testing.T) {
	clients := soak(t, "SIGNPOST_SOAK_IDLE")
	for scheme, args := range map[string][]string{"http": nil, "https": anyCertificate(t)} {
		t.Run(scheme, func(t *testing.T) {
			p := startPlain(t, args...)
			base := memory(t, p, resident)
			var conns []net.Conn
			for range clients {
				waitFor(t, "a response", func() bool { // the server limits the time of a handshake, and this machine may be busy
					conn := dial(t, p)
					if scheme == "https" {
						conn = tls.Client(conn, anyServer)
					}
					served := asks(conn)
					if served {
						conns = append(conns, conn)
					}
					return served
				})
			}
			checkServed(t, p, "feeds.example.com")
			closed := clients - daemon.DefaultMaxConnections
			for _, i := range []int{0, closed - 10, closed + 10, clients - 1} {
				if asks(conns[i]) != (i > closed) {
					t.Errorf("connection %d of %d is open: %v", i, clients, i <= closed)
				}
			}
			checkGrowth(t, p, base, "%d idle connections", clients)
		})
	}
}

// TestSilentConnections opens new connections all the time that never send a byte. A real client with a connection of its
// own for each request is answered within a second.
func TestSilentConnections(t *testing.T) {
	rate := soak(t, "SIGNPOST_SOAK_SILENT")
	for scheme, args := range map[string][]string{"http": nil, "https": anyCertificate(t)} {
		t.Run(scheme, func(t *testing.T) {
			p := startPlain(t, args...)
			base := memory(t, p, resident)
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			var flood sync.WaitGroup
			var opened atomic.Int64
			flood.Go(func() { opened.Store(floodSilently(ctx, p, rate)) })
			client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{TLSClientConfig: anyServer.Clone(), DisableKeepAlives: true}}
			var took []time.Duration
			for ctx.Err() == nil {
				start := time.Now()
				if r, err := fetch(client, p.url+manifestV1, "feeds.example.com"); err != nil || r.StatusCode != http.StatusOK {
					t.Errorf("a real client gets %v", err)
				}
				took = append(took, time.Since(start))
			}
			stop()
			flood.Wait()
			slices.Sort(took)
			median, most := took[len(took)/2], took[len(took)-1]
			if most > time.Second {
				t.Errorf("a real client waited %v", most)
			}
			checkGrowth(t, p, base, "%d silent connections a second over %s; of %d requests the median takes %v, the slowest %v",
				opened.Load()/5, scheme, len(took), median.Round(time.Millisecond), most.Round(time.Millisecond))
		})
	}
}

// floodSilently opens connections at a rate, from several loopback addresses since one has too few ports, and keeps the
// latest. It returns how many it opened.
func floodSilently(ctx context.Context, p *process, rate int) (opened int64) {
	_, address, _ := strings.Cut(p.url, "://")
	const batches = 100 // in a second
	tick := time.NewTicker(time.Second / batches)
	defer tick.Stop()
	latest := make([]net.Conn, 4000)
	defer func() {
		for _, conn := range latest {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return opened
		case <-tick.C:
		}
		for range rate / batches {
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+opened%8))}
			conn, err := (&net.Dialer{LocalAddr: from, Timeout: time.Second}).DialContext(ctx, "tcp4", address)
			if err != nil {
				continue // the queue of the kernel is full
			}
			conn.(*net.TCPConn).SetLinger(0)
			oldest := &latest[opened%int64(len(latest))]
			if *oldest != nil {
				(*oldest).Close()
			}
			*oldest = conn
			opened++
		}
	}
}

// asks sends a request and reports whether it was served.
func asks(conn net.Conn) bool {
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: a.example.com\r\n\r\n", manifestV1)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodHead})
	return err == nil && res.StatusCode == http.StatusOK
}

// TestMadeUpHosts requests many made-up hosts, one after the other, and a tenth of them over https with HTTP/1.1. Memory
// grows until the cache is full, and no further.
func TestMadeUpHosts(t *testing.T) {
	hosts := soak(t, "SIGNPOST_SOAK_HOSTS")
	t.Run("http", func(t *testing.T) { madeUpHosts(t, hosts) })
	t.Run("https", func(t *testing.T) { madeUpHosts(t, hosts/10, anyCertificate(t)...) })
}

func madeUpHosts(t *testing.T, hosts int, args ...string) {
	path := filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, path, feeds("one", 100)) // some 10 kB
	p := startPlain(t, append(args, path)...)
	ask := func(from, to int) {
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() {
				client := &http.Client{Transport: &http.Transport{DisableCompression: c%2 == 0, TLSClientConfig: anyServer.Clone()}} // no HTTP/2
				defer client.CloseIdleConnections()
				for i := from + c; i < to && !t.Failed(); i += 4 {
					host := fmt.Sprintf("host-%d.example.com", i)
					r, err := fetch(client, p.url+manifestV1, host)
					if err != nil { // the server limits the time of a request, and this machine may be busy
						r, err = fetch(client, p.url+manifestV1, host)
					}
					if err != nil || r.StatusCode != http.StatusOK || r.ProtoMajor != 1 || !strings.Contains(r.body, `"https://`+host+`/v1/`) {
						t.Errorf("the response for %s is %v, %v", host, r.Response, err)
					}
				}
			})
		}
		clients.Wait()
	}
	start, base := time.Now(), memory(t, p, resident)
	ask(0, hosts/2)
	half := memory(t, p, resident)
	ask(hosts/2, hosts)
	if after := memory(t, p, resident); after > half+32 {
		t.Errorf("memory grew from %d MB to %d MB although the cache was full", half, after)
	}
	cached := p.metric(t, "signpost_cache_bytes")
	if cached > server.DefaultCacheBytes || cached < server.DefaultCacheBytes*9/10 {
		t.Errorf("the cache holds %v bytes, but should be full", cached)
	}
	checkGrowth(t, p, base, "%d hosts in %v; the cache holds %.1f MB", hosts, time.Since(start).Round(time.Millisecond), cached/(1<<20))
}

// slowKinds are the ways to hold a connection: what is sent first, and what trickles in after it.
var slowKinds = []struct{ start, drip string }{
	{"", ""}, // sends nothing
	{"GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\n", "X-Slow: 1\r\n"},                        // never completes its headers
	{"GET " + manifestV1 + " HTTP/1.1\r\nHost: a.example.com\r\n\r\n", ""},                                 // reads nothing
	{"POST /nowhere HTTP/1.1\r\nHost: a.example.com\r\nContent-Length: 1000\r\n\r\n", "x"},                 // never completes its body
	{strings.Repeat("GET "+manifestV1+" HTTP/1.1\r\nHost: a.example.com\r\n\r\n", 20), "GET / HTTP/1.1\r"}, // keeps sending requests
}

// TestManySlowClients runs more slow clients than connections are allowed; they reconnect whenever they are cut off.
// Others are served all the time, and memory stays in bounds.
func TestManySlowClients(t *testing.T) {
	clients := soak(t, "SIGNPOST_SOAK_SLOW")
	if most := fileLimit(t) - 1000; clients > most {
		clients = most
		t.Logf("only %d clients: more files cannot be open", clients)
	}
	p, base := startLarge(t)
	var connected, cut atomic.Int64
	var slow sync.WaitGroup
	stop, dialing := make(chan struct{}), make(chan struct{}, 100) // the kernel drops what does not fit into the listener's queue
	for i := range clients {
		kind := slowKinds[i%len(slowKinds)]
		slow.Go(func() {
			for {
				dialing <- struct{}{}
				conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.url, "http://"), testkit.Patience)
				<-dialing
				if err != nil {
					t.Errorf("a slow client cannot connect: %v", err)
					return
				}
				connected.Add(1)
				hold(conn, kind.start, kind.drip, stop)
				conn.Close()
				select {
				case <-stop:
					return
				default:
					cut.Add(1)
				}
			}
		})
	}
	waitFor(t, "all slow clients", func() bool { return connected.Load() >= int64(clients) || t.Failed() })
	start := time.Now()
	for range 5 {
		checkServed(t, p, "feeds.example.com")
	}
	took := time.Since(start).Round(time.Millisecond)
	if mustFetch(t, p.admin+"/readyz").StatusCode != http.StatusOK {
		t.Error("it is not ready")
	}
	close(stop)
	slow.Wait()
	checkGrowth(t, p, base, "5 requests among %d slow clients, cut off %d times, took %v", clients, cut.Load(), took)
}

// hold keeps a connection for as long as the server allows it, or until stop is closed. It reads a byte per second.
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
		conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}
