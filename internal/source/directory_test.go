package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost/definition"
	"signpost/internal/testkit"
)

const definitionText = "versions:\n  v1:\n    endpoints: {}\n"

// tree writes files below a new directory, and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, text, dir, name)
	}
	return dir
}

// write writes a file, and the directories above it.
func write(t *testing.T, text string, path ...string) {
	t.Helper()
	testkit.Write(t, filepath.Join(path...), text)
}

// services is a realistic directory: definitions, and other files.
var services = map[string]string{
	"b.yaml":                         definitionText,
	"a/feeds.yml":                    definitionText,
	"a-b.yaml":                       definitionText,
	"a/deep/er/media.json":           `{"versions": {}}`,
	"a/broken.json":                  `{"versions": {`,
	"a/empty.yaml":                   "",
	"only-a-path.yaml":               "base_path: /x\n",
	"windows.YML":                    definitionText,
	"SIGNPOST.SCHEMA.JSON":           `{"versions": {}}`,
	"package.json":                   `{"name": "x", "version": "1.0.0"}`,
	"docker-compose.yml":             "version: '3'\nservices:\n  web: {image: x, versions: 1}\n",
	"saved/manifest.json":            `{"endpoints": {}}`,
	"signpost.schema.json":           `{"versions": {}}`,
	"README.md":                      "versions:",
	".hidden.yaml":                   definitionText,
	".git/x.yaml":                    definitionText,
	"node_modules/pkg/versions.yaml": definitionText,
	"a/node_modules/x.json":          `{"versions": {}}`,
	"lost+found/x.yaml":              definitionText,
}

func pathsOf(documents []Document) []string {
	var paths []string
	for _, d := range documents {
		paths = append(paths, d.Path)
	}
	return paths
}

func TestReadDirectory(t *testing.T) {
	dir := tree(t, services)
	var notes []string
	r := Reader{Note: func(message string) { notes = append(notes, strings.ReplaceAll(message, dir+"/", "")) }}
	documents := testkit.Must(r.Read(t.Context(), dir))(t)
	want := []string{"a-b.yaml", "a/broken.json", "a/deep/er/media.json", "a/empty.yaml", "a/feeds.yml", "b.yaml", "only-a-path.yaml", "windows.YML"}
	if diff := cmp.Diff(want, pathsOf(documents)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if name := documents[2].Name; name != filepath.Join(dir, "a/deep/er/media.json") {
		t.Errorf("its name is %s", name)
	}
	wantNotes := []string{"skipped 3 files that are not definitions: docker-compose.yml, package.json, saved/manifest.json"}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}

	// Files named explicitly are read, whatever they are; with Manifests, those are included.
	r = Reader{Manifests: true}
	documents = testkit.Must(r.Read(t.Context(), filepath.Join(dir, "package.json"), filepath.Join(dir, "saved")))(t)
	if diff := cmp.Diff([]string{"package.json", "manifest.json"}, pathsOf(documents)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err := r.Read(t.Context(), filepath.Join(dir, "none.yaml"))
	fails(t, "a file that does not exist", err, "none.yaml\": no such file or directory")
	_, err = r.ReadOne(t.Context(), filepath.Join(dir, "a"))
	fails(t, "one of several", err, "holds 4 definitions: name one of them")
	testkit.Must(r.Read(t.Context(), filepath.Join(dir, ".git"), filepath.Join(dir, "node_modules")))(t) // named explicitly
}

// TestReadDirectoryLinks follows symbolic links as Kubernetes creates them, but not in cycles.
func TestReadDirectoryLinks(t *testing.T) {
	dir := tree(t, map[string]string{"..v1/feeds.yaml": definitionText, "..v1/sub/media.yaml": definitionText})
	for link, target := range map[string]string{
		"..data": "..v1", "feeds.yaml": "..data/feeds.yaml", "sub": "..data/sub", "loop": ".", "again": "sub", "nowhere.yaml": "gone",
		"everything": "/",
	} {
		testkit.OK(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	link := filepath.Join(t.TempDir(), "current")
	testkit.OK(t, os.Symlink(dir, link))
	for _, arg := range []string{dir, link, link + "/"} {
		documents, err := new(Reader).Read(t.Context(), arg)
		if diff := cmp.Diff([]string{"again/media.yaml", "feeds.yaml"}, pathsOf(documents)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", arg, err, diff)
		}
	}
	itself := filepath.Join(dir, "itself")
	testkit.OK(t, os.Symlink("itself", itself))
	_, err := new(Reader).Read(t.Context(), dir)
	fails(t, "a file that cannot be read", err, fmt.Sprintf("read definition %q: too many levels", itself))
}

// TestWalkLimit checks that a walk ends, whatever it finds.
func TestWalkLimit(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": "", "b/c.txt": "", "b/d.txt": ""})
	if files, _, err := walk(dir, 4); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	_, _, err := walk(dir, 3)
	fails(t, "too many", err, "it holds more than 3 files: name the directory of the definitions")
}

// TestReadPipes checks that a pipe is an error.
func TestReadPipes(t *testing.T) {
	dir := tree(t, map[string]string{"feeds.yaml": definitionText})
	pipe := filepath.Join(dir, "pipe.yaml")
	testkit.Mkfifo(t, pipe)
	want := fmt.Sprintf("read definition %q: not a regular file", pipe)
	for _, arg := range []string{dir, pipe} {
		if _, err := new(Reader).Read(t.Context(), arg); err == nil || err.Error() != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// TestReadLarge checks that the text of what is too large is longer than allowed, so that it is reported, and no more.
func TestReadLarge(t *testing.T) {
	path := filepath.Join(tree(t, map[string]string{"large.yaml": ""}), "large.yaml")
	for size, want := range map[int64]int{1000: 1000, definition.MaxSize + 1: definition.MaxSize + 1, 1 << 40: definition.MaxSize + 1} {
		testkit.OK(t, os.Truncate(path, size))
		documents, err := new(Reader).Read(t.Context(), path)
		if err != nil || len(documents[0].Text) != want {
			t.Errorf("%d bytes: %d, %v", size, len(documents[0].Text), err)
		}
	}
	// In a directory, it is still recognised.
	testkit.OK(t, os.WriteFile(path, []byte("versions:\n"), 0o600))
	testkit.OK(t, os.Truncate(path, definition.MaxSize+1))
	documents, err := new(Reader).Read(t.Context(), filepath.Dir(path))
	if err != nil || len(documents) != 1 || len(documents[0].Text) != definition.MaxSize+1 {
		t.Errorf("in a directory: %d, %v", len(documents), err)
	}
}

// TestFollowTruncated checks that a truncated definition is rejected, and a removed one is withdrawn.
func TestFollowTruncated(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b.yaml": definitionText, "c.yaml": "openapi: 3.1.0\n"})
	var notes []string
	sources := testkit.Must((&Reader{Note: func(message string) { notes = append(notes, message) }}).Follow(dir))(t)
	read := func(want ...string) {
		t.Helper()
		documents, err := sources[0].Read()
		if diff := cmp.Diff(want, pathsOf(documents)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	read("a.yaml", "b.yaml")
	for _, text := range []string{"", "vers", "openapi: 3.1.0\n"} {
		write(t, text, dir, "a.yaml")
		read("a.yaml", "b.yaml")
	}
	os.Remove(filepath.Join(dir, "a.yaml"))
	read("b.yaml")
	if len(notes) != 1 || !strings.HasSuffix(notes[0], "c.yaml: not a definition") {
		t.Errorf("notes: %q", notes)
	}
}
