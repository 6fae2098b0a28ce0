package daemon_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signpost/internal/source"
)

// definitionSource is an HTTP server with a definition, which a test can make fail.
type definitionSource struct {
	*httptest.Server
	mu                    sync.Mutex
	text                  string
	status                int
	requests, notModified int
	hang                  chan struct{} // if set, responses wait until it is closed
}

func newSource(t *testing.T) *definitionSource {
	s := &definitionSource{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *definitionSource) set(text string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.status = text, status
}

// counts returns the number of requests so far, and how many of them were answered with 304.
func (s *definitionSource) counts() (requests, notModified int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.notModified
}

func (s *definitionSource) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	text, status, hang := s.text, s.status, s.hang
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text)))
	if status == http.StatusOK && r.Header.Get("If-None-Match") == tag {
		s.notModified++
		status = http.StatusNotModified
	}
	s.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("ETag", tag)
	w.WriteHeader(status)
	if status == http.StatusOK {
		io.WriteString(w, text)
	}
}

// failures returns the number of logged source errors that contain a text.
func failures(p *process, about string) (n int) {
	for _, line := range p.logged(unreadable...) {
		if strings.Contains(line["error"].(string), about) {
			n++
		}
	}
	return n
}

// TestRemote follows a definition at an address through changes and outages.
func TestRemote(t *testing.T) {
	t.Parallel()
	remote := newSource(t)
	remote.set(feeds("one", 2), http.StatusOK)
	p := startServe(t, strings.Replace(remote.URL, "http://", "http://user:secret@", 1)+"/feeds.json", "--poll-interval", "20ms")
	served := func(name string) {
		t.Helper()
		waitFor(t, name+" to be served", func() bool { return p.serves(t, manifestV1, name) })
	}
	well := func(want float64) {
		t.Helper()
		waitFor(t, "the metric to change", func() bool { return p.metric(t, "signpost_last_reload_successful") == want })
	}
	served("one")
	waitFor(t, "conditional requests", func() bool { all, notModified := remote.counts(); return notModified >= 3 && all == notModified+1 })
	remote.set(feeds("two", 2), http.StatusOK)
	served("two")

	// An invalid definition or an error changes nothing. Each is logged once.
	remote.set(feeds("three", 2), http.StatusInternalServerError)
	waitFor(t, "the status in the log", func() bool { return failures(p, "the response is 500 Internal Server Error, not 200 OK") == 1 })
	well(0)
	remote.set(feeds("two", 2), http.StatusOK)
	waitFor(t, "the recovery in the log", func() bool { return len(p.logged("all sources can be read again")) == 1 })
	well(1)
	remote.set("<html>", http.StatusOK)
	waitFor(t, "the invalid definition to be rejected", func() bool { return len(p.logged(rejected...)) == 1 })
	well(0)
	remote.set("", http.StatusOK)
	waitFor(t, "the empty definition to be rejected", func() bool { return len(p.logged(rejected...)) == 2 })
	remote.set(feeds("four", 2), http.StatusOK)
	served("four")
	well(1)
	if n := failures(p, ""); n != 1 {
		t.Errorf("%d failures are logged, want 1", n)
	}
	if strings.Contains(p.log.String(), "secret") {
		t.Error("the log contains the password of the URL")
	}
}

// TestRemoteHangs uses a source that accepts requests and does not respond. Everything else continues to work.
func TestRemoteHangs(t *testing.T) {
	t.Parallel()
	remote := newSource(t)
	remote.set(service("/remote", "one", 2), http.StatusOK)
	file := filepath.Join(t.TempDir(), "feeds.json")
	write(t, file, feeds("one", 2))
	p := startServe(t, file, remote.URL, "--poll-interval", "10ms")
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) }) // before the server is closed, which waits for its requests
	remote.mu.Lock()
	remote.hang = hang
	before := remote.requests
	remote.mu.Unlock()
	waitFor(t, "a request that hangs", func() bool { now, _ := remote.counts(); return now > before })
	replace(t, file, feeds("two", 2))
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the file to be loaded", func() bool { return p.serves(t, manifestV1, "two") })
	if !p.serves(t, "/remote"+manifestV1, "one") {
		t.Error("the last good definition is not served")
	}
}

