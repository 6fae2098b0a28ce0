package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"signpost/internal/wire"
)

// sink is a ResponseWriter that costs nothing, so that what is measured is the handler.
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

func (s *sink) reset() {
	clear(s.header)
	s.status, s.bytes = 0, 0
}

// hits returns the requests that a look-up answers.
func hits(h *Handler) map[string]*http.Request {
	request := func(method, host string, header ...string) *http.Request {
		r := httptest.NewRequest(method, manifestPath, nil)
		r.Host = host
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		return r
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request("GET", "feeds.example.com"))
	tag := w.Header().Get("ETag")
	return map[string]*http.Request{
		"plain":       request("GET", "feeds.example.com"),
		"port":        request("GET", "feeds.example.com:8080"),
		"IPv4":        request("GET", "192.0.2.1:8080"),
		"gzip":        request("GET", "feeds.example.com", "Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1"),
		"HEAD":        request("HEAD", "feeds.example.com"),
		"304":         request("GET", "feeds.example.com", "If-None-Match", `"x", W/`+tag),
		"304 of gzip": request("GET", "feeds.example.com", "If-None-Match", tag, "Accept-Encoding", "gzip"),
		"OPTIONS":     request("OPTIONS", "feeds.example.com"),
		"405":         request("DELETE", "feeds.example.com"),
		"421":         request("GET", "other.example.com"),
	}
}

// wired returns a request that came in on a connection as serve has them.
func wired(r *http.Request) *http.Request {
	return r.WithContext(wire.Context(r.Context(), new(wire.Conn)))
}

func TestHitsDoNotAllocate(t *testing.T) {
	h := newHandler(t, Options{AllowedHosts: []string{"192.0.2.1", "*.example.net", "feeds.example.com"}}, v1(compile(t, "a")))
	trusting := newHandler(t, Options{TrustedProxies: loopback}, v1(compile(t, "a"))) // though not the peer of these requests
	for name, r := range hits(h) {
		for i, h := range []*Handler{h, trusting, h} {
			if i == 2 {
				r = wired(r)
			}
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

func BenchmarkServe(b *testing.B) {
	h := newHandler(b, Options{}, v1(compile(b, "a")))
	requests := hits(h)
	for _, name := range []string{"plain", "gzip", "304"} {
		b.Run("hit "+name, func(b *testing.B) { serve(b, h, wired(requests[name])) })
	}
	b.Run("hit embedded", func(b *testing.B) { serve(b, h, requests["plain"]) })
	b.Run("hit parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			r, w := wired(requests["plain"]), &sink{header: make(http.Header)}
			for pb.Next() {
				w.reset()
				h.ServeHTTP(w, r)
			}
		})
	})
	for _, name := range []string{"plain", "gzip"} {
		b.Run("miss "+name, func(b *testing.B) {
			b.ReportAllocs()
			r := wired(requests[name])
			w := &sink{header: make(http.Header)}
			for i := 0; b.Loop(); i++ {
				r.Host = fmt.Sprintf("h%d.example.com", i)
				w.reset()
				h.ServeHTTP(w, r)
			}
		})
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, requests["plain"])
	body := recorder.Body.Bytes()
	b.Run("bare", func(b *testing.B) {
		serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			jsonType.set(w.Header())
			w.Write(body)
		}), requests["plain"])
	})
}

func serve(b *testing.B, h http.Handler, r *http.Request) {
	b.ReportAllocs()
	w := &sink{header: make(http.Header)}
	for b.Loop() {
		w.reset()
		h.ServeHTTP(w, r)
	}
}
