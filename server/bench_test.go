package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// sink is a ResponseWriter without cost, so that only the handler is measured.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Flush() {}

func (s *sink) reset() {
	clear(s.header)
	s.status, s.bytes = 0, 0
}

// hits returns requests that are answered by a lookup.
func hits(h *Handler) map[string]*http.Request {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest("GET", "feeds.example.com"))
	tag := w.Header().Get("ETag")
	return map[string]*http.Request{
		"plain":       newRequest("GET", "feeds.example.com"),
		"port":        newRequest("GET", "feeds.example.com:8080"),
		"IPv4":        newRequest("GET", "192.0.2.1:8080"),
		"gzip":        newRequest("GET", "feeds.example.com", "Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1"),
		"HEAD":        newRequest("HEAD", "feeds.example.com"),
		"304":         newRequest("GET", "feeds.example.com", "If-None-Match", `"x", W/`+tag),
		"304 of gzip": newRequest("GET", "feeds.example.com", "If-None-Match", strings.TrimSuffix(tag, `"`)+`-gzip"`, "Accept-Encoding", "gzip"),
		"OPTIONS":     newRequest("OPTIONS", "feeds.example.com"),
		"405":         newRequest("DELETE", "feeds.example.com"),
		"421":         newRequest("GET", "other.example.com"),
		"404":         httptest.NewRequest("GET", "/wp-login.php", nil),
	}
}

func TestHitsDoNotAllocate(t *testing.T) {
	template := compile(t, "a")
	limited := Options{AllowedHosts: []string{"192.0.2.1", "*.example.net", "feeds.example.com"}, Observe: func(*http.Request, Event) {}}
	h := newHandler(t, limited, v1(template))
	handlers := []*Handler{
		h,
		newHandler(t, Options{TrustedProxies: loopback}, v1(template)), // does not include the peer of these requests
	}
	for name, r := range hits(h) {
		if slices.Contains([]string{"404", "405", "421"}, name) {
			continue // problems are made for each request
		}
		for _, h := range handlers {
			w := &sink{header: make(http.Header)}
			if n := testing.AllocsPerRun(1000, func() {
				w.reset()
				h.ServeHTTP(w, r)
			}); n != 0 {
				t.Errorf("%s: %v allocations per request", name, n)
			}
			if strings.HasPrefix(name, "304") != (w.status == http.StatusNotModified) {
				t.Errorf("%s: status %d", name, w.status)
			}
			for key := range w.header {
				if key != http.CanonicalHeaderKey(key) {
					t.Errorf("%s: header %q is not canonical", name, key)
				}
			}
		}
	}
}

// BenchmarkServe measures the handler alone, from the cache and with a host for the first time.
func BenchmarkServe(b *testing.B) {
	h := newHandler(b, Options{}, v1(compile(b, "a")))
	requests := hits(h)
	run := func(name string, prepare func(r *http.Request, i int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r, w := requests[strings.TrimPrefix(name, "miss ")], &sink{header: make(http.Header)}
			for i := 0; b.Loop(); i++ {
				prepare(r, i)
				w.reset()
				h.ServeHTTP(w, r)
			}
		})
	}
	for _, name := range []string{"plain", "gzip", "304", "421", "405", "404"} {
		run(name, func(*http.Request, int) {})
	}
	for _, name := range []string{"miss plain", "miss gzip"} {
		run(name, func(r *http.Request, i int) { r.Host = fmt.Sprintf("h%d.example.com", i) })
	}
}
