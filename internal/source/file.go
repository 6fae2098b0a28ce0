package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readFile reads a file, a pipe or a device. It returns when ctx ends at the latest.
func readFile(ctx context.Context, path string) ([]byte, error) {
	text, err := within(ctx, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readLimited(f)
	})
	if err != nil {
		return nil, readError(path, err)
	}
	return text, nil
}

// within returns what read returns, or the reason why ctx has ended. A read that hangs is abandoned: neither a pipe
// without a writer nor a network volume that is gone can be interrupted.
func within(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readError names the path only once: errors of package os contain it as well.
func readError(path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("read definition %q: %w", path, err)
}
