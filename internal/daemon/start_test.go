package daemon_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"signpost/internal/testkit"
)

// overlapping returns a service with one endpoint, which requires a key or not.
func overlapping(base, url string, required bool) string {
	return fmt.Sprintf(`{"base_path": %q, "versions": {"v1": {"endpoints": {"https://{{host}}/v1%s": {"name": "A", "method": "get",`+
		` "mime_type": "application/json", "context_obj": [{"key": "token", "type": "ctx", "required": %v}]}}}}}`, base, url, required)
}

// TestReloadJudgesTogether edits a file so that it takes feeds of another one: the log says so once, as at a start, and again
// when it is over. It is not over while a bad definition leaves the last good one in place.
func TestReloadJudgesTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	testkit.Write(t, a, overlapping("/a", "/a", true))
	testkit.Write(t, b, overlapping("/b", "/b", true))
	p := startServe(t, dir)
	warnings := func() float64 { return p.metric(t, `signpost_definition_findings{severity="warning"}`) }
	overlaps := func() (n int) {
		for _, line := range p.logged("finding is gone") {
			if line["rule"] == "overlap-drops-context" {
				n++
			}
		}
		return n
	}
	if n := warnings(); n != 0 {
		t.Fatalf("%v warnings at the start", n)
	}
	replace(t, b, strings.Replace(overlapping("/b", "/a/b", true), "token", "other", 1))
	waitFor(t, "the overlap in the log", func() bool { return strings.Contains(p.log.String(), `"rule":"overlap-drops-context"`) })
	waitFor(t, "the overlap in the metrics", func() bool { return warnings() == 1 })
	replace(t, b, "{")
	waitFor(t, "the bad definition to be rejected", func() bool { return len(p.logged(rejected...)) == 1 })
	replace(t, b, strings.Replace(overlapping("/b", "/a/b", true), "token", "another", 1))
	waitFor(t, "the next definition", func() bool { return strings.Contains(p.get(t, "/b"+manifestV1).body, "another") })
	replace(t, b, overlapping("/b", "/a/b", true))
	waitFor(t, "the end of the overlap", func() bool { return overlaps() > 0 && warnings() == 0 })
	if n := strings.Count(p.log.String(), `"rule":"overlap-drops-context"`); n != 2 {
		t.Errorf("the overlap is in %d lines of the log, want its begin and its end", n)
	}
}

// TestPublicHostJudgesTogether starts two services that declare different hosts: their URLs meet on the public host.
func TestPublicHostJudgesTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(name, text string) string { return strings.Replace(text, "{", `{"hosts": ["`+name+`"], `, 1) }
	testkit.Write(t, filepath.Join(dir, "a.json"), on("a.example", overlapping("/a", "/a", true)))
	testkit.Write(t, filepath.Join(dir, "b.json"),
		on("b.example", strings.Replace(overlapping("/b", "/a/b", true), "token", "other", 1)))
	p := startServe(t, dir, "--public-host", "c.example")
	waitFor(t, "the overlap in the log", func() bool { return strings.Contains(p.log.String(), `"rule":"overlap-drops-context"`) })
}

// TestStartWithBadDefinition starts with one bad definition among several: the others are served, and /readyz names it.
func TestStartWithBadDefinition(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Write(t, filepath.Join(dir, "good.json"), service("/good", "one", 2))
	testkit.Write(t, filepath.Join(dir, "typo.json"), `{"base_path": "/typo", "version": {}}`)
	p := startServe(t, dir)
	if !p.serves(t, "/good"+manifestV1, "one") || p.metric(t, "signpost_last_reload_successful") != 0 || len(p.logged(rejected...)) != 1 {
		t.Error("the good definition is not served, or the bad one is in neither metric nor log")
	}
	if r := mustFetch(t, p.admin+"/readyz"); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "typo.json") {
		t.Errorf("/readyz: %d %s", r.StatusCode, r.body)
	}
	replace(t, filepath.Join(dir, "typo.json"), service("/typo", "one", 2))
	waitFor(t, "the repaired definition", func() bool { return p.serves(t, "/typo"+manifestV1, "one") })
	if r := mustFetch(t, p.admin+"/readyz"); strings.Contains(r.body, "typo.json") {
		t.Errorf("/readyz: %s", r.body)
	}
}

