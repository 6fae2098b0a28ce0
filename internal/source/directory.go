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
	return Document{Name: f.name, Path: f.path, Text: text, real: f.real}, err
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
	info, err := os.Stat(name)
	root, realErr := realPath(name)
	err = cmp.Or(err, realErr)
	if err != nil || !info.IsDir() {
		directories = []string{filepath.Dir(name)}
		if err != nil {
			return nil, directories, readError(name, err)
		}
		return []file{{name, filepath.Base(name), root, info, true}}, directories, nil
	}
	visited := 0
	seen := make(map[string]bool) // real paths
	waiting, links := []file{{name: name, real: root}}, []file(nil)
	for len(waiting)+len(links) > 0 {
		if len(waiting) == 0 { // last, so that a file has the name to which no link leads
			waiting, links = links[:1], links[1:]
		}
		f := waiting[0]
		waiting = waiting[1:]
		err := f.resolve()
		isDir := err == nil && f.info.IsDir()
		isAround := f.real != root && isBelow(root, f.real)
		switch {
		case os.IsNotExist(err): // removed since the directory was listed, or a dangling link
			continue
		case err != nil:
			return nil, nil, readError(name, err)
		case seen[f.real], isDir && isAround, !isDir && !candidate(f.path):
			continue
		}
		seen[f.real] = true
		if !isDir {
			files = append(files, f)
			continue
		}
		directories = append(directories, f.name)
		entries, err := os.ReadDir(f.name)
		visited += len(entries)
		if err == nil && visited > limit {
			err = fmt.Errorf("it holds more than %d files: name the directory of the definitions", limit)
		}
		if err != nil {
			return nil, nil, readError(name, err)
		}
		for _, e := range entries {
			below := file{name: filepath.Join(f.name, e.Name()), path: path.Join(f.path, e.Name())}
			switch {
			case skipped(e.Name()):
			case e.Type()&fs.ModeSymlink != 0:
				links = append(links, below)
			default:
				below.real = filepath.Join(f.real, e.Name())
				waiting = append(waiting, below)
			}
		}
	}
	slices.Sort(directories)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files, directories, nil
}

// resolve finds out what the name of a file stands for.
func (f *file) resolve() (err error) {
	f.info, err = os.Stat(f.name)
	if err == nil && f.real == "" {
		f.real, err = realPath(f.name)
	}
	return err
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
