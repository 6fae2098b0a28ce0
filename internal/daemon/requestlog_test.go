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
	metrics := newMetrics("test")
	metrics.setRoutes(map[route]string{{"/", "v1"}: "r"})
	observe, r := newObserver(slog.New(slog.NewTextHandler(io.Discard, nil)), false, metrics), httptest.NewRequest("GET", "/v1/endpoints-manifest", nil)
	r.Header.Set("X-Request-Id", "abc")
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

// TestRequestLog sends data that tries to forge log entries.
func TestRequestLog(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var out bytes.Buffer
	opts := &slog.HandlerOptions{Level: slog.LevelDebug}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, opts), slog.NewJSONHandler(&out, opts)} {
		out.Reset()
		observe := newObserver(slog.New(handler), false, newMetrics("test"))
		for _, request := range []struct{ path, trace, id string }{
			{"/v1/endpoints-manifest", trace, "abc-123"},
			{"/%0alevel=ERROR%20msg=forged%1b[31m", "forged", `a"b forged`},
			{"/" + strings.Repeat("long", 1000), "", strings.Repeat("i", 1000)},
		} {
			r := httptest.NewRequest("GET", request.path, nil)
			r.Host = "feeds.example.com"
			r.Header.Set("Traceparent", request.trace)
			r.Header.Set("X-Request-Id", request.id)
			observe(r, server.Event{Status: http.StatusOK, Err: errors.New("write to a client that is gone")})
		}
		for _, want := range []string{trace, "abc-123", "/v1/endpoints-manifest", "feeds.example.com", "write to a client that is gone"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the log lacks %q:\n%s", want, out.String())
			}
		}
		if n := strings.Count(out.String(), "\n"); n != 3 || out.Len() > 2000 || strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "b forged") ||
			strings.Count(out.String(), "traceparent") != 1 || strings.Count(out.String(), "request_id") != 1 {
			t.Errorf("the log has %d lines:\n%s", n, out.String())
		}
	}
}

// TestFailuresAreLogged checks that every status 500 is logged with its cause, and clients that disconnect are not.
func TestFailuresAreLogged(t *testing.T) {
	var out bytes.Buffer
	observe := newObserver(slog.New(slog.NewTextHandler(&out, nil)), false, newMetrics("test"))
	for _, status := range []int{200, 500} {
		observe(httptest.NewRequest("GET", "/v1/endpoints-manifest", nil), server.Event{Version: "v1", Status: status, Err: fmt.Errorf("cause of %d", status)})
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "cause of 500") || !strings.Contains(got, "version=v1") {
		t.Errorf("the log is %s", got)
	}
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
