package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signpost/internal/testkit"
)

const manifestV1 = "/v1/endpoints-manifest"

// TestReloadOneOfMany repeatedly replaces one file among many, by good and bad definitions, while clients request it and the
// others. Every response must be complete, from a single generation, and no older than what was served when the request
// began; the other services must not change. make soak uses 2,000 files and 1,000 reloads.
func TestReloadOneOfMany(t *testing.T) {
	t.Parallel()
	const endpoints = 5
	services, reloads := 20, 16
	if os.Getenv("SIGNPOST_SOAK_SERVICES") != "" {
		services, reloads = soak(t, "SIGNPOST_SOAK_SERVICES"), soak(t, "SIGNPOST_SOAK_RELOADS")
	}
	dir, changing := t.TempDir(), services/2
	file := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%02d", i%50), fmt.Sprintf("s%d.json", i)) }
	base := func(i int) string { return fmt.Sprintf("/s%d", i) }
	generation := func(i int) string { return service(base(changing), fmt.Sprint(i), endpoints) }
	for i := range services {
		testkit.Write(t, file(i), service(base(i), fmt.Sprint(-i), endpoints))
	}
	testkit.Write(t, file(changing), generation(0))
	p := startServe(t, dir)

	var published, requests, unchanged atomic.Int64
	var clients sync.WaitGroup
	stop := make(chan struct{})
	client := func(host string) error {
		etag, last := "", 0
		for {
			select {
			case <-stop:
				return nil
			default:
			}
			service := changing
			if requests.Add(1)%4 == 0 {
				service = rand.IntN(services)
			}
			req, err := http.NewRequest(http.MethodGet, p.url+base(service)+manifestV1, nil)
			if err != nil {
				return err
			}
			req.Host = host
			if service == changing && etag != "" {
				req.Header.Set("If-None-Match", etag)
			}
			atLeast := int(published.Load())
			r, err := do(http.DefaultClient, req)
			if service == changing && err == nil && r.StatusCode == http.StatusNotModified {
				unchanged.Add(1)
				if last < atLeast {
					return fmt.Errorf("304 for generation %d while %d is served", last, atLeast)
				}
				continue
			}
			got, n, jsonErr := names(r.body)
			if err != nil || r.StatusCode != http.StatusOK || jsonErr != nil || len(got) != 1 || n != endpoints {
				return fmt.Errorf("%s: %v, %v, %v: %q with %d endpoints", req.URL.Path, r.Response, err, jsonErr, got, n)
			}
			number, err := strconv.Atoi(got[0])
			switch {
			case err != nil || service != changing && number != -service:
				return fmt.Errorf("%s serves manifest %d, %v", req.URL.Path, number, err)
			case service == changing && number < max(atLeast, last):
				return fmt.Errorf("generation %d comes after %d", number, max(atLeast, last))
			case service == changing:
				etag, last = r.Header.Get("Etag"), number
			}
		}
	}
	for c := range 4 {
		clients.Go(func() {
			if err := client(fmt.Sprintf("h%d.example.com", c%2)); err != nil {
				t.Error(err)
			}
		})
	}
	good := 0
	for i := 1; i <= reloads && !t.Failed(); i++ {
		bad := func() int { return len(p.logged(append(rejected, unreadable...)...)) }
		before, text := bad(), generation(i)
		switch i % 8 {
		case 1:
			replace(t, file(changing), `{"versions": 1}`)
		case 3:
			testkit.Write(t, file(changing), "")
		case 5:
			testkit.Write(t, file(changing), text[:len(text)*2/3])
		case 4, 6:
			testkit.Write(t, file(changing), text) // in place, so that a partial file may be read
		default:
			replace(t, file(changing), text)
		}
		p.signal(t, syscall.SIGHUP)
		if i%8 == 1 || i%8 == 3 || i%8 == 5 {
			waitFor(t, "a bad definition to be rejected", func() bool { return bad() > before })
			continue
		}
		waitFor(t, "the changed file to be served", func() bool { return p.serves(t, base(changing)+manifestV1, fmt.Sprint(i)) })
		published.Store(int64(i))
		good++
	}
	close(stop)
	clients.Wait()
	t.Logf("soak: %d requests over %d reloads of one of %d services, %d of them 304", requests.Load(), reloads, services, unchanged.Load())
	if unchanged.Load() == 0 {
		t.Error("no response was 304")
	}
	waitFor(t, "the log of the last reload", func() bool { return len(p.logged("published")) >= services+good })
	if n := len(p.logged("published")); n != services+good {
		t.Errorf("%d definitions were published, want %d: unchanged ones were prepared again", n, services+good)
	}
	if p.metric(t, `signpost_reloads_total{result="failure"}`) == 0 || p.metric(t, "signpost_last_reload_successful") != 1 {
		t.Error("the metrics show no failed reload, or no success of the last one")
	}
}

// TestReloadLinks swaps symbolic links: those of a mounted ConfigMap, whose new file has the size and modification time of
// the old one, and that of git-sync to the checkout of the current commit, whose old one is removed.
func TestReloadLinks(t *testing.T) {
	t.Parallel()
	dir, checkouts, then := t.TempDir(), t.TempDir(), time.Now().Add(-time.Hour)
	mount := func(generation string) {
		t.Helper()
		path := filepath.Join(dir, "..."+generation, "feeds.json")
		testkit.Write(t, path, feeds(generation, 2))
		testkit.OK(t, os.Chtimes(path, then, then))
		swapLink(t, filepath.Join(dir, "..data"), "..."+generation)
	}
	checkOut := func(commit string) {
		t.Helper()
		testkit.Write(t, filepath.Join(checkouts, ".worktrees", commit, "services", "feeds.json"), feeds(commit, 2))
		link := filepath.Join(checkouts, "link")
		old, _ := filepath.EvalSymlinks(link)
		swapLink(t, link, filepath.Join(".worktrees", commit))
		if old != "" {
			os.RemoveAll(old)
		}
	}
	mount("one")
	checkOut("one")
	swapLink(t, filepath.Join(dir, "feeds.json"), "..data/feeds.json")
	folder, file, synced := startServe(t, dir), startServe(t, filepath.Join(dir, "feeds.json")), startServe(t, filepath.Join(checkouts, "link", "services"))
	for _, generation := range []string{"two", "six"} {
		mount(generation)
		checkOut(generation)
		for _, p := range []*process{folder, file, synced} {
			waitFor(t, "the new definition", func() bool { return p.serves(t, manifestV1, generation) })
		}
	}
	if lines := synced.logged(append(rejected, unreadable...)...); len(lines) > 0 {
		t.Errorf("the log has %v", lines)
	}
}
