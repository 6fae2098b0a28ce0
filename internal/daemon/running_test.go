package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signpost/internal/source"
	"signpost/internal/testkit"
)

// oneEndpoint returns a definition with one endpoint.
func oneEndpoint(basePath, name string) string {
	return fmt.Sprintf(`{"base_path": %q, "versions": {"v1": {"endpoints": {"https://{{host}}/v1/feeds": {"name": %q, "method": "get", "mime_type": "application/json"}}}}}`, basePath, name)
}

// largeManifest returns a definition whose manifest of 6 MB exceeds the buffers of a connection. A shared modifier makes the
// definition itself small.
func largeManifest() string {
	var endpoints []string
	for i := range 100 {
		endpoints = append(endpoints, fmt.Sprintf(`"https://{{host}}/v1/%d": {"name": "%[1]d", "method": "get", "mime_type": "application/json", "modifiers": ["long"]}`, i))
	}
	return fmt.Sprintf(`{"modifiers": {"long": {"kind": "text", "id": "a", "key": "a", "label": "a", "name": %q}}, "versions": {"v1": {"endpoints": {%s}}}}`,
		strings.Repeat("long", 15_000), strings.Join(endpoints, ",\n"))
}

// newDaemon returns a daemon that has loaded the sources, with its log.
func newDaemon(t *testing.T, config Config, sources ...string) (*Daemon, *testkit.Buffer) {
	t.Helper()
	log := new(testkit.Buffer)
	config.Log, config.Listen = slog.New(slog.NewTextHandler(log, nil)), "127.0.0.1:0"
	config.Sources = testkit.Must(source.Follow(sources, source.Options{}))(t)
	d := testkit.Must(New(config))(t)
	d.Load(t.Context())
	return d, log
}

// start serves until the test ends or calls stop, and returns the address.
func start(t *testing.T, d *Daemon) (address string, stop func()) {
	t.Helper()
	testkit.OK(t, d.Start())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return d.listeners[0].Addr().String(), cancel
}

func serve(d *Daemon, path string) string {
	for _, s := range d.publisher.served {
		if s.current != nil && s.current.BasePath+"/v1/endpoints-manifest" == path {
			text, _ := s.current.Versions["v1"].Render("a.example.com")
			return string(text)
		}
	}
	return ""
}

// reloads reloads on demand until something has happened: what was just written has to come to rest first.
func reloads(t *testing.T, d *Daemon, what string, happened func() bool) {
	t.Helper()
	testkit.Eventually(t, what, func() bool { d.publisher.reload(t.Context(), true); return happened() })
}

// TestReloadClash moves a service to the base path of another one. The one already there keeps it until it moves away.
func TestReloadClash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".json") }
	for _, name := range []string{"a", "b", "c"} {
		testkit.Write(t, file(name), oneEndpoint("/"+name, name))
	}
	d, log := newDaemon(t, Config{}, file("a"), file("b"), file("c"))
	shows := func(path, name string) bool {
		return strings.Contains(serve(d, path+"/v1/endpoints-manifest"), `"`+name+`"`)
	}
	testkit.Write(t, file("a"), oneEndpoint("/b", "a on b"))
	reloads(t, d, "a clash", func() bool {
		return strings.Contains(log.String(), `base_path \"/b\" is already used by `+file("b")) && strings.Contains(log.String(), "rule=base-path")
	})
	if !shows("/a", "a") || !shows("/b", "b") {
		t.Error("the clash has changed what is served")
	}
	testkit.Write(t, file("b"), "{") // even if its definition is bad now
	testkit.Write(t, file("c"), oneEndpoint("/c", "c again"))
	reloads(t, d, "another service to change", func() bool { return shows("/c", "c again") })
	if !shows("/a", "a") || !shows("/b", "b") {
		t.Error("a bad definition has lost its base path")
	}
	testkit.Write(t, file("b"), oneEndpoint("/d", "b on d"))
	reloads(t, d, "both to move", func() bool { return shows("/b", "a on b") && shows("/d", "b on d") })
	if serve(d, "/a/v1/endpoints-manifest") != "" {
		t.Error("the old base path is still served")
	}
}

