package daemon_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestHostileACMEDirectory uses a directory that misbehaves. Signpost neither buffers its responses without limit nor
// keeps clients waiting for them.
func TestHostileACMEDirectory(t *testing.T) {
	t.Parallel()
	const domain = "feeds.example.com"
	start := func(t *testing.T, directory http.HandlerFunc) *process {
		srv := httptest.NewServer(directory)
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		return startCommand(t, exec.Command("signpost", "serve", "--log-format", "json", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
			"--acme-domain", domain, "--acme-cache", t.TempDir(), "--acme-directory", srv.URL))
	}

	t.Run("hangs", func(t *testing.T) {
		t.Parallel()
		p := start(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		conn, err := tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), &tls.Config{ServerName: domain, InsecureSkipVerify: true})
		if err == nil {
			conn.Close()
			t.Error("a certificate was issued without a directory")
		}
		waitFor(t, "the connection to be closed", func() bool { return p.metric(t, "go_goroutines") < 40 })
		if code := p.stop(t); code != exitFine {
			t.Errorf("serve exited with %d", code)
		}
	})

	for name, respond := range map[string]http.HandlerFunc{
		"an endless response": func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(`{"newNonce": "`))
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("a", 64<<10))); err != nil {
					return
				}
			}
		},
		"an endless error": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("\x1b[2J", 16<<10))); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			p := start(t, func(w http.ResponseWriter, r *http.Request) { respond(counting{w, &sent}, r) })
			waitFor(t, "an error in the log", func() bool { return len(p.logged("no certificate")) > 0 })
			if n := sent.Load() >> 20; n > 32 { // what buffers take of a few attempts
				t.Errorf("it read %d MB of responses", n)
			}
			if line := p.logged("no certificate")[0]; len(line["error"].(string)) > 4<<10 {
				t.Errorf("the log contains %d characters of the response", len(line["error"].(string)))
			}
		})
	}

	t.Run("Retry-After of a year", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int64
		var url string
		p := start(t, func(w http.ResponseWriter, r *http.Request) {
			url = "http://" + r.Host
			w.Header().Set("Replay-Nonce", "n")
			switch r.URL.Path {
			case "/":
				json.NewEncoder(w).Encode(map[string]string{"newNonce": url + "/nonce", "newAccount": url + "/account", "newOrder": url + "/order"})
			case "/nonce":
			default:
				asked.Add(1)
				w.Header().Set("Retry-After", "31536000")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		waitFor(t, "a request for an account", func() bool { return asked.Load() > 0 })
		start := time.Now()
		if code := p.stop(t); code != exitFine || time.Since(start) > patience {
			t.Errorf("serve exited with %d", code)
		}
	})
}

// counting counts the bytes of a response.
type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}
