package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/tree"
)

// findings lints a document. The other definitions in its directory count as registered together with it. A file that is
// not a definition has no findings: editors open all kinds of YAML.
func (s *server) findings(doc *document) []signpost.Finding {
	if doc.definition() == nil {
		return nil
	}
	// The document comes last, because of two that clash the later one is reported.
	found := definition.Lint(append(s.siblings(doc), doc.file())...)
	return slices.DeleteFunc(found, func(f signpost.Finding) bool { return f.File != doc.name() })
}

// siblings returns the other definitions in the directory of a document, with unsaved text where they are open. Symbolic
// links are skipped, because they may lead out of the project.
func (s *server) siblings(doc *document) []*definition.File {
	open := make(map[string]*document)
	for _, other := range s.documents {
		open[other.path] = other
	}
	var files []*definition.File
	entries, _ := os.ReadDir(filepath.Dir(doc.path)) // none if it cannot be read
	for _, e := range entries {
		known := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name()))
		if doc.path == "" || e.Name() == filepath.Base(doc.path) || !known || e.Name()[0] == '.' || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(filepath.Dir(doc.path), e.Name())
		file := s.read(path)
		if other := open[path]; other != nil {
			file = other.definition()
		}
		if file != nil {
			files = append(files, file)
		}
	}
	return files
}

// cachedFile is a file read from disk. It is read again when it changes.
type cachedFile struct {
	modified time.Time
	size     int64
	file     *definition.File // nil if the file is not a definition
}

// read returns the definition at a path, or nil if it cannot be read or is something else.
func (s *server) read(path string) *definition.File {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	known, ok := s.files[path]
	if !ok || !known.modified.Equal(info.ModTime()) || known.size != info.Size() {
		text, err := readfile.Limit(path, tree.MaxSize)
		if err != nil {
			return nil
		}
		known = cachedFile{modified: info.ModTime(), size: info.Size()}
		if isDefinition(path, text) {
			known.file = definition.Parse(path, text)
		}
		s.files[path] = known
	}
	return known.file
}
