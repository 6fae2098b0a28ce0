package lsp

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/tree"
)

// workspace is what the editor has open: folders, and documents with their unsaved text. It is immutable.
type workspace struct {
	folders   []string             // paths
	documents map[string]*document // by URI
	files     *fileCache
}

func newWorkspace() *workspace {
	return &workspace{documents: make(map[string]*document), files: &fileCache{entries: make(map[string]cachedFile)}}
}

func (w *workspace) changeFolders(added, removed []workspaceFolder) *workspace {
	next := *w
	next.folders = slices.DeleteFunc(slices.Clone(w.folders), func(folder string) bool {
		return slices.ContainsFunc(removed, func(f workspaceFolder) bool { return pathOf(f.URI) == folder })
	})
	for _, f := range added {
		if path := pathOf(f.URI); path != "" {
			next.folders = append(next.folders, path)
		}
	}
	return &next
}

// with returns the workspace with another document or, if that is nil, without it.
func (w *workspace) with(uri string, d *document) *workspace {
	next := *w
	next.documents = maps.Clone(w.documents)
	if d == nil {
		delete(next.documents, uri)
	} else {
		next.documents[uri] = d
	}
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
// unsaved text where they are open, if it is in a folder of the workspace. The document comes last, because of two that
// clash the later one is reported. Symbolic links are skipped, because they may lead out of the workspace.
func (w *workspace) together(doc *document) []*definition.File {
	var files []*definition.File
	open := make(map[string]*document)
	for _, other := range w.documents {
		open[other.path] = other
	}
	dir := filepath.Dir(doc.path)
	if doc.path != "" && w.contains(dir) {
		entries, _ := os.ReadDir(dir) // none if it cannot be read
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			known := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path))
			if path == doc.path || !known || e.Name()[0] == '.' || !e.Type().IsRegular() {
				continue
			}
			var file *definition.File
			if other := open[path]; other != nil {
				file = other.definition()
			} else {
				file = w.files.read(path)
			}
			if file != nil {
				files = append(files, file)
			}
		}
	}
	return append(files, doc.file())
}

// fileCache caches files read from disk until they change.
type fileCache struct {
	mu      sync.Mutex
	entries map[string]cachedFile
}

type cachedFile struct {
	info fs.FileInfo
	file *definition.File // nil if the file is not a definition
}

// read returns the definition at a path, or nil if it cannot be read or is something else.
func (c *fileCache) read(path string) *definition.File {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.entries[path]
	if known.info != nil && known.info.ModTime().Equal(info.ModTime()) && known.info.Size() == info.Size() {
		return known.file
	}
	text, err := readfile.Limit(path, tree.MaxSize)
	if err != nil {
		return nil
	}
	file := newDocument(uriOf(path), 0, string(text)).definition()
	c.entries[path] = cachedFile{info, file}
	return file
}
