package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"signpost"
)

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{limit: 10}
		enter := func(need int64) chan int64 {
			entered := make(chan int64, 1)
			go func() {
				if n, err := r.enter(t.Context(), need); err == nil {
					entered <- n
				}
			}()
			synctest.Wait()
			return entered
		}
		isIn := func(entered chan int64) bool {
			synctest.Wait()
			return len(entered) > 0
		}
		first := enter(7)
		large := enter(5)
		small := enter(1)
		if !isIn(first) || isIn(large) || isIn(small) {
			t.Error("a request that does not fit, or one behind it, did not wait")
		}
		r.leave(7)
		if !isIn(large) || !isIn(small) || r.inUse() != 6 {
			t.Errorf("waiting requests were not admitted: %d bytes are in use", r.inUse())
		}

		// When a request gives up, the ones behind it are admitted.
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() {
			_, err := r.enter(ctx, 10)
			gaveUp <- err
		}()
		synctest.Wait()
		behind := enter(4)
		if isIn(behind) {
			t.Error("a request overtook another")
		}
		cancel()
		if err := <-gaveUp; !errors.Is(err, errBusy) || !isIn(behind) {
			t.Errorf("after giving up with %v, the next request was not admitted", err)
		}

		// A request larger than the limit gets all of it, once it is free.
		huge := enter(1000)
		r.leave(6)
		if isIn(huge) {
			t.Error("a request was admitted before there was room")
		}
		r.leave(4)
		if n := <-huge; n != 10 || r.inUse() != 10 {
			t.Errorf("it got %d bytes, and %d are in use", n, r.inUse())
		}
		late := enter(5)
		r.resize(15)
		if !isIn(late) {
			t.Error("a waiting request was not admitted when the limit was raised")
		}
		r.leave(15)
		if r.inUse() != 0 || r.waiting.Len() != 0 {
			t.Errorf("%d bytes in use and %d waiting requests are left", r.inUse(), r.waiting.Len())
		}
	})
}

// large is a size that blocks on a client that does not read: more than the buffers of a connection hold.
const large = 8 << 20

// stuck opens connections that each request a different host and do not read the response.
func stuck(t *testing.T, address string, n int) []net.Conn {
	t.Helper()
	var conns []net.Conn
	for i := range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: stuck%d-%d.example.com\r\nConnection: close\r\n\r\n", manifestPath, i, rand.Uint64())
		conns = append(conns, conn)
	}
	return conns
}

// TestInFlightIsBounded checks that requests beyond the limit wait for a while and then get 503. Cached manifests are
// still served.
func TestInFlightIsBounded(t *testing.T) {
	template := compile(t, strings.Repeat("a", large/4)) // in four names
	size := int64(template.Size(""))
	h := newHandler(t, Options{CacheBytes: size * 3 / 2, InFlightBytes: 1, InFlightWait: 100 * time.Millisecond}, v1(template))
	wired, plain := startPair(t, h)
	for _, address := range []string{wired, plain} {
		const known = "Host: known.example.com"
		wantStatus(t, send(t, address, "HEAD", manifestPath, known), http.StatusOK)
		wantStatus(t, send(t, address, "HEAD", manifestPath, known), http.StatusOK)

		// On a busy machine some of them time out before they are rendered: others take their place.
		conns := stuck(t, address, 2*inFlightManifests)
		var a answer
		waitFor(t, "a response of 503", func() bool {
			late := fmt.Sprintf("Host: late%d.example.com", len(conns)) // another one each time: a repeated one would be cached
			if a = send(t, address, "GET", manifestPath, late); a.StatusCode != http.StatusServiceUnavailable {
				conns = append(conns, stuck(t, address, inFlightManifests)...)
			}
			return a.StatusCode == http.StatusServiceUnavailable
		})
		wantHeaders(t, a, map[string]string{"Retry-After": "2"})
		if n := h.InFlight(); n > inFlightManifests*size+size/10 {
			t.Errorf("%d bytes are in flight, with manifests of %d", n, size)
		}
		wantStatus(t, send(t, address, "HEAD", manifestPath, known), http.StatusOK)
		wantStatus(t, send(t, address, "DELETE", manifestPath, known), http.StatusMethodNotAllowed)

		for _, conn := range conns {
			conn.Close()
		}
		waitFor(t, "nothing in flight", func() bool { return h.InFlight() == 0 })
		wantStatus(t, send(t, address, "HEAD", manifestPath, "Host: late.example.com"), http.StatusOK)
	}
}

