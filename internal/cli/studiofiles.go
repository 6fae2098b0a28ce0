package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"

	"signpost/definition"
	"signpost/internal/source"
	"signpost/studio"
)

// studioFiles holds the files that the studio page shows, and those that only count as registered.
type studioFiles struct {
	read      func(ctx context.Context, args ...string) ([]source.Document, error)
	arguments []studioArgument
}

// studioArgument is an argument and what was last read from it.
type studioArgument struct {
	arg        string
	watched    bool // a path that can change
	registered bool // it comes from --registered
	files      []studio.File
	failure    string
}

// openStudioFiles reads the arguments.
func (c *CLI) openStudioFiles(ctx context.Context, args, registered []string) (*studioFiles, error) {
	all := &studioFiles{read: c.reader().Read}
	for i, arg := range slices.Concat(args, registered) {
		documents, err := all.read(ctx, arg)
		if err != nil {
			return nil, err
		}
		a := studioArgument{arg: arg, registered: i >= len(args)}
		if _, err := os.Stat(arg); err == nil && arg != source.Stdin {
			a.watched = true
		}
		for _, d := range documents {
			a.files = append(a.files, studioFile(d, a.watched, a.registered))
		}
		all.arguments = append(all.arguments, a)
	}
	return all, nil
}

func studioFile(d source.Document, onDisk, registered bool) studio.File {
	f := studio.File{Definition: d.Parse(), Text: d.Text, Registered: registered}
	if path, err := filepath.Abs(d.Name); err == nil && onDisk {
		f.Path = path
	}
	return f
}

// files returns all files, in the order of the arguments.
func (all *studioFiles) files() []studio.File {
	var files []studio.File
	for _, a := range all.arguments {
		files = append(files, a.files...)
	}
	return files
}

// definitions returns the files that get findings.
func (all *studioFiles) definitions() []*definition.File {
	var files []*definition.File
	for _, f := range all.files() {
		if !f.Registered {
			files = append(files, f.Definition)
		}
	}
	return files
}

// watch updates the page whenever a file changes, until ctx is canceled.
func (all *studioFiles) watch(ctx context.Context, page *studio.Studio) {
	var paths []string
	for _, a := range all.arguments {
		if a.watched {
			paths = append(paths, a.arg)
		}
	}
	if len(paths) == 0 {
		return
	}
	source.Watcher{Directories: func() []string { return source.DirectoriesOf(paths...) }}.Run(ctx, func(bool) {
		changed := false
		for i := range all.arguments {
			if all.arguments[i].watched {
				changed = all.look(ctx, &all.arguments[i]) || changed
			}
		}
		if changed {
			page.SetFiles(all.files()...)
		}
	})
}

// look reads an argument again, and reports whether anything has changed.
func (all *studioFiles) look(ctx context.Context, a *studioArgument) bool {
	documents, err := all.read(ctx, a.arg)
	if err != nil {
		if err.Error() == a.failure {
			return false
		}
		a.failure = err.Error()
		for i, f := range a.files {
			name := f.Name
			if f.Definition != nil {
				name = f.Definition.Name
			}
			a.files[i] = studio.File{Name: name, Err: err, Registered: a.registered}
		}
		return true
	}
	changed := a.failure != "" || len(documents) != len(a.files)
	a.failure = ""
	var files []studio.File
	for _, d := range documents {
		next := studio.File{}
		for _, known := range a.files {
			if known.Definition != nil && known.Definition.Name == d.Name && bytes.Equal(known.Text, d.Text) {
				next = known
			}
		}
		if next.Definition == nil {
			next, changed = studioFile(d, true, a.registered), true
		}
		files = append(files, next)
	}
	a.files = files
	return changed
}
