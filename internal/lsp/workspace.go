package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/tree"
)

// workspace is what the editor has open: folders, and documents with their unsaved text. It is immutable.
type workspace struct {
	folders   []string             // paths
	documents map[string]*document // by URI
	order     []string             // URIs in the order of opening
	files     *fileCache
}

func newWorkspace() *workspace {
	return &workspace{files: &fileCache{entries: make(map[string]cachedFile)}}
}

// open returns the workspace with the folders that the editor names when it starts.
func (w *workspace) open(in initializeParams) *workspace {
	folders := in.WorkspaceFolders
	if len(folders) == 0 && in.RootURI != "" {
		folders = []workspaceFolder{{URI: in.RootURI}}
	}
	return w.changeFolders(folders, nil)
}

func (w *workspace) changeFolders(added, removed []workspaceFolder) *workspace {
	next := *w
	next.folders = slices.Clone(w.folders)
	for _, f := range removed {
		next.folders = slices.DeleteFunc(next.folders, func(folder string) bool { return folder == pathOf(f.URI) })
	}
	for _, f := range added {
		if path := pathOf(f.URI); path != "" && !slices.Contains(next.folders, path) {
			next.folders = append(next.folders, path)
		}
	}
	return &next
}

// with returns the workspace with a document.
func (w *workspace) with(d *document) *workspace {
	next := w.without(d.uri)
	next.documents[d.uri] = d
	if next.order = w.order; w.documents[d.uri] == nil {
		next.order = append(slices.Clone(w.order), d.uri)
	}
	return next
}

// without returns the workspace without a document.
func (w *workspace) without(uri string) *workspace {
	next := *w
	next.documents = make(map[string]*document)
	maps.Copy(next.documents, w.documents)
	delete(next.documents, uri)
	next.order = slices.DeleteFunc(slices.Clone(w.order), func(other string) bool { return other == uri })
	return &next
}

// contains reports whether a directory is in a folder of the workspace.
func (w *workspace) contains(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(w.folders, func(folder string) bool {
		root, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// together returns the definitions that count as registered together with a document: those in its directory, with
// unsaved text where they are open. The document comes last, because of two that clash the later one is reported.
func (w *workspace) together(doc *document) []*definition.File {
	var files []*definition.File
	open := make(map[string]*document)
	for _, other := range w.documents {
		open[other.path] = other
	}
	for _, path := range w.siblings(doc.path) {
		if other := open[path]; other == nil {
			if f := w.files.read(path); f != nil {
				files = append(files, f)
			}
		} else if other.isDefinition() {
			files = append(files, other.file())
		}
	}
	return append(files, doc.file())
}

// siblings returns the paths of the other definitions in the directory of a file, if it is in the workspace. Symbolic
// links are skipped, because they may lead out of it.
func (w *workspace) siblings(path string) []string {
	dir := filepath.Dir(path)
	if path == "" || !w.contains(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		known := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) &&
			!strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".schema.json")
		if full := filepath.Join(dir, name); known && full != path && e.Type().IsRegular() {
			paths = append(paths, full)
		}
	}
	return paths
}

// fileCache caches files read from disk until they change.
type fileCache struct {
	mu      sync.Mutex
	entries map[string]cachedFile
}

type cachedFile struct {
	modified time.Time
	size     int64
	file     *definition.File // nil if the file is not a definition
}

// read returns the definition at a path, or nil if it cannot be read or is something else.
func (c *fileCache) read(path string) *definition.File {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[path]
	if ok && entry.modified.Equal(info.ModTime()) && entry.size == info.Size() {
		return entry.file
	}
	text, err := readfile.Limit(path, tree.MaxSize)
	if err != nil {
		return nil
	}
	entry = cachedFile{modified: info.ModTime(), size: info.Size()}
	if doc := newDocument(uriOf(path), 0, string(text)); doc.isDefinition() {
		entry.file = doc.file()
	}
	c.entries[path] = entry
	return entry.file
}
