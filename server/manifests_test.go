package server

import (
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"signpost"
	"signpost/internal/testkit"
)

// checkManifests waits until nothing is in flight and checks that the cache holds what is accounted for, and not more than
// it may.
func checkManifests(t testing.TB, h *Handler) {
	t.Helper()
	m := h.manifests
	testkit.Eventually(t, "nothing in flight", func() bool {
		m.cache.CleanUp()
		return m.used.Load() == int64(m.cache.WeightedSize())
	})
	sum := int64(0)
	for k, rep := range m.cache.All() {
		sum += rep.size
		if users := rep.users.Load(); users != 1 {
			t.Errorf("%s has %d users, not only the cache", k.host, users)
		}
	}
	if _, bytes := h.CacheSize(); bytes != sum || bytes > int64(m.cache.GetMaximum()) {
		t.Errorf("the cache counts %d bytes of %d allowed, and holds %d", bytes, m.cache.GetMaximum(), sum)
	}
	free := m.limit.Load() - sum
	if !m.inFlight.TryAcquire(free) || m.inFlight.TryAcquire(1) {
		t.Errorf("not exactly %d bytes are free", free)
	}
	m.inFlight.Release(free)
}

// hold renders the manifest for a host, as a response that is never written would.
func hold(t testing.TB, h *Handler, host string) *representation {
	t.Helper()
	rep, _, err := h.manifests.get(h.table.Load().routes[manifestPath], host, false)
	testkit.OK(t, err)
	return rep
}

// look is hold, with the response written.
func look(t testing.TB, h *Handler, host string) *representation {
	t.Helper()
	rep := hold(t, h, host)
	h.manifests.release(rep)
	return rep
}

func TestCacheIsBounded(t *testing.T) {
	h := newHandler(t, Options{CacheBytes: 256 << 10}, v1(compile(t, "a")))
	hot, renderings := look(t, h, "hot.example.com"), 1
	for i := range 2000 {
		look(t, h, fmt.Sprintf("h%d.example.com", rand.Uint64()))
		if again := look(t, h, "hot.example.com"); again != hot {
			hot, renderings = again, renderings+1
		}
		if i%500 == 0 {
			checkManifests(t, h)
		}
	}
	checkManifests(t, h)
	if renderings > 100 { // the cache decides by a sketch of frequencies, which takes a while to know
		t.Errorf("hosts that were requested once evicted one that is requested all the time %d times", renderings)
	}
	if entries, bytes := h.CacheSize(); entries < 10 || bytes < 64<<10 {
		t.Errorf("%d entries in %d bytes: the cache has room for more", entries, bytes)
	}
}

func TestRenderedOnce(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	for round := range 20 {
		var got [16]*representation
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() { got[i] = look(t, h, fmt.Sprintf("h%d.example.com", round)) })
		}
		all.Wait()
		for _, rep := range got {
			if rep != got[0] {
				t.Fatal("a manifest was rendered more than once")
			}
		}
	}
	checkManifests(t, h)
}

func TestRenderingFails(t *testing.T) {
	h, events := observed(t, v1(compile(t, "a")))
	h.hosts.public = "not a host" // New would reject it
	a := send(t, listen(t, h), "GET", manifestPath, "Host: feeds.example.com")
	wantStatus(t, a, http.StatusInternalServerError)
	if strings.Contains(string(a.raw), "not a host") {
		t.Errorf("the response reveals the internal error: %q", a.raw)
	}
	if e := <-events; e.Status != a.StatusCode || e.Err == nil || !strings.Contains(e.Err.Error(), "not a host") || e.Version != "v1" {
		t.Errorf("observed: %+v", e)
	}
	checkManifests(t, h)
}

// TestManyAtOnce requests many hosts with hardly any cache while the manifest is replaced repeatedly. Every response
// must come from a single manifest and have its own host.
func TestManyAtOnce(t *testing.T) {
	templates := map[string]*signpost.Template{}
	var services []Service
	for _, name := range []string{"old", "new"} {
		template := compile(t, name)
		templates[template.Revision()] = template
		services = append(services, v1(template))
	}
	for name, bytes := range map[string]int64{"a cache too small for any": 1, "small cache": 16 << 10, "usual cache": 0} {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, Options{CacheBytes: bytes}, services[0])
			get := func() {
				host := fmt.Sprintf("h%d.example.com", rand.IntN(40))
				r, w := newRequest("GET", host, "Accept-Encoding", []string{"identity", "gzip"}[rand.IntN(2)]), httptest.NewRecorder()
				h.ServeHTTP(w, r)
				a := answer{Response: w.Result(), body: w.Body.Bytes()}
				a.Request = r
				template := templates[a.Header.Get("Signpost-Revision")]
				if template == nil {
					t.Errorf("status %d with an unknown revision", a.StatusCode)
					return
				}
				checkAnswer(t, a)
				want, _ := template.Render(host)
				if got := a.plain(t); string(got) != string(want) {
					t.Errorf("manifest for %s is\n%s\nwant\n%s", host, got, want)
				}
			}
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					for i := range 25 {
						get()
						if err := h.Publish(services[i%2]); err != nil {
							t.Error(err)
						}
					}
				})
			}
			clients.Wait()
			checkManifests(t, h)
			if entries, _ := h.CacheSize(); (entries == 0) != (bytes == 1) {
				t.Errorf("%d entries in a cache of %d bytes", entries, bytes)
			}
		})
	}
}

