package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestReloadOneOfMany repeatedly replaces one file among many while clients request it and the others. Every response
// must be complete, from a single generation, and no older than what was served when the request began; the other
// services must not change. make soak uses 2,000 files and 1,000 reloads.
func TestReloadOneOfMany(t *testing.T) {
	t.Parallel()
	const endpoints = 5
	services, reloads := soak(t, "SIGNPOST_SOAK_SERVICES", 200), soak(t, "SIGNPOST_SOAK_RELOADS", 100)
	dir, changing := t.TempDir(), services/2
	file := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%02d", i%50), fmt.Sprintf("s%d.json", i)) }
	base := func(i int) string { return fmt.Sprintf("/s%d", i) }
	generation := func(i int) string { return service(base(changing), fmt.Sprint(i), endpoints) }
	for i := range services {
		write(t, file(i), service(base(i), fmt.Sprint(-i), endpoints))
	}
	write(t, file(changing), generation(0))
	p := startServe(t, dir)

	var published, requests, unchanged atomic.Int64
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for c := range 4 {
		host, client := fmt.Sprintf("h%d.example.com", c%2), &http.Client{Transport: new(http.Transport)}
		clients.Go(func() {
			defer client.CloseIdleConnections()
			etag, last := "", 0
			for !t.Failed() {
				select {
				case <-stop:
					return
				default:
				}
				service := changing
				if requests.Add(1)%4 == 0 {
					service = rand.IntN(services)
				}
				req, err := http.NewRequest(http.MethodGet, p.url+base(service)+manifestV1, nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.Host = host
				if service == changing && etag != "" {
					req.Header.Set("If-None-Match", etag)
				}
				atLeast := int(published.Load())
				r, err := do(client, req)
				if service == changing && err == nil && r.StatusCode == http.StatusNotModified {
					unchanged.Add(1)
					if last < atLeast {
						t.Errorf("304 for generation %d while %d is served", last, atLeast)
					}
					continue
				}
				got, n, jsonErr := names(r.body)
				if err != nil || r.StatusCode != http.StatusOK || jsonErr != nil || len(got) != 1 || n != endpoints {
					t.Errorf("%s: %v, %v, %v: %q with %d endpoints", req.URL.Path, r.Response, err, jsonErr, got, n)
					return
				}
				var number int
				fmt.Sscan(got[0], &number)
				switch {
				case service != changing && number != -service:
					t.Errorf("%s serves manifest %d", req.URL.Path, number)
				case service == changing && number < max(atLeast, last):
					t.Errorf("generation %d comes after %d", number, max(atLeast, last))
				case service == changing:
					etag, last = r.Header.Get("Etag"), number
				}
			}
		})
	}
	for i := 1; i <= reloads && !t.Failed(); i++ {
		replace(t, file(changing), generation(i))
		p.signal(t, syscall.SIGHUP)
		waitFor(t, "the changed file to be served", func() bool { return p.serves(t, base(changing)+manifestV1, fmt.Sprint(i)) })
		published.Store(int64(i))
	}
	close(stop)
	clients.Wait()
	t.Logf("%d requests over %d reloads, %d of them 304", requests.Load(), reloads, unchanged.Load())
	if unchanged.Load() == 0 {
		t.Error("no response was 304")
	}
	waitFor(t, "the log of the last reload", func() bool { return len(p.logged("published")) >= services+reloads })
	if n := len(p.logged("published")); n != services+reloads {
		t.Errorf("%d definitions were published, want %d: unchanged ones were prepared again", n, services+reloads)
	}
	if lines := p.logged(append(rejected, unreadable...)...); len(lines) > 0 {
		t.Errorf("%d definitions were rejected, the first with %v", len(lines), lines[0])
	}
}