// TestStartWithHangingSource starts while a source accepts requests and does not respond: its port opens, what files have is
// served, and so is what the cache has, until the source responds.
func TestStartWithHangingSource(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	resume := make(chan struct{})
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			select {
			case <-resume:
			case <-r.Context().Done():
			}
			io.WriteString(w, service("/remote", "two", 2))
			return
		}
		io.WriteString(w, service("/remote", "one", 2))
	}))
	t.Cleanup(remote.Close)
	file, cache := filepath.Join(t.TempDir(), "feeds.json"), t.TempDir()
	testkit.Write(t, file, feeds("one", 2))
	args := []string{file, remote.URL, "--definition-cache", cache, "--poll-interval", "1h"}
	p := startServe(t, args...)
	waitFor(t, "the cache", func() bool { kept, _ := filepath.Glob(filepath.Join(cache, "*.definition")); return len(kept) == 1 })
	p.stop(t)

	hangs.Store(true)
	alone := startServe(t, remote.URL, "--poll-interval", "1h")
	if r := alone.get(t, manifestV1); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a definition the response is %v", r.Status)
	}
	p = startServe(t, args...)
	if !p.serves(t, manifestV1, "one") || !p.serves(t, "/remote"+manifestV1, "one") {
		t.Error("the file or the cached definition is not served")
	}
	beside := startServe(t, file, remote.URL, "--poll-interval", "1h")
	for _, p := range []*process{p, beside} {
		isReady := !strings.Contains(mustFetch(t, p.admin+"/readyz").body, remote.URL)
		lines := p.logged("source has not answered yet: nothing is served from it", "source is down or bad: using its cached definitions")
		if isReady || p.metric(t, "signpost_last_reload_successful") != 0 || len(lines) != 1 {
			t.Error("the source that hangs is not in /readyz, the metric or the log")
		}
	}
	close(resume)
	for _, p := range []*process{p, alone, beside} {
		waitFor(t, "the response of the source", func() bool { return p.serves(t, "/remote"+manifestV1, "two") })
		waitFor(t, "the metric", func() bool { return p.metric(t, "signpost_last_reload_successful") == 1 })
	}
	if lines := p.logged("reloaded on demand"); len(lines) > 0 {
		t.Error("the start logs a reload on demand")
	}
}

// TestStartWithHangingInput starts while nobody has typed a definition yet: its port opens, what files have is served, and
// what is typed later, too.
func TestStartWithHangingInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, file, feeds("one", 2))
	cmd := exec.Command("signpost", serveArgs([]string{"-", file})...)
	typed := testkit.Must(cmd.StdinPipe())(t)
	p := startCommand(t, cmd)
	if !p.serves(t, manifestV1, "one") {
		t.Error("the file is not served")
	}
	io.WriteString(typed, service("/typed", "two", 2))
	typed.Close()
	waitFor(t, "what was typed", func() bool { return p.serves(t, "/typed"+manifestV1, "two") })
}

// TestEmptyCache starts from a cache without definitions, which is none.
func TestEmptyCache(t *testing.T) {
	t.Parallel()
	remote, cache := newSource(t, feeds("one", 2), http.StatusOK), t.TempDir()
	args := []string{remote.URL, "--definition-cache", cache, "--poll-interval", "20ms"}
	p := startServe(t, args...)
	var kept []string
	waitFor(t, "the cache", func() bool { kept, _ = filepath.Glob(filepath.Join(cache, "*.definition")); return len(kept) == 1 })
	p.stop(t)
	testkit.Write(t, kept[0], "[]")
	remote.set("", http.StatusServiceUnavailable)
	p = startServe(t, args...)
	if r := p.get(t, manifestV1); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the response is %v", r.Status)
	}
}

// TestNobodyReads starts with pipes that are full: the port opens nevertheless, and signals work.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	path, listen := filepath.Join(t.TempDir(), "feeds.json"), testkit.FreeAddress(t)
	testkit.Write(t, path, strings.ReplaceAll(feeds("one", 2), "https://", "http://")) // with warnings
	full := fullPipe(t)
	cmd := exec.Command("signpost", "serve", path, "--listen", listen)
	cmd.Stdout, cmd.Stderr, cmd.Dir = full, full, t.TempDir()
	testkit.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for _, generation := range []string{"one", "two"} {
		replace(t, path, strings.ReplaceAll(feeds(generation, 2), "https://", "http://"))
		if generation == "two" { // it runs
			cmd.Process.Signal(syscall.SIGHUP)
		}
		waitFor(t, generation, func() bool {
			r, err := fetch(http.DefaultClient, "http://"+listen+manifestV1, "")
			return err == nil && strings.Contains(r.body, `"`+generation+" #")
		})
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve exited with %v", err)
	}
}
