package daemon_test

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
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

	"signpost/internal/testkit"
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
	source := newSource(t)
	source.set(feeds("one", 2), http.StatusOK)
	p := startServe(t, strings.Replace(source.URL, "http://", "http://user:secret@", 1)+"/feeds.json", "--poll-interval", "20ms")
	served := func(name string) {
		t.Helper()
		waitFor(t, name+" to be served", func() bool { return p.serves(t, manifestV1, name) })
	}
	well := func(want float64) {
		t.Helper()
		waitFor(t, "the metric to change", func() bool { return p.metric(t, "signpost_last_reload_successful") == want })
	}
	served("one")
	waitFor(t, "conditional requests", func() bool {
		source.mu.Lock()
		defer source.mu.Unlock()
		return source.notModified >= 3 && source.requests == source.notModified+1
	})
	source.set(feeds("two", 2), http.StatusOK)
	served("two")

	// An invalid definition, an error or an unreachable server changes nothing. Each is logged once.
	source.set(feeds("three", 2), http.StatusInternalServerError)
	waitFor(t, "the status in the log", func() bool { return failures(p, "the response is 500 Internal Server Error, not 200 OK") == 1 })
	well(0)
	source.set(feeds("two", 2), http.StatusOK)
	waitFor(t, "the recovery in the log", func() bool { return len(p.logged("all sources can be read again")) == 1 })
	well(1)
	source.set("<html>", http.StatusOK)
	waitFor(t, "the invalid definition to be rejected", func() bool { return len(p.logged(rejected...)) == 1 })
	well(0)
	source.set("", http.StatusOK)
	waitFor(t, "the empty definition to be rejected", func() bool { return len(p.logged(rejected...)) == 2 })
	address := source.Listener.Addr().String()
	source.Close()
	waitFor(t, "the outage in the log", func() bool { return failures(p, "nothing listens at "+address) == 1 })
	served("two")

	// The source recovers.
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	source.set(feeds("four", 2), http.StatusOK)
	go http.Serve(listener, http.HandlerFunc(source.serve))
	defer listener.Close()
	served("four")
	well(1)
	if n := failures(p, ""); n != 2 {
		t.Errorf("%d failures are logged, want 2", n)
	}
	if strings.Contains(p.log.String(), "secret") {
		t.Error("the log contains the password of the URL")
	}
}

// TestRemoteHangs uses a source that accepts requests and does not respond. Everything else continues to work.
func TestRemoteHangs(t *testing.T) {
	t.Parallel()
	source := newSource(t)
	source.set(service("/remote", "one", 2), http.StatusOK)
	file := filepath.Join(t.TempDir(), "feeds.json")
	write(t, file, feeds("one", 2))
	p := startServe(t, file, source.URL, "--poll-interval", "10ms")
	source.mu.Lock()
	source.hang = make(chan struct{})
	before := source.requests
	source.mu.Unlock()
	t.Cleanup(func() { close(source.hang) }) // before the server is closed, which waits for its requests
	waitFor(t, "a request that hangs", func() bool {
		source.mu.Lock()
		defer source.mu.Unlock()
		return source.requests > before
	})
	replace(t, file, feeds("two", 2))
	p.signal(t, syscall.SIGHUP)
	waitFor(t, "the file to be loaded", func() bool { return p.serves(t, manifestV1, "two") })
	if n := failures(p, ""); n > 0 {
		t.Error("the request to the source timed out too early for this test")
	}
	if !p.serves(t, "/remote"+manifestV1, "one") {
		t.Error("the last good definition is not served")
	}
}

