package cli

import (
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
}

// openStudioFiles reads the arguments.
func (c *CLI) openStudioFiles(ctx context.Context, args, registered []string) (*studioFiles, error) {
	all := &studioFiles{read: c.reader().Read}
	for i, arg := range slices.Concat(args, registered) {
		a := studioArgument{arg: arg, registered: i >= len(args)}
		_, err := os.Stat(arg)
		a.watched = err == nil && arg != source.Stdin
		if a.files, err = all.look(ctx, a); err != nil {
			return nil, err
		}
		all.arguments = append(all.arguments, a)
	}
	return all, nil
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
		for i := range all.arguments {
			a := &all.arguments[i]
			if !a.watched {
				continue
			}
			files, err := all.look(ctx, *a)
			if err == nil {
				a.files = files
			}
			for i := range a.files { // which stay, and say why
				a.files[i].Err = err
			}
		}
		page.SetFiles(all.files()...) // which finds out what has changed
	})
}

// look reads an argument.
func (all *studioFiles) look(ctx context.Context, a studioArgument) ([]studio.File, error) {
	documents, err := all.read(ctx, a.arg)
	if err != nil {
		return nil, err
	}
	var files []studio.File
	for _, d := range documents {
		f := studio.File{Definition: d.Parse(), Text: d.Text, Registered: a.registered}
		if path, err := filepath.Abs(d.Name); err == nil && a.watched {
			f.Path = path
		}
		files = append(files, f)
	}
	return files, nil
}
