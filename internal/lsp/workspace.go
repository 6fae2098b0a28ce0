package lsp

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/tree"
)

// workspace has the open documents with their unsaved text. It is immutable.
type workspace struct {
	documents map[string]*document // by URI
	files     *fileCache
}

// with returns the workspace with another document or, if that is nil, without it.
func (w *workspace) with(uri string, d *document) *workspace {
	next := &workspace{make(map[string]*document), w.files}
	maps.Copy(next.documents, w.documents)
	if d == nil {
		delete(next.documents, uri)
	} else {
		next.documents[uri] = d
	}
	return next
}

// together returns the definitions that count as registered together with a document: those in its directory, with
// unsaved text where they are open. The document comes last, because of two that clash the later one is reported.
// Symbolic links are skipped, because they may lead out of the project.
func (w *workspace) together(doc *document) []*definition.File {
	open := make(map[string]*document)
	for _, other := range w.documents {
		open[other.path] = other
	}
	var files []*definition.File
	for _, e := range doc.siblings() {
		var file *definition.File
		path := filepath.Join(filepath.Dir(doc.path), e.Name())
		if other := open[path]; other != nil {
			file = other.definition()
		} else {
			file = w.files.read(path)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	return append(files, doc.file())
}

// siblings returns the other files in the directory of a document that may be definitions.
func (d *document) siblings() []fs.DirEntry {
	if d.path == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Dir(d.path)) // none if it cannot be read
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		known := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name()))
		return e.Name() == filepath.Base(d.path) || !known || e.Name()[0] == '.' || !e.Type().IsRegular()
	})
}

// fileCache caches files read from disk until they change.
type fileCache struct{ sync.Map } // of cachedFile by path

type cachedFile struct {
	modified time.Time
	size     int64
	file     *definition.File // nil if the file is not a definition
}

// read returns the definition at a path, or nil if it cannot be read or is something else.
func (c *fileCache) read(path string) *definition.File {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	stored, _ := c.Load(path)
	if known, ok := stored.(cachedFile); ok && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known.file
	}
	text, err := readfile.Limit(path, tree.MaxSize)
	if err != nil {
		return nil
	}
	file := newDocument(uriOf(path), 0, string(text)).definition()
	c.Store(path, cachedFile{info.ModTime(), info.Size(), file})
	return file
}