// takeAll takes all room for manifests, as clients do that do not read, and returns a function that frees it.
func takeAll(t testing.TB, h *Handler) func() {
	t.Helper()
	room := h.manifests.limit.Load() - h.manifests.used.Load()
	if !h.manifests.inFlight.TryAcquire(room) {
		t.Fatalf("%d bytes are not free", room)
	}
	return func() { h.manifests.inFlight.Release(room) }
}

// TestInFlightIsBounded checks that requests beyond the limit get 503 after a wait, and that cached manifests and other
// responses are still served.
func TestInFlightIsBounded(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	look(t, h, "known.example.com")
	free := takeAll(t, h)
	h.manifests.wait = time.Nanosecond
	address := listen(t, h)
	a := send(t, address, "GET", manifestPath, "Host: late.example.com")
	wantStatus(t, a, http.StatusServiceUnavailable)
	if !strings.Contains(string(a.body), "Too many requests in progress. Retry in 2 seconds.") || a.Header.Get("Retry-After") != "2" {
		t.Errorf("%s", a.raw)
	}
	wantStatus(t, send(t, address, "GET", manifestPath, "Host: known.example.com"), http.StatusOK)
	wantStatus(t, send(t, address, "DELETE", manifestPath, "Host: late.example.com"), http.StatusMethodNotAllowed)
	free()
	wantStatus(t, send(t, address, "HEAD", manifestPath, "Host: late.example.com"), http.StatusOK)
	checkManifests(t, h)
}

// TestHalfClosedClientsAreServed checks that requests wait for room, and then for their rendering however long it takes, and
// that clients that close their side of the connection meanwhile get their manifest: plain net/http cancels their context,
// which connections of package wire do not.
func TestHalfClosedClientsAreServed(t *testing.T) {
	for wait, obstruct := range map[time.Duration]func(testing.TB, *Handler) func(){time.Hour: takeAll, time.Nanosecond: takeWriters} {
		h := newHandler(t, Options{}, v1(compile(t, "a")))
		h.manifests.wait = wait
		free := obstruct(t, h)
		canceled := make(chan struct{}, 8)
		address := listenPlain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			context.AfterFunc(r.Context(), func() { canceled <- struct{}{} })
			h.ServeHTTP(w, r)
		}))
		answers := make(chan answer, cap(canceled))
		for range cap(canceled) {
			go func() { answers <- ask(t, address, "GET "+manifestPath+"\nHost: feeds.example.com\nConnection: close") }()
		}
		for range cap(canceled) {
			<-canceled
		}
		free()
		for range cap(canceled) {
			if a := <-answers; a.StatusCode != http.StatusOK {
				t.Errorf("%s", a.raw)
			}
		}
	}
}

// takeWriters keeps everything from being rendered, until the function that it returns is called.
func takeWriters(_ testing.TB, h *Handler) func() {
	var writers []*gzip.Writer
	for range cap(h.manifests.writers) {
		writers = append(writers, <-h.manifests.writers)
	}
	return func() {
		for _, writer := range writers {
			h.manifests.writers <- writer
		}
	}
}

// TestEvictedWhileSent checks that a manifest that is being sent while the cache drops it counts until it has been sent,
// and stays what it is.
func TestEvictedWhileSent(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	rep := hold(t, h, "feeds.example.com")
	h.manifests.cache.CleanUp()
	if h.InFlight() != 0 {
		t.Error("a cached manifest also counts as in flight")
	}
	h.manifests.cache.InvalidateAll()
	if h.InFlight() != rep.size || rep.size <= int64(len(rep.full.body)) {
		t.Errorf("%d bytes are in flight, want %d", h.InFlight(), rep.size)
	}
	h.manifests.release(rep)
	if rep.use() {
		t.Error("a manifest that nobody holds can be used")
	}
	checkManifests(t, h)
}

// TestRoomForLargeManifests checks that several copies of the largest manifest fit.
func TestRoomForLargeManifests(t *testing.T) {
	small, big := compile(t, "a"), compile(t, strings.Repeat("a", 5<<18)) // four times in the manifest
	h := newHandler(t, Options{CacheBytes: 500}, v1(small))
	for _, test := range []struct {
		template *signpost.Template
		want     int64
	}{{small, 500 + DefaultInFlightBytes}, {big, 500 + inFlightManifests*int64(big.Size(""))}} {
		testkit.OK(t, h.Publish(v1(test.template)))
		if got := h.manifests.limit.Load(); got != test.want {
			t.Errorf("the limit is %d, want %d", got, test.want)
		}
		checkManifests(t, h)
	}
}
