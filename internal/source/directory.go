package source

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/spell"
)

// file is a file that may be a definition.
type file struct {
	name  string // path of the directory as given, and below it
	path  string // path below the directory, with slashes
	real  string // absolute path without symbolic links
	info  fs.FileInfo
	named bool // by itself, not by its directory: it counts as a definition, whatever it is
}

// read reads the file.
func (f file) read() (Document, error) {
	text, err := oversized(readfile.Limit(f.name, definition.MaxSize))
	if err != nil {
		return Document{}, readError(f.name, err)
	}
	return Document{Name: f.name, Path: f.path, Text: text, real: f.real}, nil
}

// readError names the path only once: errors of package os contain it as well, or that of a file below it.
func readError(path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		path, err = pathErr.Path, pathErr.Err
	}
	return fmt.Errorf("read definition %q: %w", path, err)
}

// maxEntries is the maximum number of files and directories below a directory, whatever they are: a hundred times as
// many as the largest project has. Whoever names / or a home directory, or edits a file there, does not mean all of it.
const maxEntries = 200_000

// ErrNoDefinitions is the cause of the error for a directory without a definition.
var ErrNoDefinitions = errors.New("the directory holds no .yaml, .yml or .json file that is a definition")

// candidate reports whether a file below a directory may be a definition, judging by its path. It skips hidden files
// and directories, which a mounted Kubernetes ConfigMap contains, lost+found of a mounted volume, Node.js packages and
// JSON schemas.
func candidate(below string) bool {
	if slices.ContainsFunc(strings.Split(below, "/"), skipped) {
		return false
	}
	below = strings.ToLower(below) // as on Windows, and as a file that is named by itself is taken
	isKnown := slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(below))
	return isKnown && !strings.HasSuffix(below, ".schema.json")
}

// skipped reports whether to skip a file or directory of this name, with everything in it.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "lost+found"
}

// list returns the file of a name, or the files in and below a directory that may be definitions, sorted by path, with
// the directories to watch for changes: for a file its parent, because a watch on the file is lost when the file is
// replaced. It follows symbolic links, because Kubernetes mounts use them, but visits nothing twice, and no directory
// that contains the one that was named: a link to / is not meant.
func list(name string) (files []file, directories []string, err error) { return walk(name, maxEntries) }

// walk is list with a limit to the entries that are visited.
func walk(name string, limit int) (files []file, directories []string, err error) {
	parent := []string{filepath.Dir(name)}
	info, err := os.Stat(name)
	if err != nil {
		return nil, parent, readError(name, err)
	}
	root, err := realPath(name)
	if err != nil {
		return nil, nil, readError(name, err)
	}
	if !info.IsDir() {
		return []file{{name, filepath.Base(name), root, info, true}}, parent, nil
	}
	w := walker{root: root, limit: limit, seen: make(map[string]bool), links: []file{{name: name}}}
	for len(w.links) > 0 {
		next, others := w.links[0], w.links[1:]
		w.links = nil
		if err := w.visit(next); err != nil {
			return nil, nil, readError(name, err)
		}
		w.links = append(w.links, others...)
	}
	slices.Sort(w.directories)
	slices.SortFunc(w.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return w.files, w.directories, nil
}

// walker collects the files of a directory.
type walker struct {
	root           string          // real path of the directory
	limit, visited int             // how many entries it may have, and how many were found
	seen           map[string]bool // real paths
	// links are followed when everything else has been visited, so that a file has the name to which no link leads.
	links       []file
	files       []file
	directories []string
}

// visit adds a file, or the files in and below a directory.
func (w *walker) visit(f file) error {
	info, err := os.Stat(f.name)
	if os.IsNotExist(err) {
		return nil // removed since the directory was listed, or a dangling link
	}
	if err == nil && f.real == "" {
		f.real, err = realPath(f.name)
	}
	if err != nil {
		return err
	}
	f.info = info
	isAround := f.real != w.root && isBelow(w.root, f.real)
	switch {
	case w.seen[f.real], info.IsDir() && isAround, !info.IsDir() && !candidate(f.path):
		return nil
	case !info.IsDir():
		w.seen[f.real] = true
		w.files = append(w.files, f)
		return nil
	}
	w.seen[f.real] = true
	w.directories = append(w.directories, f.name)
	entries, err := os.ReadDir(f.name)
	if err != nil {
		return err
	}
	w.visited += len(entries)
	if w.visited > w.limit {
		return fmt.Errorf("it holds more than %d files: name the directory of the definitions", w.limit)
	}
	for _, e := range entries {
		below := file{name: filepath.Join(f.name, e.Name()), path: path.Join(f.path, e.Name())}
		switch {
		case skipped(e.Name()):
			continue
		case e.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, below)
			continue
		}
		below.real = filepath.Join(f.real, e.Name())
		if err := w.visit(below); err != nil {
			return err
		}
	}
	return nil
}