// TestRemoteBounds uses sources that send too much, or redirect.
func TestRemoteBounds(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue(t, 5, "localhost")
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	plain := newSource(t)
	plain.set(service("/moved", "moved", 2), http.StatusOK)
	mux := http.NewServeMux()
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/downgrade", http.RedirectHandler(plain.URL, http.StatusFound))
	secure := httptest.NewUnstartedServer(mux)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	moving := httptest.NewServer(http.RedirectHandler(plain.URL+"/feeds.json", http.StatusFound))
	t.Cleanup(moving.Close)

	base := strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)
	root := filepath.Join(t.TempDir(), "root.pem")
	write(t, root, ca.pem)
	cmd := exec.Command(testkit.Program(t, "signpost"), serveArgs([]string{base + "/loop", base + "/downgrade", moving.URL, endless.URL})...)
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+root)
	p := startCommand(t, cmd)
	if !p.serves(t, "/moved"+manifestV1, "moved") {
		t.Error("a redirect to another port of the host is not followed")
	}
	if failures(p, "more than 5 redirects") != 1 || failures(p, "redirected from https to http") != 1 {
		t.Error("a redirect loop, or a redirect to plain http, is not rejected")
	}
	if failures(p, "larger than 64 MiB") != 1 {
		t.Error("an endless definition is not rejected")
	}
	const most = 256 // MB
	if n := mostResident(t, p); n > most {
		t.Errorf("an endless definition takes %d MB, more than %d MB", n, most)
	}
}

// TestDefinitionCache starts serve while the source is down.
func TestDefinitionCache(t *testing.T) {
	t.Parallel()
	source, cache := newSource(t), filepath.Join(t.TempDir(), "made", "cache")
	source.set(service("/remote", "one", 2), http.StatusOK)
	args := []string{source.URL, "--poll-interval", "20ms", "--definition-cache", cache}
	startServe(t, args...).stop(t)

	// The source is down.
	source.set("", http.StatusServiceUnavailable)
	p := startServe(t, args...)
	if !p.serves(t, "/remote"+manifestV1, "one") || mustFetch(t, p.admin+"/readyz").StatusCode != http.StatusOK {
		t.Error("the cached copy is not served")
	}
	if len(p.logged("source is down or bad: using its cached definitions")) != 1 || failures(p, "503") != 1 {
		t.Error("the log does not mention the cached copy")
	}
	source.set(service("/remote", "two", 2), http.StatusOK)
	waitFor(t, "the source to be used again", func() bool { return p.serves(t, "/remote"+manifestV1, "two") })
	waitFor(t, "the definition to be cached", func() bool {
		files, err := filepath.Glob(filepath.Join(cache, "*.definition"))
		if err != nil || len(files) != 1 {
			t.Fatalf("the cache contains %v, %v", files, err)
		}
		text, err := os.ReadFile(files[0])
		return err == nil && string(text) == service("/remote", "two", 2)
	})
	p.stop(t)

	// The source serves an invalid definition.
	source.set(`{"versions": 1}`, http.StatusOK)
	p = startServe(t, args...)
	if !p.serves(t, "/remote"+manifestV1, "two") {
		t.Error("the cached copy is not served instead of an invalid definition")
	}
	if !strings.Contains(p.log.String(), `"rule":"wrong-type"`) {
		t.Error("the findings of the invalid definition are not logged")
	}
}

// TestCacheDiskFull makes every write to a file fail with "file too large", which needs neither a small disk nor
// privileges. Serving continues, and the definition is cached once there is room again.
func TestCacheDiskFull(t *testing.T) {
	t.Parallel()
	source, cache := newSource(t), t.TempDir()
	args := serveArgs([]string{source.URL, "--poll-interval", "20ms", "--definition-cache", cache})
	source.set(feeds("one", 2), http.StatusOK)
	p := startCommand(t, exec.Command("bash", append([]string{"-c", `ulimit -S -f 0; exec signpost "$@"`, "signpost"}, args...)...))
	waitFor(t, "the full disk in the log", func() bool { return len(p.logged(notCached)) == 1 })
	if message := p.logged(notCached)[0]["error"].(string); !strings.HasSuffix(message, ".definition\": file too large") {
		t.Errorf("the log says %q", message)
	}
	for _, name := range []string{"two", "three"} {
		source.set(feeds(name, 2), http.StatusOK)
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
	source.set("", http.StatusServiceUnavailable)
	if !startCommand(t, exec.Command("signpost", args...)).serves(t, manifestV1, "three") {
		t.Error("after a restart without its source, the server does not serve the last definition")
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
