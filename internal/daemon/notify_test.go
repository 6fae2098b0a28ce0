package daemon_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNotify is systemd for a server: a real socket that is told when it is ready, reloads and stops.
func TestNotify(t *testing.T) {
	t.Parallel()
	for _, abstract := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "notify")
		env := name
		if abstract {
			name, env = "\x00"+name, "@"+name
		}
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		receive := func(want ...string) {
			t.Helper()
			socket.SetReadDeadline(time.Now().Add(patience))
			message := make([]byte, 4096)
			n, err := socket.Read(message)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range want {
				if !strings.Contains("\n"+string(message[:n])+"\n", "\n"+part) {
					t.Errorf("systemd is told %q, not %q", message[:n], part)
				}
			}
		}
		source := newSource(t)
		source.set("", http.StatusServiceUnavailable)
		cmd := exec.Command("signpost", serveArgs([]string{source.URL, "--poll-interval", "1h"})...)
		cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+env)
		p := startCommand(t, cmd)
		receive("READY=1\n", "STATUS=waiting for the first definition\n")
		source.set(feeds("one", 1), http.StatusOK)
		p.signal(t, syscall.SIGHUP)
		receive("RELOADING=1\n", "MONOTONIC_USEC=")
		receive("READY=1\n")
		receive("RELOADING=1\n") // the source has answered
		receive("READY=1\n", "STATUS=serving 1 manifests\n")
		p.signal(t, syscall.SIGTERM)
		receive("STOPPING=1\n")
		<-p.ended
	}
}
