package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a real pseudo-terminal.
func openTerminal(t *testing.T) (control, tty *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { control.Close() })
	var unlocked int32
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, control.Fd(), unix.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlocked))); errno != 0 {
		t.Fatal(errno)
	}
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return control, tty
}

func TestColourOnlyOnATerminal(t *testing.T) {
	for _, test := range []struct {
		name   string
		env    map[string]string
		colour bool
	}{
		{"terminal", nil, true},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR", map[string]string{"NO_COLOR": ""}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			control, tty := openTerminal(t)
			c := CLI{Stdin: strings.NewReader(""), Stdout: tty, Stderr: &bytes.Buffer{},
				LookupEnv: func(name string) (string, bool) { value, ok := test.env[name]; return value, ok }}
			if code := c.Main([]string{"lint", filepath.Join(repo, "testdata", "err", "method.yaml")}); code != exitFindings {
				t.Errorf("exit code %d", code)
			}
			out := make([]byte, 4096)
			n, err := control.Read(out)
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(out[:n], []byte("\x1b[31merror:\x1b[0m")); got != test.colour {
				t.Errorf("colour: %v, want %v\n%q", got, test.colour, out[:n])
			}
		})
	}
	if out, _, _ := runCLI("", "lint", filepath.Join(repo, "testdata", "err", "method.yaml")); strings.Contains(out, "\x1b") {
		t.Errorf("colour without a terminal: %q", out)
	}
}
