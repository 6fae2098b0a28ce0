// Package readfile reads files that the user names: whole, and never more than a limit.
package readfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrTooLarge is the cause of the error for a file beyond its limit.
var ErrTooLarge = errors.New("file is too large")

// Limit returns the contents of a regular file of at most max bytes. A FIFO, a device or a directory is an error, and is
// not read: a FIFO without a writer would block for ever. All errors name the file.
func Limit(path string, max int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // O_NONBLOCK: opening a FIFO does not wait for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %q: not a regular file", path)
	}
	tooLarge := fmt.Errorf("read %q: %w: more than %d bytes", path, ErrTooLarge, max)
	if info.Size() > max {
		return nil, tooLarge
	}
	text, err := io.ReadAll(io.LimitReader(f, max+1)) // the file may grow, and files in /proc have no size
	if err == nil && int64(len(text)) > max {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}
