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

var errNotRegular = errors.New("not a regular file")

// Limit returns the contents of a regular file of at most max bytes; beyond that, the first max+1 bytes with an error.
// A FIFO, a device or a directory is an error, and is not read: a FIFO without a writer would block for ever. All errors
// name the file.
func Limit(path string, max int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // O_NONBLOCK: opening a FIFO does not wait for a writer
	switch {
	case errors.Is(err, syscall.ENXIO): // a socket cannot even be opened
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var text []byte
	if info.Mode().IsRegular() {
		text, err = read(f, max, info.Size()) // the file may grow, and files in /proc have no size
	} else {
		err = errNotRegular
	}
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, err
}

// All reads at most max bytes. If there are more, it returns the first max+1 with an error.
func All(in io.Reader, max int64) ([]byte, error) { return read(in, max, 0) }

// read is All with the size of the input. If that is right, it takes no more memory than that.
func read(in io.Reader, limit, size int64) ([]byte, error) {
	text := bytes.NewBuffer(make([]byte, 0, min(size, limit+1)+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, err
	case n > limit:
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return text.Bytes(), err
}
