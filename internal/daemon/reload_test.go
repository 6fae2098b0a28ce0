package daemon_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

const manifestV1 = "/v1/endpoints-manifest"

// TestReloadUnderLoad sends requests without a pause while the definition is replaced 40 times, by good and bad ones.
// Every response must be complete and come from a single definition.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	const reloads, endpoints = 40, 20
	path := filepath.Join(t.TempDir(), "feeds.json")
	good := func(i int) string { return feeds(fmt.Sprintf("generation %d", i), endpoints) }
	write(t, path, good(0))
	p := startServe(t, path)

	stop := make(chan struct{})
	var clients sync.WaitGroup
	var mu sync.Mutex
	revisions := make(map[string]string) // of each generation, as first seen
	requests := 0
	check := func(r reply, err error) error {
		if err != nil {
			return err
		}
		got, n, err := names(r.body)
		if r.StatusCode != http.StatusOK || err != nil || len(got) != 1 || n != endpoints {
			return fmt.Errorf("status %d, generations %q, %d endpoints, %v", r.StatusCode, got, n, err)
		}
		mu.Lock()
		defer mu.Unlock()
		requests++
		revision := r.Header.Get("Signpost-Revision")
		if known := revisions[got[0]]; known != "" && known != revision {
			return fmt.Errorf("%s has the revisions %s and %s", got[0], known, revision)
		}
		revisions[got[0]] = revision
		return nil
	}
	for i := range 2 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := check(fetch(http.DefaultClient, p.url+manifestV1, fmt.Sprintf("h%d.example.com", i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	bad := func() int {
		return len(p.logged(append(rejected, unreadable...)...))
	}
	for i := 1; i <= reloads && !t.Failed(); i++ {
		before, text := bad(), good(i)
		switch i % 8 {
		case 1:
			replace(t, path, fmt.Sprintf(`{"versions": %d}`, i)) // broken
		case 3:
			write(t, path, "")
		case 5:
			write(t, path, text[:len(text)*2/3])
		case 7:
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		case 0, 2:
			replace(t, path, text)
		default:
			write(t, path, text) // in place, so that a partial file may be read
		}
		p.signal(t, syscall.SIGHUP)
		if i%2 == 1 {
			waitFor(t, "an invalid definition to be rejected", func() bool { return bad() > before })
		} else {
			waitFor(t, "a good definition to be served", func() bool { return p.serves(t, manifestV1, fmt.Sprintf("generation %d", i)) })
		}
	}
	close(stop)
	clients.Wait()
	if len(revisions) < reloads/2 {
		t.Errorf("%d of %d valid definitions were served", len(revisions), reloads/2)
	}
	if got := p.metric(t, `signpost_reloads_total{result="failure"}`); got < reloads/2 {
		t.Errorf("%v of %d failed reloads are counted", got, reloads/2)
	}
	if p.metric(t, "signpost_last_reload_successful") != 1 {
		t.Error("the last reload does not count as successful")
	}
	t.Logf("%d requests over %d reloads", requests, reloads)
}

// TestReloadLinks swaps the symbolic links of a mounted ConfigMap: the new file has the size and modification time of
// the old one.
func TestReloadLinks(t *testing.T) {
	t.Parallel()
	dir, then := t.TempDir(), time.Now().Add(-time.Hour)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mount := func(generation string) {
		write(t, filepath.Join(dir, "..."+generation, "feeds.json"), feeds(generation, 2))
		must(os.Chtimes(filepath.Join(dir, "..."+generation, "feeds.json"), then, then))
		must(os.Symlink("..."+generation, filepath.Join(dir, "..data_tmp")))
		must(os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	mount("one")
	must(os.Symlink("..data/feeds.json", filepath.Join(dir, "feeds.json")))
	far := filepath.Join(t.TempDir(), "far.json") // a symbolic link into a directory that is not watched
	must(os.Symlink(far, filepath.Join(dir, "far.json")))
	write(t, far, service("/far", "one", 2))

	folder, file := startServe(t, dir), startServe(t, filepath.Join(dir, "feeds.json"))
	for _, generation := range []string{"two", "six", "ten"} {
		mount(generation)
		for _, p := range []*process{folder, file} {
			waitFor(t, "the new definition", func() bool { return p.serves(t, manifestV1, generation) })
		}
	}
	info, err := os.Stat(far)
	must(err)
	write(t, far, service("/far", "two", 2))
	must(os.Chtimes(far, info.ModTime(), info.ModTime()))
	waitFor(t, "a change without a file event", func() bool { return folder.serves(t, "/far"+manifestV1, "two") })
}

// TestReloadGitSync swaps the link that git-sync leaves to the checkout of the current commit, and removes the old one.
func TestReloadGitSync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	checkOut := func(commit string) {
		t.Helper()
		write(t, filepath.Join(dir, ".worktrees", commit, "services", "feeds.json"), feeds(commit, 2))
		link := filepath.Join(dir, "link")
		old, _ := filepath.EvalSymlinks(link)
		if err := errors.Join(os.Symlink(filepath.Join(".worktrees", commit), link+".tmp"), os.Rename(link+".tmp", link)); err != nil {
			t.Fatal(err)
		}
		if old != "" {
			os.RemoveAll(old)
		}
	}
	checkOut("one")
	p := startServe(t, filepath.Join(dir, "link", "services"))
	for _, commit := range []string{"two", "three"} {
		checkOut(commit)
		waitFor(t, "the next commit", func() bool { return p.serves(t, manifestV1, commit) })
	}
	if lines := p.logged(append(rejected, unreadable...)...); len(lines) > 0 {
		t.Errorf("the log has %v", lines)
	}
}

// TestReloadDirectory adds and removes files, and the directory itself.
func TestReloadDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "services")
	write(t, filepath.Join(dir, "a.json"), service("/a", "a", 2))
	p := startServe(t, dir)
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
	unreadable := filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("/proc/self/mem", unreadable), os.Rename(unreadable, filepath.Join(dir, "b.json"))); err != nil {
		t.Fatal(err)
	}
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

// TestManyServices serves many services and changes some of them, one by one.
func TestManyServices(t *testing.T) {
	t.Parallel()
	services, endpoints, changes := 200, 20, 5
	dir := t.TempDir()
	file := func(i int) string { return filepath.Join(dir, fmt.Sprintf("s%d.json", i)) }
	for i := range services {
		write(t, file(i), service(fmt.Sprintf("/s%d", i), "before", endpoints))
	}
	start := time.Now()
	p := startPlain(t, dir)
	t.Logf("%d services with %d endpoints each are served after %v, with %d MB", services, endpoints, time.Since(start), resident(t, p))
	if got := p.logged("serving")[0]["manifests"]; got != float64(services) {
		t.Fatalf("%v manifests are served", got)
	}
	start = time.Now()
	for i := range changes {
		replace(t, file(i), service(fmt.Sprintf("/s%d", i), "after", endpoints))
		p.signal(t, syscall.SIGHUP)
		path := fmt.Sprintf("/s%d", i) + manifestV1
		waitFor(t, "a service to change", func() bool { return p.serves(t, path, "after") })
		if other := fmt.Sprintf("/s%d", i+1) + manifestV1; !p.serves(t, other, "before") {
			t.Errorf("%s has changed, too", other)
		}
	}
	t.Logf("a reload takes %v", time.Since(start)/time.Duration(changes))
	waitFor(t, "the log of the last one", func() bool { return len(p.logged("published")) == services+changes })
}

// TestNamedTwice serves a file that is named by itself and by its directory.
func TestNamedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "feeds.json")
	write(t, path, feeds("one", 2))
	p := startServe(t, dir, path, dir+"/./feeds.json")
	if !p.serves(t, manifestV1, "one") {
		t.Error("the file conflicts with itself")
	}
	replace(t, path, feeds("two", 2))
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the change", func() bool { return p.serves(t, manifestV1, "two") })
}
