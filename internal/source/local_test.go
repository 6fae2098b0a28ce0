package source

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/go-digest"

	"signpost/internal/testkit"
)

func quiet(string) {}

const otherText = "versions:\n  v2:\n    endpoints: {}\n" // as long as definitionText

// writeUnseen writes a file in place, and leaves its size and modification time as they are.
func writeUnseen(t *testing.T, text, path string) {
	t.Helper()
	info := testkit.Must(os.Stat(path))(t)
	write(t, text, path)
	testkit.OK(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// remembering is a source that fills in the texts that are not new.
type remembering struct {
	*local
	texts map[Sum][]byte
}

func followed(r *Reader, path string) remembering {
	return remembering{r.local(path), make(map[Sum][]byte)}
}

func (r remembering) Read() ([]Document, error) {
	documents, err := r.local.Read()
	documents = slices.Clone(documents)
	for i, d := range documents {
		if d.Text == nil {
			documents[i].Text = r.texts[d.Sum]
		}
		r.texts[d.Sum] = documents[i].Text
	}
	return documents, err
}

// TestLocalChanges checks that every change is noticed, also that to a file of the same size and time, as after a
// ConfigMap swap.
func TestLocalChanges(t *testing.T) {
	files := map[string]string{"a.yaml": definitionText, "b/c.yaml": definitionText, "d.yaml": definitionText}
	dir := tree(t, files)
	path, next := filepath.Join(dir, "b", "c.yaml"), filepath.Join(dir, "b", ".next")
	l := followed(&Reader{Note: quiet}, dir)
	check := func() {
		t.Helper()
		documents, err := l.Read()
		if diff := cmp.Diff(files, textsOf(documents)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		for _, d := range documents {
			if digest.FromBytes(d.Text) != d.Sum {
				t.Errorf("the sum of %s is %s", d.Path, d.Sum)
			}
		}
	}
	check()
	check()
	files["b/c.yaml"] = otherText
	write(t, otherText, next)
	info := testkit.Must(os.Stat(path))(t)
	testkit.OK(t, os.Chtimes(next, info.ModTime(), info.ModTime()))
	testkit.OK(t, os.Rename(next, path))
	check()
	testkit.OK(t, os.Chtimes(path, time.Time{}, time.Now())) // read again, but not changed
	check()
	testkit.OK(t, os.Rename(filepath.Join(dir, "d.yaml"), filepath.Join(dir, "e.yaml")))
	files["e.yaml"] = definitionText
	delete(files, "d.yaml")
	check()
	writeUnseen(t, definitionText, path)
	files["b/c.yaml"] = definitionText
	check()
}

// TestLocalFuture checks that many files with a time in the future, which never come to rest, are waited for together, and
// that such a file is read again although it looks unchanged.
func TestLocalFuture(t *testing.T) {
	files := make(map[string]string)
	for i := range 20 {
		files[fmt.Sprintf("%03d.yaml", i)] = definitionText
	}
	dir := tree(t, files)
	synctest.Test(t, func(t *testing.T) { // whose clock is behind that of every file
		l := followed(&Reader{Note: quiet}, dir)
		start := time.Now()
		if _, err := l.Read(); err != nil || time.Since(start) != restTime {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		writeUnseen(t, otherText, filepath.Join(dir, "012.yaml"))
		if documents, err := l.Read(); string(documents[12].Text) != otherText || err != nil {
			t.Errorf("the change was not noticed: %v", err)
		}
	})
}

// TestLocalOldFiles checks that files that have long been as they are are not opened again, unless their mode changes:
// they may have become unreadable.
func TestLocalOldFiles(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"a.yaml": definitionText}), "a.yaml")
	old := time.Now().Add(-time.Hour)
	testkit.OK(t, os.Chtimes(path, old, old))
	l := followed(&Reader{Note: quiet}, path)
	l.Read()
	writeUnseen(t, otherText, path)
	if documents, err := l.Read(); string(documents[0].Text) != definitionText || err != nil {
		t.Errorf("%s, %v", documents[0].Text, err)
	}
	testkit.OK(t, os.Chmod(path, 0o600))
	if documents, err := l.Read(); string(documents[0].Text) != otherText || err != nil {
		t.Errorf("after a change of its mode: %s, %v", documents[0].Text, err)
	}
}

// TestLocalKeepsWhatItCannotRead checks that the last contents stay while a file cannot be read, and that it is read as
// soon as it can be.
func TestLocalKeepsWhatItCannotRead(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b.yaml": definitionText, "notes.yaml": "just: notes"})
	l := followed(&Reader{Note: quiet}, dir)
	if documents, err := l.Read(); err != nil || len(documents) != 2 {
		t.Fatal(documents, err)
	}
	path := filepath.Join(dir, "a.yaml")
	testkit.OK(t, os.Remove(path))
	testkit.Mkfifo(t, path)
	for range 2 {
		documents, err := l.Read()
		if err == nil || !strings.HasSuffix(err.Error(), "not a regular file") || len(documents) != 2 || string(documents[0].Text) != definitionText {
			t.Errorf("%v, %v", documents, err)
		}
	}
	testkit.OK(t, os.Remove(path))
	write(t, "service: again\n"+definitionText, path)
	if documents, err := l.Read(); err != nil || !strings.HasPrefix(string(documents[0].Text), "service: again") {
		t.Errorf("%v, %v", documents, err)
	}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		testkit.OK(t, os.Remove(filepath.Join(dir, name)))
	}
	for _, left := range []string{"nothing", "a socket"} {
		if documents, err := l.Read(); err == nil || len(documents) != 2 {
			t.Errorf("a directory with %s: %v, %v", left, documents, err)
		}
		if listener, err := net.Listen("unix", filepath.Join(dir, "s.yaml")); err == nil {
			defer listener.Close()
		}
	}
}

