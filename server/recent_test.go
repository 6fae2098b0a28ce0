package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// TestRecentEntry checks that the entry that was last requested is found without a lookup until it is evicted.
func TestRecentEntry(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	c, route := h.cache, h.table.Load().routes[manifestPath]
	const host = "feeds.example.com"
	for _, gzip := range []bool{false, true} {
		k := key{route, host, gzip}
		look(t, c, k)
		if c.recent(route, host, gzip) != nil {
			t.Error("an entry that was requested once is recent")
		}
		rep := look(t, c, k)
		e := c.recent(route, host, gzip)
		if e == nil || e.rep != rep {
			t.Fatalf("gzip %v: the entry is not recent", gzip)
		}
		c.release(e)
		if c.recent(route, "other.example.com", gzip) != nil {
			t.Error("the entry is returned for another host")
		}
	}
	plain := route.recent.plain.Load()
	if err := h.Publish(v1(compile(t, "b"))); err != nil {
		t.Fatal(err)
	}
	if c.recent(route, host, false) != nil || c.recent(route, host, true) != nil || plain.use() {
		t.Error("an evicted entry is still recent")
	}
	checkCache(t, c)
}

// TestRecentHostIsChecked checks that only the host of the request itself can take the fast path.
func TestRecentHostIsChecked(t *testing.T) {
	request := func(host string) *http.Request {
		r := httptest.NewRequest("GET", manifestPath, nil)
		r.Host = host
		return r
	}
	status := func(h *Handler, r *http.Request) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	const host = "feeds.example.com"
	h := newHandler(t, Options{AllowedHosts: []string{host}}, v1(compile(t, "a")))
	for range 3 {
		if got := status(h, request(host)); got != http.StatusOK {
			t.Fatalf("status %d", got)
		}
	}
	if got := status(h, request("other.example.com")); got != http.StatusMisdirectedRequest {
		t.Errorf("another host: status %d", got)
	}
	withUser := request(host)
	withUser.URL.User = url.User("somebody")
	if got := status(h, withUser); got != http.StatusBadRequest {
		t.Errorf("user info: status %d", got)
	}
	proxied := newHandler(t, Options{TrustedProxies: loopback}, v1(compile(t, "a")))
	for range 3 {
		status(proxied, request(host))
	}
	r := request(host)
	r.RemoteAddr = "127.0.0.1:1234"
	r.Header.Set("X-Forwarded-Host", "public.example.com")
	w := httptest.NewRecorder()
	proxied.ServeHTTP(w, r)
	direct := httptest.NewRecorder()
	proxied.ServeHTTP(direct, request(host))
	if w.Header().Get("Etag") == direct.Header().Get("Etag") {
		t.Error("a forwarded host got the manifest of the host of the request")
	}
}

// TestRecentEntryUnderEviction requests many hosts concurrently with a cache that holds few.
func TestRecentEntryUnderEviction(t *testing.T) {
	h := newHandler(t, Options{CacheBytes: 16 << 10}, v1(compile(t, "a")))
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range 500 {
				host := fmt.Sprintf("h%d.example.com", (i+j/10)%12)
				r := httptest.NewRequest("GET", manifestPath, nil)
				r.Host = host
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					t.Errorf("%s: status %d", host, w.Code)
				}
			}
		})
	}
	clients.Wait()
	checkCache(t, h.cache)
}
