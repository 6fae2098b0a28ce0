package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// results is standard output. It remembers the first failed write, so commands need not check each write, and no
// command succeeds if its output is lost.
type results struct {
	io.Writer
	err error
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if err != nil && r.err == nil {
		r.err = err
		if file := (&fs.PathError{}); errors.As(err, &file) {
			r.err = file.Err // the file name adds nothing
		}
		r.err = fmt.Errorf("write to standard output: %w", r.err)
	}
	return n, err
}
