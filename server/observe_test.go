package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// transports serves a handler in every way in which serve can, and returns the addresses.
func transports(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	addresses := map[string]string{"http": "http://" + listenPlain(t, h)}
	if direct, ok := h.(*Handler); ok {
		addresses["wire"] = "http://" + listen(t, direct)
	}
	for _, name := range []string{"https", "http2"} {
		s := httptest.NewUnstartedServer(h)
		s.EnableHTTP2 = name == "http2"
		s.StartTLS()
		t.Cleanup(s.Close)
		addresses[name] = s.URL
	}
	return addresses
}

// call sends a request for a host, or for that of the address, over any of the transports.
func call(t *testing.T, method, address, host string) *http.Response {
	t.Helper()
	r := testkit.Must(http.NewRequest(method, address, nil))(t)
	r.Host = host
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return testkit.Must((&http.Client{Transport: transport}).Do(r))(t)
}

// observed returns a handler and what it observes.
func observed(t *testing.T, services ...Service) (*Handler, <-chan Event) {
	t.Helper()
	events := make(chan Event, 2)
	return newHandler(t, Options{AllowedHosts: []string{"feeds.example.com", "127.0.0.1"}, Observe: func(_ *http.Request, e Event) { events <- e }}, services...), events
}

// TestObserve checks that every kind of response is observed in the same way over every transport.
func TestObserve(t *testing.T) {
	const path, host = "/a" + manifestPath, "feeds.example.com"
	template := compile(t, "a")
	h, events := observed(t, at("/a", template))
	body := len(testkit.Must(template.Render(host))(t))
	refusal := func(p *problem, host string) int { return len(p.refusal(h.common, taken{host, "Host"}).body) }
	for name, address := range transports(t, h) {
		h.manifests.cache.InvalidateAll() // makes the first one a miss
		for _, test := range []struct {
			method, path, host string
			want               Event
		}{
			{"GET", path, host, Event{Host: host, Status: 200, Bytes: body, Cache: CacheMiss}},
			{"GET", path, host, Event{Host: host, Status: 200, Bytes: body, Cache: CacheHit}},
			{"HEAD", path, host, Event{Host: host, Status: 200, Cache: CacheHit}},
			{"OPTIONS", path, host, Event{Status: 204}},
			{"POST", path, host, Event{Status: 405, Bytes: len(methodNotAllowed.response(h.common, arrived{}).body)}},
			{"GET", path, "other.example.com", Event{Status: 421, Bytes: refusal(hostNotAllowed, "other.example.com"), Refused: RefusedNotAllowed}},
			{"GET", path, "a..b", Event{Status: 400, Bytes: refusal(badHost, "a..b"), Refused: RefusedMalformed}},
			{"GET", "/", host, Event{Status: 404, Bytes: len(h.table.Load().notFound.response(h.common, arrived{Path: "/"}).body)}},
		} {
			response := call(t, test.method, address+test.path, test.host)
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if test.path == path {
				test.want.BasePath, test.want.Version = "/a", "v1"
			}
			got := <-events
			if test.want.Duration = got.Duration; got != test.want || got.Duration <= 0 {
				t.Errorf("%s: %s %s for %s: %+v, want %+v", name, test.method, test.path, test.host, got, test.want)
			}
		}
	}
	if entries, bytes := h.CacheSize(); entries != 1 || bytes < int64(body) {
		t.Errorf("the cache holds %d entries of %d bytes", entries, bytes)
	}
}

// TestObservedWhenWritten checks that a response is observed after it was written: here Observe waits until the client
// has read all of it.
func TestObservedWhenWritten(t *testing.T) {
	read := make(chan struct{})
	done := make(chan error, 1)
	h := newHandler(t, Options{Observe: func(*http.Request, Event) {
		select {
		case <-read:
			done <- nil
		case <-time.After(testkit.Patience):
			done <- errors.New("observed before the response was written")
		}
	}}, v1(compile(t, "a")))
	for name, address := range transports(t, h) {
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			response := call(t, method, address+manifestPath, "")
			length := response.ContentLength
			if method == "HEAD" {
				length = 0
			}
			// read exactly this many bytes: the end of an HTTP/2 stream comes later
			if n, err := io.CopyN(io.Discard, response.Body, length); err != nil {
				t.Fatalf("%s: %d bytes of %d, %v", name, n, length, err)
			}
			read <- struct{}{}
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			response.Body.Close()
		}
	}
}

// TestDisconnectsAreObserved checks that a client that disconnects is observed as such.
func TestDisconnectsAreObserved(t *testing.T) {
	h, events := observed(t, v1(compile(t, strings.Repeat("a", 3<<20))))
	for name, address := range transports(t, h) {
		response := call(t, "GET", address+manifestPath, "")
		response.Body.Close() // ends the connection, or the stream
		if e := <-events; e.Err == nil || e.Status != http.StatusOK || int64(e.Bytes) >= response.ContentLength {
			t.Errorf("%s: status %d, %d bytes of %d, error %v", name, e.Status, e.Bytes, response.ContentLength, e.Err)
		}
	}
}

// TestObservedBehindABuffer checks that a response that an outer handler buffers is observed exactly once.
func TestObservedBehindABuffer(t *testing.T) {
	h, events := observed(t, v1(compile(t, "a")))
	for name, address := range transports(t, http.TimeoutHandler(h, testkit.Patience, "too late")) {
		response := call(t, "GET", address+manifestPath, "")
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if e := <-events; err != nil || e.Status != 200 || e.Err != nil || e.Bytes != len(body) || len(events) > 0 {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}
