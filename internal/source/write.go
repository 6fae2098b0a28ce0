package source

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// temporary is the suffix of incomplete files.
const temporary = ".tmp"

// WriteFile replaces a file atomically, once all data is on disk. A process that is killed before that leaves the old
// file, and the incomplete one next to it. For a symbolic link, it replaces the target. It never replaces a device, a
// FIFO or a directory.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		path = target
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // a no-op on success
	_, err = f.Write(data)
	if err := cmp.Or(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReplaceFile writes the fixed text of a definition: it replaces a file atomically, keeping its mode, unless its
// contents have changed since they were read as old.
func ReplaceFile(path string, old, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, old) {
		return errors.New("the file has changed since it was read: check it and try again")
	}
	return WriteFile(path, text, info.Mode().Perm())
}