// TestLocalTellsOnce checks that files that are not definitions are told once, in one line, however often a directory is
// read, and whether there is a definition beside them or not.
func TestLocalTellsOnce(t *testing.T) {
	dir := tree(t, map[string]string{"notes.yaml": "a: 1\n", "other.yaml": "a: 1\n"})
	var notes []string
	l := followed(&Reader{Note: func(note string) { notes = append(notes, note) }}, dir)
	for range 3 {
		if documents, err := l.Read(); err == nil {
			t.Errorf("a directory without a definition gives %v", documents)
		}
	}
	write(t, definitionText, filepath.Join(dir, "feeds.yaml"))
	for range 3 {
		if documents, err := l.Read(); err != nil || len(documents) != 1 {
			t.Errorf("%v, %v", documents, err)
		}
	}
	write(t, "a: 1\n", filepath.Join(dir, "third.yaml"))
	l.Read()
	testkit.Equal(t, "notes", strings.ReplaceAll(strings.Join(notes, "\n"), dir+"/", ""),
		"skipped 2 files that are not definitions: notes.yaml, other.yaml\nskipped third.yaml: not a definition")
}

// TestLocalAtRest checks that a file is read only after it has been unchanged for a while, and that one that changes
// continuously is an error that keeps the last contents. The clock of a bubble is behind that of every file, which always
// looks new.
func TestLocalAtRest(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"a.yaml": definitionText}), "a.yaml")
	synctest.Test(t, func(t *testing.T) {
		l := followed(&Reader{Note: quiet}, path)
		read := func(rests time.Duration, want, failure string, texts ...string) { // texts are written while the file should rest
			t.Helper()
			go func() {
				time.Sleep(restTime / 2)
				for _, text := range texts {
					write(t, text, path)
					time.Sleep(restTime)
				}
			}()
			start := time.Now()
			documents, err := l.Read()
			if len(documents) != 1 || string(documents[0].Text) != want || (err == nil) != (failure == "") || !strings.Contains(fmt.Sprint(err), failure) {
				t.Errorf("%v: %v, want %q", err, documents, want)
			}
			if took := time.Since(start); took != rests*restTime {
				t.Errorf("it waits for %v", took)
			}
		}
		read(1, definitionText, "")
		const whole = definitionText + "service: whole\n"
		write(t, "versions:\n", path)
		read(3, whole, "", "versions:\n  v1:\n", whole) // each piece is well-formed
		var texts []string
		for i := range maxRests {
			texts = append(texts, strings.Repeat("#", i)+"\n"+definitionText)
		}
		write(t, "versions:\n", path)
		read(maxRests, whole, "it changes all the time", texts...)
		read(1, texts[maxRests-1], "")
	})
}
