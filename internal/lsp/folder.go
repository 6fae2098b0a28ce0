package lsp

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"signpost"
	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/source"
	"signpost/internal/workspace"
)

// folder is what is registered together with a document: the project that it is in, or else the files of its directory.
type folder struct {
	*workspace.Workspace
	text     string              // of the project file
	now      *workspace.Snapshot // nil if files are to be read again
	failures string              // as last reported
}

// findings judges a document as signpost lint does: with the other definitions of its project, or of its directory.
func (s *server) findings(doc *document) []signpost.Finding {
	found, ok := s.judged[doc.uri]
	if !ok {
		found = s.judge(doc)
		s.judged[doc.uri] = found
	}
	return found
}

// judge determines the findings of a document. A file that is not a definition has none: editors open all kinds of
// YAML.
func (s *server) judge(doc *document) []signpost.Finding {
	switch {
	case doc.isProject(), doc.path == "" && doc.meant:
		return definition.Lint(doc.file())
	case doc.path == "":
		return nil
	}
	f := s.folderOf(doc)
	file := f.fileAt(doc.path)
	isNamed := file != nil && file.Role == workspace.Judged // by the project, or it is a definition on disk
	if !doc.meant && !isNamed {
		return nil
	}
	return f.now.FindingsOf(doc.path)
}

func (f *folder) fileAt(path string) *workspace.File {
	i := slices.IndexFunc(f.now.Files, func(file *workspace.File) bool { return file.ID() == path })
	if i < 0 {
		return nil
	}
	return f.now.Files[i]
}

// folderOf returns the folder of a document, as it is now: with the texts in the editor over those of its files.
func (s *server) folderOf(doc *document) *folder {
	f := s.followed(doc)
	if f.now == nil {
		f.now = f.Look()
		s.reportFailures(f)
	}
	texts := make(map[string]string)
	for _, other := range s.documents {
		isFile := other.path != "" && !other.isProject()
		if isFile && (s.followed(other) == f || f.fileAt(other.path) != nil) {
			texts[other.path] = other.text
		}
	}
	f.now = f.Lay(texts)
	return f
}

// followed returns the folder of a document, as it was last read.
func (s *server) followed(doc *document) *folder {
	dir := filepath.Dir(doc.path)
	path, hasProject := workspace.FindProject(dir)
	if !hasProject {
		path = dir
	}
	f := s.folders[path]
	if f != nil && f.now != nil {
		return f
	}
	text, _ := readfile.Limit(path, definition.MaxSize) // empty for a directory, and for what cannot be read
	if f != nil && f.text == string(text) {
		return f
	}
	f = &folder{text: string(text)}
	args := workspace.Arguments{Judged: []string{dir}}
	if hasProject {
		args = workspace.Arguments{Project: s.project(path, text)}
	}
	opts := workspace.Options{Hasty: true, Definition: args.Project.Options(definition.Options{KeepTree: true})}
	var err error
	f.Workspace, err = workspace.Follow(context.Background(), new(source.Reader), opts, args)
	if err != nil {
		s.opts.Log.Warn("files cannot be read", "error", err)
		f.Workspace = workspace.New(opts)
	}
	s.folders[path] = f
	return f
}

// project returns what a project file says, and tells the user what does not count: addresses, which are not fetched,
// or all of it, if it has errors.
func (s *server) project(path string, text []byte) workspace.Project {
	project := workspace.ParseProject(path, text)
	if findings := project.Findings(); len(findings) > 0 {
		first := findings[0]
		s.logMessage("Signpost judges documents without %s: line %d: %s", path, first.Line, first.Message)
		return workspace.Project{Path: path}
	}
	definitions, others := cutAddresses(project.Definitions)
	registered, addresses := cutAddresses(project.Registered)
	others = append(others, addresses...)
	if len(others) > 0 {
		s.logMessage("Signpost does not fetch what %s registers at other places; signpost lint does: %s",
			path, strings.Join(others, ", "))
	}
	project.Definitions, project.Registered = definitions, registered
	return project
}

// reportFailures tells the user which files do not take part, once.
func (s *server) reportFailures(f *folder) {
	failures := ""
	for _, failed := range f.now.Failures {
		unsaved := errors.Is(failed.Err, source.ErrNoDefinitions) || errors.Is(failed.Err, fs.ErrNotExist)
		if !unsaved { // the document may be the first one in its directory
			failures += "\n" + failed.Err.Error()
		}
	}
	if failures != f.failures && failures != "" {
		s.logMessage("Signpost judges documents without what it cannot read:%s", failures)
	}
	f.failures = failures
}

// cutAddresses separates files from what only a network or another program has.
func cutAddresses(sources []string) (local, others []string) {
	for _, arg := range sources {
		if source.IsLocal(arg) {
			local = append(local, arg)
		} else {
			others = append(others, source.Shown(arg))
		}
	}
	return local, others
}

// readAgain makes the next findings look for files that have changed.
func (s *server) readAgain() {
	for _, f := range s.folders {
		f.now = nil
	}
}
