package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"signpost/server"
)

// TestObserveDoesNotAllocate checks what runs after every response, with metrics on and debug off.
func TestObserveDoesNotAllocate(t *testing.T) {
	observe, r := observer()
	for _, e := range []server.Event{
		{BasePath: "/", Version: "v1", Status: 200, Bytes: 1000, Cache: server.CacheHit, Duration: time.Millisecond},
		{BasePath: "/", Version: "v1", Status: 304, Cache: server.CacheMiss},
		{Status: 404, Bytes: 300},
	} {
		if n := testing.AllocsPerRun(1000, func() { observe(r, e) }); n != 0 {
			t.Errorf("%+v: %v allocations", e, n)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	observe, r := observer()
	e := server.Event{BasePath: "/", Version: "v1", Status: 200, Bytes: 1000, Cache: server.CacheHit, Duration: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		observe(r, e)
	}
}

func observer() (func(*http.Request, server.Event), *http.Request) {
	log, metrics := slog.New(slog.NewTextHandler(io.Discard, nil)), newMetrics("test")
	metrics.setRoutes([]route{{"/", "v1"}})
	r := httptest.NewRequest("GET", "/v1/endpoints-manifest", nil)
	r.Header.Set("X-Request-Id", "abc")
	return newObserver(log, false, metrics), r
}

// TestServerLog distinguishes net/http's messages about clients from those about this program.
func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	log := serverLog{slog.New(slog.NewTextHandler(&out, nil))}
	for _, line := range []string{"http: TLS handshake error from 192.0.2.1:1: EOF\n", "http: Accept error: accept tcp: too many open files; retrying in 5ms\n"} {
		fmt.Fprint(log, line)
	}
	if got := out.String(); strings.Contains(got, "handshake") || !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "too many open files") {
		t.Errorf("the log is %s", got)
	}
	log = serverLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	fmt.Fprint(log, "http: TLS handshake error from 192.0.2.1:1: unsupported protocols "+strings.Repeat("x", 10_000)+"\n")
	if got := out.String(); !strings.Contains(got, "handshake") || len(got) > 1000 {
		t.Errorf("the log has %d bytes: %.1000s", len(got), got)
	}
}

// TestFailuresAreLogged checks that every status 500 is logged with its cause, and clients that disconnect are not.
func TestFailuresAreLogged(t *testing.T) {
	var out bytes.Buffer
	observe := newObserver(slog.New(slog.NewTextHandler(&out, nil)), false, newMetrics("test"))
	r := httptest.NewRequest("GET", "/v1/endpoints-manifest", nil)
	observe(r, server.Event{BasePath: "/", Version: "v1", Status: 200, Err: errors.New("broken pipe")})
	if out.Len() > 0 {
		t.Errorf("a disconnected client is logged: %s", out.String())
	}
	observe(r, server.Event{BasePath: "/", Version: "v1", Status: 500, Err: errors.New("the cause")})
	if got := out.String(); !strings.Contains(got, "level=ERROR") || !strings.Contains(got, `error="the cause"`) || !strings.Contains(got, "version=v1") {
		t.Errorf("the log is %s", got)
	}
}
