package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"signpost/internal/testkit"
)

// openTerminal returns both ends of a real pseudo-terminal.
func openTerminal(t *testing.T) (control, tty *os.File) {
	t.Helper()
	control = testkit.Must(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { control.Close() })
	var unlocked int32
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, control.Fd(), unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlocked))); errno != 0 {
		t.Fatal(errno)
	}
	number := testkit.Must(unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN))(t)
	tty = testkit.Must(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { tty.Close() })
	return control, tty
}

func TestColourOnlyOnATerminal(t *testing.T) {
	lint := []string{"lint", filepath.Join(repo, "testdata", "err", "method.yaml")}
	for _, env := range []map[string]string{nil, {"NO_COLOR": "1"}, {"NO_COLOR": ""}} {
		control, tty := openTerminal(t)
		c := CLI{Stdout: tty, Stderr: io.Discard, LookupEnv: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
		c.Main(lint)
		out := make([]byte, 4096)
		n := testkit.Must(control.Read(out))(t)
		if got := strings.Contains(string(out[:n]), "\x1b[31merror:\x1b[0m"); got != (env["NO_COLOR"] == "") {
			t.Errorf("%v: colour %v\n%q", env, got, out[:n])
		}
	}
	if out, _, _ := runCLI(lint...); strings.Contains(out, "\x1b") {
		t.Errorf("colour without a terminal: %q", out)
	}
}
