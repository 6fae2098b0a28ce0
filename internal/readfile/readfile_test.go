//go:build unix

package readfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"signpost/internal/readfile"
	"signpost/internal/testkit"
)

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	small, large, fifo := filepath.Join(dir, "small"), filepath.Join(dir, "large"), filepath.Join(dir, "fifo")
	for path, text := range map[string]string{small: "four", large: "five!"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := readfile.Limit(small, 4); err != nil || string(text) != "four" {
		t.Errorf("a file of exactly the limit: %q, %v", text, err)
	}
	if text, err := readfile.Limit(large, 3); string(text) != "five" || !errors.Is(err, readfile.ErrTooLarge) ||
		!strings.Contains(err.Error(), large) {
		t.Errorf("a file beyond the limit: %q, %v", text, err)
	}
	if _, err := readfile.Limit("/proc/self/status", 4); !errors.Is(err, readfile.ErrTooLarge) {
		t.Errorf("a file without a size: %v", err)
	}
	if _, err := readfile.Limit(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	testkit.Mkfifo(t, fifo)
	socket := filepath.Join(dir, "socket")
	defer testkit.Must(net.Listen("unix", socket))(t).Close()
	for _, path := range []string{fifo, socket, dir, "/dev/zero"} {
		if text, err := readfile.Limit(path, 4); text != nil || err == nil || !strings.Contains(err.Error(), "not a regular file") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}

func TestAll(t *testing.T) {
	broken := errors.New("broken")
	if _, err := readfile.All(iotest.ErrReader(broken), 4); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	in := strings.NewReader("123456789")
	if text, err := readfile.All(in, 4); string(text) != "12345" || !errors.Is(err, readfile.ErrTooLarge) || in.Len() != 4 {
		t.Errorf("beyond the limit: %q, %v, and %d bytes are left", text, err, in.Len())
	}
}
