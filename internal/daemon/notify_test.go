package daemon_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNotify plays the role of systemd: a real socket receives readiness, reloads and the stop.
func TestNotify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	name, env := "\x00"+path, "@"+path // an abstract socket
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	receive := func(want ...string) string {
		t.Helper()
		socket.SetReadDeadline(time.Now().Add(patience))
		message := make([]byte, 4096)
		n, err := socket.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains("\n"+string(message[:n])+"\n", "\n"+part) {
				t.Errorf("systemd received %q, want %q", message[:n], part)
			}
		}
		return string(message[:n])
	}
	source := newSource(t)
	source.set("", http.StatusServiceUnavailable)
	cmd := exec.Command("signpost", serveArgs([]string{source.URL, "--poll-interval", "1h"})...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+env)
	p := startCommand(t, cmd)
	receive("READY=1\n", "STATUS=waiting for the first definition\n")
	source.set(feeds("one", 1), http.StatusOK)
	before := monotonic(t)
	p.signal(t, syscall.SIGHUP)
	_, after, _ := strings.Cut(receive("RELOADING=1\n", "MONOTONIC_USEC="), "MONOTONIC_USEC=")
	var told int64
	if _, err := fmt.Sscanf(after, "%d\n", &told); err != nil || told < before || told > monotonic(t) {
		t.Errorf("the server says that the reload began at %d µs, want between %d and now; %v", told, before, err)
	}
	receive("READY=1\n")
	receive("RELOADING=1\n") // the source has responded
	receive("READY=1\n", "STATUS=serving 1 manifests\n")
	p.signal(t, syscall.SIGTERM)
	receive("STOPPING=1\n")
	<-p.ended
}

// monotonic returns the time on systemd's clock, in microseconds.
func monotonic(t *testing.T) int64 {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return now.Nano() / 1000
}
