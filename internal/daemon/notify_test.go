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

	"signpost/internal/testkit"
)

// TestNotify plays the role of systemd: a real socket receives readiness, reloads and the stop.
func TestNotify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	name, env := "\x00"+path, "@"+path // an abstract socket
	socket := testkit.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"}))(t)
	defer socket.Close()
	receive := func(want ...string) {
		t.Helper()
		socket.SetReadDeadline(time.Now().Add(testkit.Patience))
		message := make([]byte, 4096)
		n := testkit.Must(socket.Read(message))(t)
		for _, part := range want {
			if !strings.Contains("\n"+string(message[:n])+"\n", "\n"+part) {
				t.Errorf("systemd received %q, want %q", message[:n], part)
			}
		}
	}
	source := newSource(t, "", http.StatusServiceUnavailable)
	cmd := exec.Command("signpost", serveArgs([]string{source.URL, "--poll-interval", "100ms"})...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+env)
	p := startCommand(t, cmd)
	receive("READY=1\n", "STATUS=waiting for the first definition\n")
	source.set(feeds("one", 1), http.StatusOK)
	receive("READY=1\n", "STATUS=serving 1 manifests\n")
	p.signal(t, syscall.SIGHUP)
	receive("RELOADING=1\n")
	receive("READY=1\n")
	receive("RELOADING=1\n") // the source has responded
	receive("READY=1\n", "STATUS=serving 1 manifests\n")
	p.signal(t, syscall.SIGTERM)
	receive("STOPPING=1\n")
	<-p.ended
}
