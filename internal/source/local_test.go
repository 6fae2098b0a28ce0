package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readLocal(t *testing.T, l *local) (texts map[string]string, changed bool, err error) {
	t.Helper()
	documents, changed, err := l.Read()
	texts = make(map[string]string)
	for _, d := range documents {
		texts[d.Path] = string(d.Text)
		if d.Text == nil {
			texts[d.Path] = "unchanged"
		} else if !d.Sum.of(d.Text) {
			t.Errorf("the sum of %s is %s", d.Path, d.Sum)
		}
	}
	return texts, changed, err
}

// settle makes files look as if they had been unchanged for a while, so that their identity is trusted.
func settle(t *testing.T, l *local) {
	t.Helper()
	for name, f := range l.files {
		f.trusted = true
		l.files[name] = f
	}
	l.settled = true
}

// TestLocalReadsOnlyChangedFiles checks that unchanged files are not read again.
func TestLocalReadsOnlyChangedFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b/c.yaml": definitionText, "d.yaml": definitionText})
	l := newLocal(dir, Options{Note: func(string) {}})
	check := func(wantChanged bool, want map[string]string) {
		t.Helper()
		got, changed, err := readLocal(t, l)
		if diff := cmp.Diff(want, got); diff != "" || changed != wantChanged || err != nil {
			t.Errorf("changed: %v, %v (-want +got):\n%s", changed, err, diff)
		}
	}
	check(true, map[string]string{"a.yaml": definitionText, "b/c.yaml": definitionText, "d.yaml": definitionText})
	check(false, map[string]string{"a.yaml": "unchanged", "b/c.yaml": "unchanged", "d.yaml": "unchanged"}) // read again, because they are new
	settle(t, l)
	path := filepath.Join(dir, "b", "c.yaml")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// The same size and modification time.
	other := strings.Replace(definitionText, "v1", "v2", 1)
	if err := os.WriteFile(path, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	check(true, map[string]string{"a.yaml": "unchanged", "b/c.yaml": other, "d.yaml": "unchanged"})
	settle(t, l)
	if err := os.Rename(filepath.Join(dir, "d.yaml"), filepath.Join(dir, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	check(true, map[string]string{"a.yaml": "unchanged", "b/c.yaml": "unchanged", "e.yaml": definitionText})

	// A change that goes unnoticed proves that the file was not read.
	settle(t, l)
	f := l.files[path]
	f.document.Sum = "sha256:made up"
	l.files[path], l.settled = f, false
	got, changed, err := l.Read()
	if err != nil || !changed || got[1].Sum != "sha256:made up" {
		t.Errorf("an unchanged file was read: %+v, %v, %v", got, changed, err)
	}
}

// TestLocalAtRest checks that a file is read only after it has been unchanged for a while, and that one that changes
// continuously is an error that keeps the last contents.
func TestLocalAtRest(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText})
	path := filepath.Join(dir, "a.yaml")
	l := newLocal(path, Options{})
	now := time.Now().Add(-time.Hour) // earlier than every change, so that the file always looks new
	var rests int
	var write []string // written one after the other, while the file should rest
	l.now = func() time.Time { return now }
	l.sleep = func(d time.Duration) {
		if rests++; d != restTime {
			t.Errorf("it waits for %v", d)
		}
		now = now.Add(d)
		if len(write) > 0 {
			if err := os.WriteFile(path, []byte(write[0]), 0o644); err != nil {
				t.Error(err)
			}
			write = write[1:]
		}
	}
	if _, changed, err := l.Read(); err != nil || !changed || rests != 1 {
		t.Fatalf("%v, %v, after %d waits", changed, err, rests)
	}

	// Written in pieces, each well-formed.
	write = []string{"versions:\n", "versions:\n  v1:\n", "versions:\n  v1:\n    endpoints: {}\nservice: whole\n"}
	documents, changed, err := l.Read()
	if err != nil || !changed || !strings.HasSuffix(string(documents[0].Text), "whole\n") || rests != 5 {
		t.Errorf("%v, %v, after %d waits: %q", changed, err, rests, documents)
	}
	for i := range 100 {
		write = append(write, strings.Repeat("#", i+1)+"\n"+definitionText)
	}
	documents, changed, err = l.Read()
	if err == nil || !strings.Contains(err.Error(), "it has been written to for more than 2s") || changed || len(documents) != 1 {
		t.Errorf("a file that keeps changing: %v, %v", changed, err)
	}
	write = nil
	if _, changed, err := l.Read(); err != nil || !changed {
		t.Errorf("after it has stopped changing: %v, %v", changed, err)
	}
}

// TestTextIsNotKept checks that a source releases texts, because the caller parses them only once.
func TestTextIsNotKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("versions: {v1: {endpoints: {}}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := newLocal(dir, Options{Note: func(string) {}})
	documents, changed, err := l.Read()
	if err != nil || !changed || len(documents) != 1 || documents[0].Text == nil {
		t.Fatalf("%v, %v, %v", documents, changed, err)
	}
	for name, f := range l.files {
		if f.document.Text != nil {
			t.Errorf("the text of %s is kept", name)
		}
	}
}
