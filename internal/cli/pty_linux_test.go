package cli

import (
	"fmt"
	"os"
	"syscall"
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

// onTerminal starts a process whose terminal is its standard error, so that it gets what is typed there.
func onTerminal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
}
