// Package readfile reads files that the user names: whole, and never more than a limit.
package readfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrTooLarge is the cause of the error for a file beyond its limit.
var ErrTooLarge = errors.New("too large")

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
	var text []byte
	switch {
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() > max:
		err = tooLarge(max)
	default:
		text, err = All(f, max) // the file may grow, and files in /proc have no size
	}
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// chunk is how much All reads at a time.
const chunk = 1 << 20

// All reads at most max bytes. It takes no more memory than that for what is too large, and twice that otherwise.
func All(in io.Reader, max int64) ([]byte, error) {
	var chunks [][]byte
	for total := int64(0); ; {
		next, err := io.ReadAll(io.LimitReader(in, chunk))
		chunks = append(chunks, next)
		total += int64(len(next))
		switch {
		case err != nil:
			return nil, err
		case total > max:
			return nil, tooLarge(max)
		case len(next) == chunk:
		case len(chunks) == 1:
			return next, nil
		default:
			return bytes.Join(chunks, nil), nil
		}
	}
}

func tooLarge(max int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max) }