// TestRequestsWaitForRoom checks that a waiting request is served if room becomes available in time.
func TestRequestsWaitForRoom(t *testing.T) {
	template := compile(t, strings.Repeat("a", large/4))
	h := newHandler(t, Options{CacheBytes: 1, InFlightWait: patience}, v1(template))
	address, _ := startPair(t, h)
	conns := stuck(t, address, 2*inFlightManifests)
	size := int64(template.Size(""))
	waitFor(t, "no room to be left", func() bool { return h.InFlight() > (inFlightManifests-1)*size })
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			conn.SetDeadline(time.Now().Add(patience))
			if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK") || len(text) < int(size) {
				t.Errorf("%d bytes, %v: %.100s", len(text), err, text)
			}
		})
	}
	all.Wait()
	waitFor(t, "nothing in flight", func() bool { return h.InFlight() == 0 })
}

// TestDisconnectedClientsDoNotWait checks that a client that disconnects gives up its place at once, while others keep
// waiting for the same host.
func TestDisconnectedClientsDoNotWait(t *testing.T) {
	h := newHandler(t, Options{InFlightBytes: 1, InFlightWait: patience}, v1(compile(t, "a")))
	c, route := h.cache, h.table.Load().routes[manifestPath]
	c.room.take(c.room.limit)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 2)
	get := func(ctx context.Context) {
		e, _, err := c.get(ctx, key{route, "feeds.example.com", false})
		if err == nil {
			c.release(e)
		}
		results <- err
	}
	go get(ctx)
	waitFor(t, "the first request to wait", func() bool { c.room.mu.Lock(); defer c.room.mu.Unlock(); return c.room.waiting.Len() == 1 })
	go get(t.Context())
	cancel()
	if err := <-results; !errors.Is(err, errBusy) {
		t.Errorf("the disconnected client got %v", err)
	}
	c.room.leave(c.room.limit)
	if err := <-results; err != nil {
		t.Errorf("the client that waited for the same host got %v", err)
	}
	checkCache(t, c)
}

// TestHalfClosedClientsAreServed checks that a client that has closed its side of the connection, but may still read,
// gets its manifest if it does not have to wait.
func TestHalfClosedClientsAreServed(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as net/http does
	for i := range 100 {
		e, _, err := h.cache.get(ctx, key{h.table.Load().routes[manifestPath], fmt.Sprintf("h%d.example.com", i), i%2 == 0})
		if err != nil {
			t.Fatalf("host %d: %v", i, err)
		}
		h.cache.release(e)
	}
}

// TestRetiredManifestsInFlight checks that a manifest that is being sent while its service is replaced counts until it
// has been sent.
func TestRetiredManifestsInFlight(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	e, _, err := h.cache.get(t.Context(), key{h.table.Load().routes[manifestPath], "feeds.example.com", false})
	if err != nil {
		t.Fatal(err)
	}
	if h.InFlight() != 0 {
		t.Error("a cached manifest also counts as in flight")
	}
	if err := h.Publish(v1(compile(t, "b"))); err != nil {
		t.Fatal(err)
	}
	if h.InFlight() != e.size {
		t.Errorf("%d bytes are in flight, want %d", h.InFlight(), e.size)
	}
	h.cache.release(e)
	checkCache(t, h.cache)
}

// TestRoomForLargeManifests checks that several copies of the largest manifest fit, whatever the option says.
func TestRoomForLargeManifests(t *testing.T) {
	small, big := compile(t, "a"), compile(t, strings.Repeat("a", large))
	h := newHandler(t, Options{InFlightBytes: 1000}, v1(small))
	if got := h.cache.room.limit; got != max(1000, inFlightManifests*int64(small.Size(""))) {
		t.Errorf("the limit is %d", got)
	}
	if err := h.Publish(v1(small), Service{BasePath: "/big", Versions: map[string]*signpost.Template{"v1": big}}); err != nil {
		t.Fatal(err)
	}
	if got := h.cache.room.limit; got != inFlightManifests*int64(big.Size("")) {
		t.Errorf("the limit is %d", got)
	}
}

// TestStreamsAreBounded checks that HTTP/2 requests beyond the limit get 503, and that those far beyond it are reset,
// because a client can keep a response of any size waiting.
func TestStreamsAreBounded(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	get := func() (int, error) {
		response, err := s.Client().Get(s.URL + manifestPath)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return response.StatusCode, err
	}
	for _, test := range []struct{ others, status int }{{0, 200}, {maxStreams - 1, 200}, {maxStreams, 503}, {2*maxStreams - 1, 503}, {2 * maxStreams, 0}, {0, 200}} {
		h.streams.Store(int64(test.others))
		status, err := get()
		if status != test.status || (err != nil) != (test.status == 0) {
			t.Errorf("with %d others: status %d, %v; want %d", test.others, status, err, test.status)
		}
		waitFor(t, "the end of the stream", func() bool { return h.streams.Load() == int64(test.others) })
	}
}
