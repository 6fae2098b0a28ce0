package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"signpost/definition"
)

const definitionText = "versions:\n  v1:\n    endpoints: {}\n"

// tree writes files below a new directory, and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// services is a realistic directory: definitions, and other files.
var services = map[string]string{
	"b.yaml":                         definitionText,
	"a/feeds.yml":                    definitionText,
	"a/deep/er/media.json":           `{"versions": {}}`,
	"a/broken.json":                  `{"versions": {`,
	"a/empty.yaml":                   "",
	"only-a-path.yaml":               "base_path: /x\n",
	"package.json":                   `{"name": "x", "version": "1.0.0"}`,
	"docker-compose.yml":             "version: '3'\nservices:\n  web: {image: x, versions: 1}\n",
	"saved/manifest.json":            `{"endpoints": {}}`,
	"signpost.schema.json":           `{"versions": {}}`,
	"README.md":                      "versions:",
	".hidden.yaml":                   definitionText,
	".git/x.yaml":                    definitionText,
	"node_modules/pkg/versions.yaml": definitionText,
	"a/node_modules/x.json":          `{"versions": {}}`,
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
	documents, err := r.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a/broken.json", "a/deep/er/media.json", "a/empty.yaml", "a/feeds.yml", "b.yaml", "only-a-path.yaml"}
	if diff := cmp.Diff(want, pathsOf(documents)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if name := documents[1].Name; name != filepath.Join(dir, "a/deep/er/media.json") {
		t.Errorf("its name is %s", name)
	}
	wantNotes := []string{"skipped docker-compose.yml: not a definition", "skipped package.json: not a definition", "skipped saved/manifest.json: not a definition"}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}

	// Files named explicitly are read, whatever they are; with Manifests, those are included.
	r = Reader{Manifests: true}
	documents, err = r.Read(t.Context(), filepath.Join(dir, "package.json"), filepath.Join(dir, "saved"))
	if diff := cmp.Diff([]string{"package.json", "manifest.json"}, pathsOf(documents)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := r.ReadOne(t.Context(), filepath.Join(dir, "a")); err == nil || !strings.Contains(err.Error(), "holds 4 definitions: name one of them") {
		t.Errorf("one of several: %v", err)
	}
	for _, empty := range []string{filepath.Join(dir, ".git"), filepath.Join(dir, "node_modules")} { // named explicitly
		if _, err := r.Read(t.Context(), empty); err != nil {
			t.Error(err)
		}
	}
}

// TestReadDirectoryLinks follows symbolic links as Kubernetes creates them, but not in cycles.
func TestReadDirectoryLinks(t *testing.T) {
	dir := tree(t, map[string]string{"..v1/feeds.yaml": definitionText, "..v1/sub/media.yaml": definitionText})
	for link, target := range map[string]string{
		"..data": "..v1", "feeds.yaml": "..data/feeds.yaml", "sub": "..data/sub", "loop": ".", "again": "sub", "nowhere.yaml": "gone",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "current")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{dir, link, link + "/"} {
		documents, err := new(Reader).Read(t.Context(), arg)
		if diff := cmp.Diff([]string{"again/media.yaml", "feeds.yaml"}, pathsOf(documents)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", arg, err, diff)
		}
	}
}

// TestReadPipes checks that a pipe is an error, and that reading standard input ends with its context.
func TestReadPipes(t *testing.T) {
	dir := tree(t, map[string]string{"feeds.yaml": definitionText})
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := mkfifo(pipe); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("read definition %q: not a regular file", pipe)
	for _, arg := range []string{dir, pipe} {
		if _, err := new(Reader).Read(t.Context(), arg); err == nil || err.Error() != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	endless, _ := io.Pipe()
	if _, err := (&Reader{Stdin: endless}).Read(ctx, Stdin); !errors.Is(err, context.Canceled) {
		t.Errorf("standard input after the end of its context: %v", err)
	}
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestReadLarge checks that the text of what is too large is longer than allowed, so that it is reported, and no more.
func TestReadLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]int{1000: 1000, definition.MaxSize + 1: definition.MaxSize + 1, 1 << 40: definition.MaxSize + 1} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		documents, err := new(Reader).Read(t.Context(), path)
		if err != nil || len(documents[0].Text) != want {
			t.Errorf("%d bytes: %d, %v", size, len(documents[0].Text), err)
		}
	}
}

// TestReadRevision reads directories and files of a git repository, from its root and from a subdirectory.
func TestReadRevision(t *testing.T) {
	dir := tree(t, services)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	os.RemoveAll(filepath.Join(dir, ".git"))
	if err := os.Symlink("b.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", "-A", "-f")
	git("commit", "-qm", "first")
	if err := os.WriteFile(filepath.Join(dir, "a", "staged.yaml"), []byte(definitionText), 0o644); err != nil {
		t.Fatal(err)
	}
	git("add", "-A", "-f")
	os.RemoveAll(filepath.Join(dir, "b.yaml"))

	all := []string{"a/broken.json", "a/deep/er/media.json", "a/empty.yaml", "a/feeds.yml", "b.yaml", "only-a-path.yaml"}
	below := []string{"broken.json", "deep/er/media.json", "empty.yaml", "feeds.yml"}
	for _, test := range []struct {
		in, arg string
		want    []string
	}{
		{".", "HEAD:.", all},
		{"a", "HEAD:.", below},
		{"a", "HEAD:..", all},
		{".", "HEAD:a", below},
		{".", "HEAD:a/", below},
		{".", "HEAD:b.yaml", []string{"b.yaml"}},
		{"a", "HEAD:../b.yaml", []string{"b.yaml"}},
		{".", ":a", append(below, "staged.yaml")},
		{".", ":a/staged.yaml", []string{"staged.yaml"}},
	} {
		t.Chdir(filepath.Join(dir, test.in))
		documents, err := new(Reader).Read(t.Context(), test.arg)
		if diff := cmp.Diff(test.want, pathsOf(documents)); err != nil || diff != "" {
			t.Errorf("%s in %s: %v (-want +got):\n%s", test.arg, test.in, err, diff)
		}
		for _, d := range documents {
			if text := services[filepath.Join(strings.TrimPrefix(d.Name, test.arg+"/"))]; test.arg == "HEAD:." && test.in == "." && string(d.Text) != text {
				t.Errorf("%s is %q, not %q", d.Name, d.Text, text)
			}
		}
	}
	t.Chdir(dir)
	for arg, missing := range map[string]bool{"HEAD:nowhere.yaml": true, "HEAD:a/staged.yaml": true, "nope:b.yaml": false, "HEAD:saved": false} {
		_, err := new(Reader).Read(t.Context(), arg)
		if err == nil || errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// TestFollowTruncated checks that a truncated definition is rejected, and a removed one is withdrawn.
func TestFollowTruncated(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": definitionText, "b.yaml": definitionText, "c.yaml": "openapi: 3.1.0\n"})
	var notes []string
	sources, err := Follow([]string{dir}, Options{Note: func(message string) { notes = append(notes, message) }})
	if err != nil {
		t.Fatal(err)
	}
	read := func(want ...string) {
		t.Helper()
		documents, _, err := sources[0].Read()
		if diff := cmp.Diff(want, pathsOf(documents)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	read("a.yaml", "b.yaml")
	for _, text := range []string{"", "vers", "openapi: 3.1.0\n"} {
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		read("a.yaml", "b.yaml")
	}
	os.Remove(filepath.Join(dir, "a.yaml"))
	read("b.yaml")
	if len(notes) != 1 || !strings.HasSuffix(notes[0], "c.yaml: not a definition") {
		t.Errorf("notes: %q", notes)
	}
}
