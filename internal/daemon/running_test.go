package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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
	config.Sources = testkit.Must(new(source.Reader).Follow(sources...))(t)
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

// whatIsServed returns the base paths that are served, and the names of their endpoints.
func whatIsServed(d *Daemon) string {
	var all []string
	for _, route := range d.Routes() {
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, httptest.NewRequest("GET", route, nil))
		name := regexp.MustCompile(`"name":"(.*?)"`).FindStringSubmatch(w.Body.String())[1]
		all = append(all, strings.TrimSuffix(route, "/v1/endpoints-manifest")+" "+name)
	}
	return strings.Join(all, ", ")
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
	rejected := func(name string) string {
		return `level=ERROR msg="definition rejected: still serving the last good one" definition=` + file(name)
	}
	for _, step := range []struct {
		do     func()
		want   string // the result of the reload
		served string
		also   string // in the log
	}{
		{func() {}, "definitions=2 changed=0 removed=0 rejected=0 unreadable_sources=0", "/a a, /b b", `msg="reloaded on demand" definitions=2`},
		{put("a", oneEndpoint("/a", "two")), "definitions=2 changed=1 removed=0 rejected=0", "/a two, /b b", ""},
		{put("a", "{"), "changed=1 removed=0 rejected=1", "/a two, /b b", rejected("a")},
		{put("c", `{"versions": {}}`), "definitions=3 changed=1 removed=0 rejected=2", "/a two, /b b", // never was good
			`level=ERROR msg="definition rejected: there is none to serve in its place" definition=` + file("c")},
		{func() { os.Remove(file("b")) }, "definitions=2 changed=0 removed=1 rejected=2", "/a two",
			`level=WARN msg="definition removed: its manifests are no longer served" definition=` + file("b") + " base_path=/b manifests=/b/v1/endpoints-manifest"},
		{func() { os.Remove(file("a")); os.Symlink("/proc/self/mem", file("a")) }, "rejected=2 unreadable_sources=2", "/a two",
			`level=ERROR msg="source cannot be read: still serving what was read before" error=`},
		{put("c", oneEndpoint("/c", "c")), "changed=1 removed=0 rejected=1 unreadable_sources=2", "/a two, /c c", ""},
		{func() { os.RemoveAll(dir) }, "definitions=2 changed=0 removed=0 rejected=1 unreadable_sources=2", "/a two, /c c", ""},
		{put("d", oneEndpoint("/d", "d")), "definitions=1 changed=1 removed=2 rejected=0 unreadable_sources=0", "/d d",
			`level=INFO msg="all sources can be read again"`},

		// A service that moves to the base path of another one has to wait until that one moves away.
		{put("e", oneEndpoint("/e", "e")), "definitions=2 changed=1 removed=0 rejected=0", "/d d, /e e", ""},
		{put("d", oneEndpoint("/e", "d on e")), "changed=1 removed=0 rejected=1", "/d d, /e e",
			`msg="base_path \"/e\" is already used by ` + file("e") + `" definition=` + file("d") + " line=1 column=1 rule=base-path"},
		{put("e", "{"), "changed=1 removed=0 rejected=2", "/d d, /e e", rejected("e")},
		{put("e", oneEndpoint("/f", "e on f")), "changed=2 removed=0 rejected=0", "/e d on e, /f e on f", ""},

		// Two swap, whether both are read at the same time or not. A file gets another name.
		{func() { put("d", oneEndpoint("/f", "d on f"))(); put("e", oneEndpoint("/e", "e on e"))() },
			"removed=0 rejected=0", "/f d on f, /e e on e", ""},
		{func() { os.Rename(file("d"), file("g")) }, "definitions=2 changed=1 removed=1 rejected=0", "/e e on e, /f d on f",
			`level=INFO msg="definition removed: another one is served in its place" definition=` + file("d") + " base_path=/f"},
		{func() { os.Rename(file("g"), file("d")) }, "definitions=2 changed=1 removed=1 rejected=0", "/f d on f, /e e on e", ""},

		// What passes lint but cannot be published is rejected like any bad definition.
		{func() { d.BasePath = "not a path"; put("d", oneEndpoint("/e", "again"))() }, "changed=1 removed=0 rejected=1", "/f d on f, /e e on e",
			"it cannot be published"},
	} {
		log.Reset()
		step.do()
		testkit.Eventually(t, step.want, func() bool { // what was just written has to come to rest first
			d.reload(true)
			return strings.Contains(log.String(), step.want)
		})
		if got := whatIsServed(d); got != step.served || !strings.Contains(log.String(), step.also) {
			t.Errorf("%s: %s are served, want %s; the log is\n%s", step.want, got, step.served, log)
		}
	}
}

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCachedComesFirst starts with a cached definition, whose source answers at once and has become bad: what was cached
// is served.
func TestCachedComesFirst(t *testing.T) {
	t.Parallel()
	cache, file := t.TempDir(), filepath.Join(t.TempDir(), "feeds.json")
	testkit.Write(t, file, oneEndpoint("/file", "file")) // for which the start waits until it is at rest
	for i, text := range []string{oneEndpoint("/remote", "cached"), `{"versions": 1}`} {
		d, log := newDaemon(t, Config{})
		answer := roundTrip(func(*http.Request) (*http.Response, error) {
			select {
			case <-d.loaded:
			default:
				if i > 0 {
					t.Error("the source is asked before what was cached is published")
				}
			}
			body := io.NopCloser(strings.NewReader(text))
			return &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(text)), Body: body}, nil
		})
		reader := source.Reader{CacheDir: cache, Transport: answer}
		d.Config.Sources = testkit.Must(reader.Follow("http://config.example.com/feeds.json", file))(t)
		d = testkit.Must(New(d.Config))(t)
		d.logResult(d.Load(t.Context()))
		if got := whatIsServed(d); got != "/remote cached, /file file" {
			t.Errorf("%q is served; the log is\n%s", got, log)
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
			conn.Read(make([]byte, 1)) // the server has accepted the connection, or cut it off already
			testkit.Eventually(t, "the server to close the connection", func() bool { return d.listeners[0].Len() == 0 })
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
	log.Flush() // ends, too
	r.Close()

	var out testkit.Buffer
	good, bad := NewLogWriter(&out), NewLogWriter(w) // whose reader is gone
	line := []byte("one\n")
	good.Write(line)
	bad.Write(line)
	copy(line, "two\n") // as slog does with its buffer
	good.Write(line)
	good.Flush()
	bad.Flush()
	testkit.Equal(t, "lines", out.String(), "one\ntwo\n")
	testkit.Equal(t, "lines that could not be written", bad.Dropped(), int64(1))
	if good.Dropped() != 0 {
		t.Errorf("%d lines were dropped", good.Dropped())
	}
}