// TestRemoteDowngrade checks that a source does not leave https. Package source tests the other limits of a source.
func TestRemoteDowngrade(t *testing.T) {
	t.Parallel()
	plain := newSource(t)
	plain.set(feeds("one", 2), http.StatusOK)
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	all, err := source.Follow([]string{secure.URL}, source.Options{Transport: secure.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	all[0].(*source.Remote).Fetch(t.Context())
	if documents, _, err := all[0].Read(); err == nil || !strings.Contains(err.Error(), "redirected from https to http") {
		t.Errorf("%v, %v", documents, err)
	}
}

// TestDefinitionCache starts serve while its source is down or bad. Before that, every write to a file fails with "file too
// large", which needs neither a small disk nor privileges: serving continues, and the definition is cached once there is room.
func TestDefinitionCache(t *testing.T) {
	t.Parallel()
	remote, cache := newSource(t), filepath.Join(t.TempDir(), "made", "cache")
	args := serveArgs([]string{remote.URL, "--poll-interval", "20ms", "--definition-cache", cache})
	remote.set(feeds("one", 2), http.StatusOK)
	p := startCommand(t, exec.Command("bash", append([]string{"-c", `ulimit -S -f 0; exec signpost "$@"`, "signpost"}, args...)...))
	waitFor(t, "the full disk in the log", func() bool { return len(p.logged(notCached)) == 1 })
	if message := p.logged(notCached)[0]["error"].(string); !strings.HasSuffix(message, ".definition\": file too large") {
		t.Errorf("the log says %q", message)
	}
	for _, name := range []string{"two", "three"} {
		remote.set(feeds(name, 2), http.StatusOK)
		waitFor(t, "the next definition", func() bool { return p.serves(t, manifestV1, name) })
	}
	if n := len(p.logged(notCached)); n != 1 {
		t.Errorf("the full disk is logged %d times", n)
	}
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the definition to be cached", func() bool { return len(p.logged("definitions are cached again")) == 1 })
	p.kill()

	// The source is down.
	remote.set("", http.StatusServiceUnavailable)
	p = startCommand(t, exec.Command("signpost", args...))
	if !p.serves(t, manifestV1, "three") || mustFetch(t, p.admin+"/readyz").StatusCode != http.StatusOK {
		t.Error("the cached copy is not served")
	}
	if len(p.logged("source is down or bad: using its cached definitions")) != 1 || failures(p, "503") != 1 {
		t.Error("the log does not mention the cached copy")
	}
	remote.set(feeds("four", 2), http.StatusOK)
	waitFor(t, "the source to be used again", func() bool { return p.serves(t, manifestV1, "four") })
	waitFor(t, "the definition to be cached", func() bool {
		files, err := filepath.Glob(filepath.Join(cache, "*.definition"))
		if err != nil || len(files) != 1 {
			t.Fatalf("the cache contains %v, %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		return err == nil && strings.Contains(string(text), "four")
	})
	p.stop(t)

	// The source serves an invalid definition.
	remote.set(`{"versions": 1}`, http.StatusOK)
	p = startCommand(t, exec.Command("signpost", args...))
	if !p.serves(t, manifestV1, "four") {
		t.Error("the cached copy is not served instead of an invalid definition")
	}
	if !strings.Contains(p.log.String(), `"rule":"wrong-type"`) {
		t.Error("the findings of the invalid definition are not logged")
	}
}

// notCached is the log message about a cache that cannot be written.
const notCached = "definitions are not cached for the next start"

// TestLogCannotBeWritten checks that nothing depends on the log: it is on a full disk, in a pipe that nobody reads, or in
// one whose reader has gone.
func TestLogCannotBeWritten(t *testing.T) {
	t.Parallel()
	disk, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	unread, full, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	full.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	if n, err := full.Write(make([]byte, 1<<22)); err == nil {
		t.Fatalf("a pipe holds %d bytes", n)
	}
	gone, broken, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, stderr := range map[string]*os.File{"full disk": disk, "full pipe": full, "broken pipe": broken} {
		t.Run(name, func(t *testing.T) {
			defer stderr.Close()
			path, listen := filepath.Join(t.TempDir(), "feeds.json"), quietAddress(t)
			write(t, path, feeds("one", 2))
			cmd := exec.Command("signpost", "serve", path, "--listen", listen, "--access-log")
			cmd.Stderr, cmd.Dir = stderr, t.TempDir()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			for _, generation := range []string{"one", "two", "three"} {
				replace(t, path, feeds(generation, 2))
				waitFor(t, generation, func() bool {
					r, err := fetch(http.DefaultClient, "http://"+listen+manifestV1, "")
					got, _, _ := names(r.body)
					return err == nil && slices.Equal(got, []string{generation})
				})
			}
			cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil {
				t.Errorf("serve exited with %v", err)
			}
		})
	}
}
