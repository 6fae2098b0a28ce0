package source

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"signpost/internal/testkit"
)

// TestReplaceFile writes through a symbolic link, keeps the mode, and never overwrites a text that it has not seen.
func TestReplaceFile(t *testing.T) {
	dir := tree(t, map[string]string{"feeds.yaml": "old"})
	file, link := filepath.Join(dir, "feeds.yaml"), filepath.Join(dir, "link.yaml")
	testkit.OK(t, os.Chmod(file, 0o640))
	testkit.OK(t, os.Symlink("feeds.yaml", link))
	fails(t, "a text that has changed", ReplaceFile(link, []byte("older"), []byte("new")), "has changed since it was read")
	testkit.OK(t, ReplaceFile(link, []byte("old"), []byte("new")))
	target, err := os.Readlink(link)
	if err != nil || target != "feeds.yaml" {
		t.Errorf("the link is now %q, %v", target, err)
	}
	info := testkit.Must(os.Stat(file))(t)
	if text, _ := os.ReadFile(file); string(text) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q with mode %v", text, info.Mode())
	}
	fails(t, "a file that does not exist", ReplaceFile(filepath.Join(dir, "none"), nil, nil), "no such file")
}

// TestWriteFileSpecial keeps what is no regular file, such as /dev/full, and writes through a symbolic link.
func TestWriteFileSpecial(t *testing.T) {
	dir := tree(t, map[string]string{"known.json": "old", "directory/x": ""})
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link.json")
	testkit.Mkfifo(t, pipe)
	testkit.OK(t, os.Symlink("known.json", link))
	fails(t, "a FIFO", WriteFile(pipe, []byte("new"), 0o644), "not a regular file")
	fails(t, "a directory", WriteFile(filepath.Join(dir, "directory"), []byte("new"), 0o644), "not a regular file")
	if info := testkit.Must(os.Stat(pipe))(t); info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the FIFO has become %v", info.Mode())
	}
	testkit.OK(t, WriteFile(link, []byte("new"), 0o644))
	if text, _ := os.ReadFile(filepath.Join(dir, "known.json")); string(text) != "new" {
		t.Errorf("the target of the link is %q", text)
	}
}