// TestCannotPublish checks that a definition that passes lint but cannot be published is rejected like any bad one.
func TestCannotPublish(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.json")
	testkit.Write(t, path, oneEndpoint("/a", "a"))
	d, log := newDaemon(t, Config{}, path)
	d.publisher.basePath = "not a path" // the flag would not accept it
	testkit.Write(t, path, oneEndpoint("/a", "again"))
	reloads(t, d, "the defect", func() bool { return strings.Contains(log.String(), "it cannot be published") })
	if !strings.Contains(serve(d, "/a/v1/endpoints-manifest"), `"a"`) || strings.Count(log.String(), "definition rejected: still serving") != 1 {
		t.Errorf("the log is %s", log)
	}
}

// TestReloadOnDemand adds, changes and removes files, and the directory itself, which is named twice. A reload on demand logs
// its result, whatever it is, and what cannot be read or is bad does not keep others from changing.
func TestReloadOnDemand(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "services")
	file := func(name string) string { return filepath.Join(dir, name+".json") }
	put := func(name, text string) func() { return func() { testkit.Write(t, file(name), text) } }
	put("a", oneEndpoint("/a", "a"))()
	put("b", oneEndpoint("/b", "b"))()
	d, log := newDaemon(t, Config{}, dir, dir+"/.")
	for _, step := range []struct {
		do     func()
		want   string
		routes string // that are served
	}{
		{func() {}, `msg="reloaded on demand" definitions=2 changed=0 removed=0 rejected=0 unreadable_sources=0`, "/a /b"},
		{put("a", oneEndpoint("/a", "two")), "definitions=2 changed=1 removed=0 rejected=0", "/a /b"},
		{put("a", "{"), "changed=1 removed=0 rejected=1", "/a /b"},
		{put("c", `{"versions": {}}`), "definitions=3 changed=1 removed=0 rejected=2", "/a /b"}, // never was good
		{func() { os.Remove(file("b")) }, "definitions=2 changed=0 removed=1 rejected=2", "/a"},
		{func() { os.Remove(file("a")); os.Symlink("/proc/self/mem", file("a")) }, "rejected=2 unreadable_sources=2", "/a"},
		{put("c", oneEndpoint("/c", "c")), "changed=1 removed=0 rejected=1 unreadable_sources=2", "/a /c"},
		{func() { os.RemoveAll(dir) }, "definitions=2 changed=0 removed=0 rejected=1 unreadable_sources=2", "/a /c"},
		{put("d", oneEndpoint("/d", "d")), "definitions=1 changed=1 removed=2 rejected=0 unreadable_sources=0", "/d"},
	} {
		step.do()
		reloads(t, d, step.want, func() bool { return strings.Contains(log.String(), step.want) })
		if got := strings.ReplaceAll(strings.Join(d.Routes(), " "), "/v1/endpoints-manifest", ""); got != step.routes {
			t.Errorf("%s: %s are served, want %s", step.want, got, step.routes)
		}
	}
	for _, want := range []string{
		`level=ERROR msg="definition rejected: still serving the last good one" definition=` + file("a"),
		`level=ERROR msg="definition rejected: there is none to serve in its place" definition=` + file("c"),
		`level=WARN msg="definition removed: its manifests are no longer served" definition=` + file("b") + " base_path=/b manifests=/b/v1/endpoints-manifest",
		`level=ERROR msg="source cannot be read: still serving what was read before" error=`,
		`level=INFO msg="all sources can be read again"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

// TestSlowClients holds connections in every possible way. Each is cut off by its own limit.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small.json"), filepath.Join(dir, "large.json")
	testkit.Write(t, small, oneEndpoint("/", "small"))
	testkit.Write(t, large, largeManifest())
	const get = "GET /v1/endpoints-manifest HTTP/1.1\r\nHost: a.example.com\r\n"
	long, short := 4*time.Minute, 50*time.Millisecond
	for name, test := range map[string]struct {
		definition string
		timeouts   timeouts
		idle       time.Duration
		send       string
	}{
		"header":   {small, timeouts{readHeader: short, read: long, write: long, writeByte: long}, long, get},
		"idle":     {small, timeouts{readHeader: long, read: long, write: long, writeByte: long}, short, get + "\r\n"},
		"response": {large, timeouts{readHeader: long, read: long, write: short, writeByte: long}, long, get + "\r\n"},
		"body":     {small, timeouts{readHeader: long, read: short, write: long, writeByte: long}, long, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := newDaemon(t, Config{timeouts: test.timeouts, IdleTimeout: test.idle}, test.definition)
			address, _ := start(t, d)
			conn := testkit.Must(net.Dial("tcp", address))(t)
			defer conn.Close()
			io.WriteString(conn, test.send)
			testkit.Eventually(t, "the server to close the connection", func() bool { return d.connections() == 0 })
		})
	}
}

// TestShutdownFinishes shuts down while a client reads slowly, or not at all. Neither is a failure of the server.
func TestShutdownFinishes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large.json")
	testkit.Write(t, path, largeManifest())
	for _, test := range []struct {
		timeout time.Duration
		until   string // in the log, when the client reads on
		whole   bool   // it gets all of the response
	}{{4 * time.Minute, "shutting down", true}, {time.Millisecond, "msg=stopped", false}} {
		d, log := newDaemon(t, Config{ShutdownTimeout: test.timeout}, path)
		address, stop := start(t, d)
		conn := testkit.Must(net.Dial("tcp", address))(t)
		conn.(*net.TCPConn).SetReadBuffer(64 << 10) // so that unread data soon blocks the server
		io.WriteString(conn, "GET /v1/endpoints-manifest HTTP/1.1\r\nHost: a.example.com\r\n\r\n")
		res := testkit.Must(http.ReadResponse(bufio.NewReaderSize(conn, 1024), nil))(t)
		stop()
		log.WaitFor(t, test.until)
		body, err := io.ReadAll(res.Body)
		if whole := err == nil && int64(len(body)) == res.ContentLength; whole != test.whole {
			t.Errorf("%v: %d of %d bytes, %v", test.timeout, len(body), res.ContentLength, err)
		}
		conn.Close()
		if log.WaitFor(t, "msg=stopped"); strings.Contains(log.String(), "cut off") == test.whole {
			t.Errorf("%v: the log is %s", test.timeout, log)
		}
	}
}

// TestPlainNetHTTP checks that plain net/http serves, and the log says so, if it does not work as package wire expects.
func TestPlainNetHTTP(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, path, oneEndpoint("/", "a"))
	d, log := newDaemon(t, Config{prove: func() error { return errors.New("another layout") }}, path)
	address, _ := start(t, d)
	testkit.OK(t, proveWire()) // with this release of Go
	if d.connContext != nil || !strings.Contains(log.String(), "another layout") {
		t.Errorf("the log is %s", log)
	}
	if res, body := testkit.Get(t, nil, "http://"+address+"/v1/endpoints-manifest"); res.StatusCode != http.StatusOK {
		t.Error(res.Status, body)
	}
}

// TestLogWriter checks that a writer that blocks holds up nobody, and that what was dropped or failed is counted.
func TestLogWriter(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe() // blocks until it is read
	log := NewLogWriter(w)
	const lines = 3 * queuedLines
	for i := range lines {
		fmt.Fprintf(log, "line %d\n", i)
	}
	if n := log.Dropped(); n < lines-queuedLines-2 || n > lines-queuedLines {
		t.Errorf("%d lines were dropped", n)
	}
	log.Close() // ends, too
	r.Close()

	var out testkit.Buffer
	good, bad := NewLogWriter(&out), NewLogWriter(w) // whose reader is gone
	line := []byte("one\n")
	good.Write(line)
	bad.Write(line)
	copy(line, "two\n") // as slog does with its buffer
	good.Write(line)
	testkit.Eventually(t, "all lines", func() bool { return out.String() == "one\ntwo\n" && bad.Dropped() == 1 })
	good.Close()
	bad.Close()
	if good.Dropped() != 0 {
		t.Errorf("%d lines were dropped", good.Dropped())
	}
}
