package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// cache stores the last good state of remote sources in a directory, to start without them. An empty dir stores
// nothing.
type cache struct{ dir string }

// path derives the file name from a hash, because a URL is not a valid file name.
func (c cache) path(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".definition")
}

// maxKept limits what is cached for one source: the largest artifact, plus JSON escapes.
const maxKept = 2 * maxArtifact

// restore returns the cached data, or nil.
func (c cache) restore(address string) ([]byte, error) {
	if c.dir == "" {
		return nil, nil
	}
	path := c.path(address)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var text []byte
	if err == nil {
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxKept))
	}
	return text, fileError("read", path, err)
}

// keep replaces the cached data.
func (c cache) keep(address string, text []byte) error {
	if c.dir == "" {
		return nil
	}
	path := c.path(address)
	if len(text) > maxKept {
		return fmt.Errorf("write %q: %d bytes are more than the cache takes, %d MiB", path, len(text), maxKept>>20)
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	left, _ := filepath.Glob(path + ".*" + temporary) // left behind by a killed process
	for _, name := range left {
		os.Remove(name)
	}
	return fileError("write", path, WriteFile(path, text, 0o600))
}

// fileError names the file itself rather than the temporary one with its random name, so that the same failure always
// has the same message.
func fileError(action, path string, err error) error {
	if err == nil {
		return nil
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Errorf("%s %q: %w", action, path, err)
}