// realPath returns an absolute path without symbolic links.
func realPath(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// isBelow reports whether an absolute path is that of a directory, or below it.
func isBelow(path, dir string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(below)
}

// listPattern is list for everything that matches a pattern of [filepath.Glob], which may be a plain path. As in other
// tools, ** stands for any number of directories, and * for no hidden file, such as the project file itself.
func listPattern(pattern string) (files []file, directories []string, err error) {
	var names []string
	root, below, isDeep := strings.Cut(filepath.ToSlash(pattern), "**/")
	patterns := []string{pattern}
	if isDeep {
		_, directories, err = list(cmp.Or(root, "."))
		if err != nil {
			return nil, nil, err
		}
		patterns = directories
	}
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(p, below))
		if err != nil {
			return nil, nil, readError(pattern, err)
		}
		names = append(names, found...)
	}
	if !skipped(filepath.Base(pattern)) {
		names = slices.DeleteFunc(names, func(name string) bool { return skipped(filepath.Base(name)) })
	}
	if len(names) == 0 {
		names = []string{pattern}
		if isPattern(pattern) {
			return nil, nil, readError(pattern, errNoMatch)
		}
	}
	seen := make(map[string]bool)
	for _, name := range names {
		below, watched, err := list(name)
		if err != nil {
			return nil, nil, err
		}
		directories = append(directories, watched...)
		for _, f := range below {
			if !seen[f.real] {
				seen[f.real] = true
				files = append(files, f)
			}
		}
	}
	return files, directories, nil
}

var errNoMatch = errors.New("no file matches the pattern")

// isPattern reports whether a path has a character that filepath.Glob does not take literally.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// statFile is os.Stat with the error of a definition.
func statFile(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, readError(name, err)
	}
	return info, nil
}

// readFiles reads a file, or the definitions in and below a directory.
func (r *Reader) readFiles(name string) ([]Document, error) {
	l := r.local(name)
	l.rest = 0
	documents, failures := l.read()
	if len(failures) > 0 {
		return nil, failures[0]
	}
	return documents, nil
}

// meant reports whether a document found in a directory is a definition, or a manifest if those count.
func (d Document) meant(manifests bool) bool {
	return definition.IsDefinition(d.Name, d.Text) || manifests && isManifest(d.Text)
}

// keepDefinitions drops documents of a directory that are not definitions, with one note about all of them.
func (r *Reader) keepDefinitions(documents []Document) ([]Document, error) {
	var others []string
	documents = slices.DeleteFunc(documents, func(d Document) bool {
		if d.meant(r.Manifests) {
			return false
		}
		others = append(others, d.Name)
		return true
	})
	if r.Note != nil && len(others) > 0 {
		r.Note(skippedNote(others))
	}
	if len(documents) == 0 {
		return nil, ErrNoDefinitions
	}
	return documents, nil
}

// MaxNamed is how many files a note names.
const MaxNamed = 3

// skippedNote counts the files of a directory that are not definitions, and names the first ones.
func skippedNote(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("skipped %s: not a definition", names[0])
	}
	return fmt.Sprintf("skipped %d files that are not definitions: %s", len(names), spell.First(names, MaxNamed))
}
