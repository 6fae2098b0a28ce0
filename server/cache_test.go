package server

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"signpost"
)

// checkCache compares the cache's counters with its contents.
func checkCache(t testing.TB, c *cache) {
	t.Helper()
	waitFor(t, "nothing in flight", func() bool { return c.room.inUse() == 0 })
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := int64(0)
	for e := c.queue.Front(); e != nil; e = e.Next() {
		sum += e.Value.(*entry).size
	}
	if c.bytes != sum || c.bytes > c.limit || len(c.entries) != c.queue.Len() {
		t.Fatalf("cache counts %d bytes of %d allowed; it holds %d in %d entries, %d of them in the queue",
			c.bytes, c.limit, sum, len(c.entries), c.queue.Len())
	}
}

// waitFor waits until a condition holds.
func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// look uses the cache like a request: get, and release after the response was written.
func look(t testing.TB, c *cache, k key) *representation {
	t.Helper()
	e, _, err := c.get(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	defer c.release(e)
	return e.rep
}

func TestCacheIsBounded(t *testing.T) {
	const limit = 1 << 20
	h := newHandler(t, Options{CacheBytes: limit}, v1(compile(t, "a")))
	c := h.cache
	route := h.table.Load().routes[manifestPath]
	hot := key{route, "hot.example.com", false}
	before := look(t, c, hot)
	heap := heapInUse()
	for i := range 10_000 {
		// The host is a substring of something larger, as it is in a request.
		host := fmt.Sprintf("h%d.example.com%s", rand.Uint64(), strings.Repeat(" ", 16<<10))
		look(t, c, key{route, strings.TrimRight(host, " "), i%20 == 0})
		if i%100 == 0 {
			checkCache(t, c)
			look(t, c, hot)
		}
	}
	checkCache(t, c)
	if len(c.entries) < 100 || c.bytes < limit/2 {
		t.Errorf("%d entries in %d bytes: the cache has room for more", len(c.entries), c.bytes)
	}
	if look(t, c, hot) != before {
		t.Error("hosts that were requested once evicted one that is requested repeatedly")
	}
	// There is one compressor per core in addition to the limit.
	if grown, most := heapInUse()-heap, int64(limit+runtime.GOMAXPROCS(0)<<20); grown > most {
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, most)
	}
	runtime.KeepAlive(h)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the second run frees what the first one finalized
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestCacheEvictsUnusedHosts(t *testing.T) {
	h := newHandler(t, Options{CacheBytes: 64 << 10}, v1(compile(t, "a")))
	c := h.cache
	now := time.Now()
	c.now = func() time.Time { return now }
	k := key{h.table.Load().routes[manifestPath], "once-hot.example.com", false}
	others := func() {
		for i := range 1000 {
			look(t, c, key{k.route, fmt.Sprintf("h%d.example.com", i), false})
		}
	}
	look(t, c, k)
	look(t, c, k)
	others()
	if c.entries[k] == nil {
		t.Error("hosts that were requested once evicted one that was requested again")
	}
	now = now.Add(2 * recently)
	others()
	if c.entries[k] != nil {
		t.Error("a host that was requested twice is never evicted")
	}
	// If all entries were requested again, a new one is cached if it is requested again, too.
	for i := range 1000 {
		again := key{k.route, fmt.Sprintf("again%d.example.com", i), false}
		look(t, c, again)
		look(t, c, again)
	}
	checkCache(t, c)
	look(t, c, k)
	if c.entries[k] != nil {
		t.Error("a host that was requested once evicted others")
	}
	look(t, c, k)
	if c.entries[k] == nil {
		t.Error("a host that was requested twice is not cached")
	}
	checkCache(t, c)
}

func TestBodyLargerThanCache(t *testing.T) {
	template := compile(t, "a")
	h := newHandler(t, Options{CacheBytes: 1}, v1(template))
	address := listen(t, h)
	for range 2 {
		wantManifest(t, send(t, address, "GET", manifestPath, "Host: feeds.example.com"), template, "feeds.example.com")
	}
	c := h.cache
	checkCache(t, c)
	if len(c.entries) != 0 {
		t.Errorf("%d entries in a cache that is too small for any", len(c.entries))
	}
}

func TestRenderedOnce(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	c, route := h.cache, h.table.Load().routes[manifestPath]
	both := key{route, "both.example.com", false} // missed by two at the same time
	first, makes := c.add(both)
	second, makesToo := c.add(both)
	if first != second || !makes || makesToo {
		t.Error("two concurrent misses do not share the entry")
	}
	for round := range 50 {
		k := key{route, fmt.Sprintf("h%d.example.com", round), round%2 == 0}
		var got [16]*representation
		var all sync.WaitGroup
		start := make(chan struct{})
		for i := range got {
			all.Go(func() {
				<-start
				got[i] = look(t, c, k)
			})
		}
		close(start)
		all.Wait()
		for _, rep := range got {
			if rep == nil || rep != got[0] {
				t.Fatalf("%s was rendered more than once", k.host)
			}
		}
	}
}

func TestRenderingFails(t *testing.T) {
	h := newHandler(t, Options{}, v1(compile(t, "a")))
	h.hosts.public = "not a host" // New would reject it
	a := send(t, listen(t, h), "GET", manifestPath, "Host: feeds.example.com")
	wantStatus(t, a, http.StatusInternalServerError)
	if strings.Contains(string(a.raw), "not a host") {
		t.Errorf("the response reveals the internal error: %q", a.raw)
	}
	checkCache(t, h.cache)
}

// fetch requests a manifest over a keep-alive connection.
func fetch(t *testing.T, client *http.Client, address, host string, gzip bool) answer {
	r, err := http.NewRequest("GET", "http://"+address+manifestPath, nil)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	r.Host = host
	if gzip {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	response, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{Response: response, body: body}
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
	for name, bytes := range map[string]int64{"small cache": 16 << 10, "usual cache": 0} {
		t.Run(name, func(t *testing.T) {
			h := newHandler(t, Options{CacheBytes: bytes}, services[0])
			address := listen(t, h)
			client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}}
			defer client.CloseIdleConnections()

			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 100 {
						host := fmt.Sprintf("h%d.example.com", rand.IntN(40))
						a := fetch(t, client, address, host, rand.IntN(2) == 0)
						if a.Response == nil {
							return
						}
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
				})
			}
			done := make(chan struct{})
			go func() { all.Wait(); close(done) }()
			for i := 1; ; i++ {
				if err := h.Publish(services[i%2]); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					checkCache(t, h.cache)
					return
				default:
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
}
