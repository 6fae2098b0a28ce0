package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// results is standard output. It remembers the first failed write, so that no command has to check each of its
// writes, and none succeeds whose results are lost.
type results struct {
	io.Writer
	err error
}

func (r *results) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if err != nil && r.err == nil {
		r.err = err
		if file := (&fs.PathError{}); errors.As(err, &file) {
			r.err = file.Err // the name of the file says no more
		}
		r.err = fmt.Errorf("write to standard output: %w", r.err)
	}
	return n, err
}
