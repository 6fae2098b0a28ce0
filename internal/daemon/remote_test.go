package daemon_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signpost/internal/testkit"
)

// definitionSource is an HTTP server with a definition, which a test can make fail.
type definitionSource struct {
	*httptest.Server
	mu     sync.Mutex
	text   string
	status int
}

func newSource(t *testing.T, text string, status int) *definitionSource {
	s := &definitionSource{text: text, status: status}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.WriteHeader(s.status)
		io.WriteString(w, s.text)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *definitionSource) set(text string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text, s.status = text, status
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

// TestRemote follows a definition at an address through changes and outages, and /readyz from start to shutdown.
func TestRemote(t *testing.T) {
	t.Parallel()
	remote := newSource(t, "", http.StatusServiceUnavailable)
	p := startServe(t, strings.Replace(remote.URL, "http://", "http://user:secret@", 1)+"/feeds.json", "--poll-interval", "20ms", "--shutdown-delay", "1h")
	is := func(path string, status int) bool { return mustFetch(t, p.admin+path).StatusCode == status }
	well := func(want float64) {
		t.Helper()
		waitFor(t, "the metric to change", func() bool { return p.metric(t, "signpost_last_reload_successful") == want })
	}
	if r := p.get(t, manifestV1); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("without a definition the response is %v, %v", r.Status, r.Header)
	}
	if !is("/healthz", 200) || !is("/readyz", 503) {
		t.Error("without a definition it is not healthy, or is ready")
	}
	waitFor(t, "the first response in the log", func() bool { return failures(p, "503") == 1 })
	remote.set("{}", http.StatusOK)
	waitFor(t, "an invalid definition to be rejected", func() bool { return len(p.logged(rejected...)) == 1 })
	if !is("/readyz", 503) {
		t.Error("it is ready with a bad definition")
	}
	remote.set(feeds("one", 2), http.StatusOK)
	waitFor(t, "the server to become ready", func() bool { return is("/readyz", 200) })
	if !p.serves(t, manifestV1, "one") {
		t.Error("it is ready without a manifest")
	}

	// An invalid definition or an error changes nothing. Each is logged once.
	remote.set(feeds("three", 2), http.StatusInternalServerError)
	waitFor(t, "the status in the log", func() bool { return failures(p, "the response is 500 Internal Server Error, not 200 OK") == 1 })
	well(0)
	remote.set(feeds("one", 2), http.StatusOK)
	waitFor(t, "the recovery in the log", func() bool { return len(p.logged("all sources can be read again")) == 2 })
	well(1)
	for i, bad := range []string{"<html>", ""} {
		remote.set(bad, http.StatusOK)
		waitFor(t, "the definition to be rejected", func() bool { return len(p.logged(rejected...)) == 2+i })
		well(0)
	}
	remote.set(feeds("four", 2), http.StatusOK)
	waitFor(t, "another definition to be served", func() bool { return p.serves(t, manifestV1, "four") })
	well(1)
	if n := failures(p, ""); n != 2 {
		t.Errorf("%d failures are logged, want 2", n)
	}
	if strings.Contains(p.log.String(), "secret") {
		t.Error("the log contains the password of the URL")
	}

	// During the shutdown delay, it serves but is not ready.
	p.signal(t, syscall.SIGTERM)
	waitFor(t, "the shutdown", func() bool { return len(p.logged("shutting down")) > 0 })
	if !is("/readyz", 503) || !is("/healthz", 200) || !p.serves(t, manifestV1, "four") {
		t.Error("while it shuts down, it is ready, is not healthy, or does not serve")
	}
	if !p.get(t, manifestV1).Close {
		t.Error("while it shuts down, responses do not tell clients to connect elsewhere")
	}
	p.kill()
}

// TestRemoteHangs uses a source that accepts requests and does not respond. Everything else continues to work.
func TestRemoteHangs(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64 // all but the first hang
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) > 1 {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, service("/remote", "one", 2))
	}))
	t.Cleanup(remote.Close)
	file := filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, file, feeds("one", 2))
	p := startServe(t, file, remote.URL, "--poll-interval", "10ms")
	waitFor(t, "a request that hangs", func() bool { return requests.Load() > 1 })
	replace(t, file, feeds("two", 2))
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the file to be loaded", func() bool { return p.serves(t, manifestV1, "two") })
	if !p.serves(t, "/remote"+manifestV1, "one") {
		t.Error("the last good definition is not served")
	}
}

// TestDefinitionCache starts serve while its source is down or bad. Before that, every write to a file fails with "file too
// large", which needs neither a small disk nor privileges: serving continues, and the definition is cached once there is room.
func TestDefinitionCache(t *testing.T) {
	t.Parallel()
	remote, cache := newSource(t, feeds("one", 2), http.StatusOK), filepath.Join(t.TempDir(), "made", "cache")
	args := serveArgs([]string{remote.URL, "--poll-interval", "20ms", "--definition-cache", cache})
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
	liftFileLimit(t, p.cmd.Process.Pid)
	waitFor(t, "the definition to be cached", func() bool { return len(p.logged("definitions are cached again")) == 1 })
	p.kill()

	// The source is down.
	remote.set("", http.StatusServiceUnavailable)
	p = startCommand(t, exec.Command("signpost", args...))
	if !p.serves(t, manifestV1, "three") || mustFetch(t, p.admin+"/readyz").StatusCode != http.StatusOK {
		t.Error("the cached copy is not served")
	}
	waitFor(t, "the cached copy in the log", func() bool {
		return len(p.logged("source is down or bad: using its cached definitions")) == 1 && failures(p, "503") == 1
	})
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
	waitFor(t, "the findings of the invalid definition in the log", func() bool {
		return strings.Contains(p.log.String(), `"rule":"wrong-type"`)
	})
}

// notCached is the log message about a cache that cannot be written.
const notCached = "definitions are not cached for the next start"

// fullPipe returns the end to write to of a pipe that is full, because nobody reads it.
func fullPipe(t *testing.T) *os.File {
	unread, full, err := os.Pipe()
	testkit.OK(t, err)
	t.Cleanup(func() { unread.Close() })
	for n := 0; n == 0; { // unless the deadline is over before it begins to write
		full.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		n, err = full.Write(make([]byte, 1<<22))
	}
	if err == nil {
		t.Fatal("a pipe has no limit")
	}
	return full
}

// TestLogCannotBeWritten checks that nothing depends on the log: it is on a full disk, in a pipe that nobody reads, or in
// one whose reader has gone.
func TestLogCannotBeWritten(t *testing.T) {
	t.Parallel()
	disk, noDisk := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	full := fullPipe(t)
	gone, broken, err := os.Pipe()
	testkit.OK(t, err)
	gone.Close()
	for name, stderr := range map[string]*os.File{"full disk": disk, "full pipe": full, "broken pipe": broken} {
		t.Run(name, func(t *testing.T) {
			if stderr == disk && noDisk != nil {
				testkit.Missing(t, "/dev/full of Linux", "a log on a full disk")
			}
			defer stderr.Close()
			path, listen := filepath.Join(t.TempDir(), "feeds.json"), testkit.FreeAddress(t)
			testkit.Write(t, path, feeds("one", 2))
			cmd := exec.Command("signpost", "serve", path, "--listen", listen, "--access-log")
			cmd.Stderr, cmd.Dir = stderr, t.TempDir()
			testkit.OK(t, cmd.Start())
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
