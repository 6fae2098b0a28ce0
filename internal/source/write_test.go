package source

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceFile writes through a symbolic link, keeps the mode, and never overwrites a text that it has not seen.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "feeds.yaml"), filepath.Join(dir, "link.yaml")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("feeds.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(link, []byte("older"), []byte("new")); err == nil {
		t.Error("a text that has changed is overwritten")
	}
	if err := ReplaceFile(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	target, err := os.Readlink(link)
	if err != nil || target != "feeds.yaml" {
		t.Errorf("the link is now %q, %v", target, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q with mode %v", text, info.Mode())
	}
	if err := ReplaceFile(filepath.Join(dir, "none"), nil, nil); err == nil {
		t.Error("a file is created")
	}
}
