package daemon

import (
	stdlog "log"
	"log/slog"
	"net/http"
	"regexp"
	"strings"

	"signpost/server"
)

// maxLogged limits the length of values from a request in the log. slog escapes them.
const maxLogged = 200

var (
	traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	requestID   = regexp.MustCompile(`^[A-Za-z0-9._:/+=@-]{1,128}$`)
)

// newObserver returns the function to call for every response. Requests are logged at info if access is set, and at
// debug otherwise.
func newObserver(log *slog.Logger, access bool, m *metrics) func(*http.Request, server.Event) {
	level := slog.LevelDebug
	if access {
		level = slog.LevelInfo
	}
	return func(r *http.Request, e server.Event) {
		m.observe(e)
		if e.Status == http.StatusInternalServerError {
			log.Error("request failed", "status", e.Status, "base_path", e.BasePath, "version", e.Version,
				"host", bounded(r.Host), "error", e.Err)
		}
		logRequest(log, level, r, e)
	}
}

func logRequest(log *slog.Logger, level slog.Level, r *http.Request, e server.Event) {
	if !log.Enabled(r.Context(), level) {
		return
	}
	args := []any{
		"method", bounded(r.Method), "path", bounded(r.URL.Path), "host", bounded(r.Host), "manifest_host", e.Host,
		"peer", r.RemoteAddr, "status", e.Status, "bytes", e.Bytes, "duration_seconds", e.Duration.Seconds(),
	}
	if e.Err != nil {
		args = append(args, "error", bounded(e.Err.Error()))
	}
	if id := r.Header.Get("Traceparent"); traceparent.MatchString(id) {
		args = append(args, "traceparent", id)
	}
	if id := r.Header.Get("X-Request-Id"); requestID.MatchString(id) {
		args = append(args, "request_id", id)
	}
	log.Log(r.Context(), level, "request", args...)
}

// ErrorLog returns the ErrorLog of an http.Server whose messages go to log.
func ErrorLog(log *slog.Logger) *stdlog.Logger { return stdlog.New(serverLog{log}, "", 0) }

// serverLog receives the messages of net/http. Most are about mistakes of clients, such as a failed TLS handshake, and
// quote them; panics and a lack of file descriptors are our own problems.
type serverLog struct{ *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	message := strings.TrimSuffix(string(line), "\n")
	for _, ours := range []string{"http: panic serving", "http2: panic serving", "http: Accept error"} {
		if strings.HasPrefix(message, ours) {
			l.Error(message)
			return len(line), nil
		}
	}
	l.Debug(bounded(message))
	return len(line), nil
}

func bounded(s string) string {
	if len(s) > maxLogged {
		return s[:maxLogged] + "…"
	}
	return s
}
