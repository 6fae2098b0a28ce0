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
		write(t, file(i), service(base(i), fmt.Sprint(-i), endpoints))
	}
	write(t, file(changing), generation(0))
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
			write(t, file(changing), "")
		case 5:
			write(t, file(changing), text[:len(text)*2/3])
		case 4, 6:
			write(t, file(changing), text) // in place, so that a partial file may be read
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
		write(t, path, feeds(generation, 2))
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		swapLink(t, filepath.Join(dir, "..data"), "..."+generation)
	}
	checkOut := func(commit string) {
		t.Helper()
		write(t, filepath.Join(checkouts, ".worktrees", commit, "services", "feeds.json"), feeds(commit, 2))
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
	far := filepath.Join(t.TempDir(), "far.json") // a symbolic link into a directory that is not watched
	swapLink(t, filepath.Join(dir, "far.json"), far)
	write(t, far, service("/far", "one", 2))

	folder, file, synced := startServe(t, dir), startServe(t, filepath.Join(dir, "feeds.json")), startServe(t, filepath.Join(checkouts, "link", "services"))
	for _, generation := range []string{"two", "six", "ten"} {
		mount(generation)
		checkOut(generation)
		for _, p := range []*process{folder, file, synced} {
			waitFor(t, "the new definition", func() bool { return p.serves(t, manifestV1, generation) })
		}
	}
	if lines := synced.logged(append(rejected, unreadable...)...); len(lines) > 0 {
		t.Errorf("the log has %v", lines)
	}
	info, err := os.Stat(far)
	if err != nil {
		t.Fatal(err)
	}
	write(t, far, service("/far", "two", 2))
	if err := os.Chtimes(far, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a change without a file event", func() bool { return folder.serves(t, "/far"+manifestV1, "two") })
}

// TestReloadDirectory adds and removes files, and the directory itself, which is named twice.
func TestReloadDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "services")
	write(t, filepath.Join(dir, "a.json"), service("/a", "a", 2))
	p := startServe(t, dir, dir+"/.")
	status := func(path string, want int) {
		t.Helper()
		waitFor(t, fmt.Sprintf("%d at %s", want, path), func() bool { return p.get(t, path).StatusCode == want })
	}
	status("/a"+manifestV1, 200)
	status("/b"+manifestV1, 404)

	write(t, filepath.Join(dir, "b.json"), service("/b", "b", 2))
	status("/b"+manifestV1, 200)
	os.Remove(filepath.Join(dir, "a.json"))
	status("/a"+manifestV1, 404)
	waitFor(t, "the log", func() bool { return len(p.logged("definition removed: its manifests are no longer served")) == 1 })

	// A file that cannot be read, or is bad, does not keep others from changing.
	write(t, filepath.Join(dir, "b.json"), "{")
	write(t, filepath.Join(dir, "c.json"), service("/c", "c", 2))
	status("/c"+manifestV1, 200)
	status("/b"+manifestV1, 200)
	swapLink(t, filepath.Join(dir, "b.json"), "/proc/self/mem")
	write(t, filepath.Join(dir, "c.json"), service("/c", "c again", 2))
	waitFor(t, "c to change", func() bool { return p.serves(t, "/c"+manifestV1, "c again") })
	waitFor(t, "b in the log", func() bool { return failures(p, "b.json") > 0 })
	status("/b"+manifestV1, 200)
	if p.metric(t, "signpost_last_reload_successful") != 0 {
		t.Error("the metric reports success")
	}

	// The directory is removed, and its definitions stay. It comes back, and changes are noticed again.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the missing directory to be noticed", func() bool { return failures(p, "no such file or directory") > 0 })
	status("/c"+manifestV1, 200)
	for _, name := range []string{"d", "e"} {
		write(t, filepath.Join(dir, name+".json"), service("/"+name, name, 2))
		status("/"+name+manifestV1, 200)
	}
	status("/c"+manifestV1, 404)
	waitFor(t, "everything to work again", func() bool { return p.metric(t, "signpost_last_reload_successful") == 1 })
	if n := len(p.logged("all sources can be read again")); n == 0 {
		t.Error("the log does not say that the directory is back")
	}
}
