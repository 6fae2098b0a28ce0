package lsp

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"signpost/definition"
	"signpost/internal/tree"
)

// workspace holds what the editor has open: folders, and documents with their unsaved text.
type workspace struct {
	folders   []string             // paths
	documents map[string]*document // by URI
	order     []string             // URIs in the order of opening
	closed    []string             // closed since the last lint; their findings must be cleared
	files     *fileCache
}

func newWorkspace() *workspace {
	return &workspace{documents: make(map[string]*document), files: &fileCache{entries: make(map[string]cachedFile)}}
}

func (w *workspace) open(in initializeParams) {
	for _, f := range in.WorkspaceFolders {
		w.addFolder(f.URI)
	}
	if len(in.WorkspaceFolders) > 0 {
		return
	}
	if in.RootURI != "" {
		w.addFolder(in.RootURI)
	} else if filepath.IsAbs(in.RootPath) {
		w.folders = append(w.folders, filepath.Clean(in.RootPath))
	}
}

func (w *workspace) addFolder(uri string) {
	if path := pathOf(uri); path != "" && !slices.Contains(w.folders, path) {
		w.folders = append(w.folders, path)
	}
}

func (w *workspace) changeFolders(in foldersChanged) {
	w.folders = slices.Clone(w.folders) // views share the old slice
	for _, f := range in.Event.Removed {
		path := pathOf(f.URI)
		w.folders = slices.DeleteFunc(w.folders, func(folder string) bool { return folder == path })
	}
	for _, f := range in.Event.Added {
		w.addFolder(f.URI)
	}
}

func (w *workspace) set(d *document) {
	w.documents = maps.Clone(w.documents) // views share the old map
	if w.documents[d.uri] == nil {
		w.order = append(slices.Clone(w.order), d.uri)
	}
	w.documents[d.uri] = d
}

func (w *workspace) close(uri string) {
	w.documents = maps.Clone(w.documents)
	delete(w.documents, uri)
	w.order = slices.DeleteFunc(slices.Clone(w.order), func(other string) bool { return other == uri })
	w.closed = append(w.closed, uri)
}

func (w *workspace) takeClosed() []string {
	closed := w.closed
	w.closed = nil
	return closed
}

// view is a snapshot of the workspace.
type view struct {
	folders   []string
	documents map[string]*document
	order     []string
	files     *fileCache
}

func (w *workspace) view() *view { return &view{w.folders, w.documents, w.order, w.files} }

// folderOf returns the workspace folder that contains a path, or "". Symbolic links are resolved first, so that a link
// cannot lead out of the workspace.
func (v *view) folderOf(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for _, folder := range v.folders {
		root, err := filepath.EvalSymlinks(folder)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return folder
		}
	}
	return ""
}

// together returns the definitions that count as registered together with a document: those in its directory, with
// unsaved text where they are open. The document comes last, because of two that clash the later one is reported.
func (v *view) together(doc *document) []*definition.File {
	var files []*definition.File
	if doc.path == "" {
		return []*definition.File{doc.file()}
	}
	open := make(map[string]*document)
	for _, other := range v.documents {
		if other.path != "" {
			open[other.path] = other
		}
	}
	for _, path := range v.siblings(doc.path) {
		if other := open[path]; other != nil {
			if other.isDefinition() {
				files = append(files, other.file())
			}
		} else if f := v.files.read(path); f != nil {
			files = append(files, f)
		}
	}
	return append(files, doc.file())
}

// siblings returns the paths of the other definitions in the directory of a file, if it is in the workspace.
func (v *view) siblings(path string) []string {
	dir := filepath.Dir(path)
	if v.folderOf(dir) == "" {
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
		if full := filepath.Join(dir, name); known && full != path && v.folderOf(full) != "" {
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
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > tree.MaxSize {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry, ok := c.entries[path]; ok && entry.modified.Equal(info.ModTime()) && entry.size == info.Size() {
		return entry.file
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, tree.MaxSize+1))
	if err != nil {
		return nil
	}
	entry := cachedFile{modified: info.ModTime(), size: info.Size()}
	if doc := newDocument(uriOf(path), 0, string(text)); doc.isDefinition() {
		entry.file = doc.file()
	}
	c.entries[path] = entry
	return entry.file
}
