package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// cache keeps the last good state of remote sources in a directory, for a start without them.
type cache struct{ dir string } // an empty dir keeps nothing

// path names the file by a hash, since an address is not a file name.
func (c cache) path(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".definition")
}

// restore returns what was kept, or nil.
func (c cache) restore(address string) ([]byte, error) {
	if c.dir == "" {
		return nil, nil
	}
	text, err := readFile(context.Background(), c.path(address))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// keep replaces what was kept.
func (c cache) keep(address string, text []byte) error {
	if c.dir == "" {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	path := c.path(address)
	left, _ := filepath.Glob(path + ".*" + temporary) // of one that was killed
	for _, name := range left {
		os.Remove(name)
	}
	return WriteFile(path, text, 0o600)
}

// temporary ends the name of a file that is not complete.
const temporary = ".tmp"

// WriteFile replaces a file in one step, once all of it is on the disk. A process that is killed before that leaves
// the old file, and the incomplete one beside it.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already, if all goes well
	_, err = f.Write(data)
	if err := cmp.Or(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
