package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"signpost/internal/source"
	"signpost/studio"
)

// studioArguments are the arguments of studio that name files, and those of --registered.
type studioArguments []*studioArgument

// studioArgument is an argument and what was last read from it.
type studioArgument struct {
	arg        string
	watched    bool // a path that can change
	registered bool // it comes from --registered
	files      []studio.File
}

// readStudio reads the arguments.
func readStudio(ctx context.Context, reader *source.Reader, args, registered []string) (studioArguments, error) {
	var all studioArguments
	for i, arg := range slices.Concat(args, registered) {
		_, err := os.Stat(arg)
		a := &studioArgument{arg: arg, watched: err == nil && arg != source.Stdin, registered: i >= len(args)}
		if err := a.read(ctx, reader); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// read reads the argument. If that fails, the files from before stay, and say why.
func (a *studioArgument) read(ctx context.Context, reader *source.Reader) error {
	documents, err := reader.Read(ctx, a.arg)
	if err != nil {
		for i := range a.files {
			a.files[i].Err = err
		}
		return err
	}
	a.files = nil
	for _, d := range documents {
		f := studio.File{Definition: d.Parse(), Text: d.Text, Registered: a.registered}
		if path, err := filepath.Abs(d.Name); err == nil && a.watched {
			f.Path = path
		}
		a.files = append(a.files, f)
	}
	return nil
}

// files returns all files, in the order of the arguments.
func (all studioArguments) files() []studio.File {
	var files []studio.File
	for _, a := range all {
		files = append(files, a.files...)
	}
	return files
}

// watched returns the arguments that can change.
func (all studioArguments) watched() (args studioArguments, paths []string) {
	for _, a := range all {
		if a.watched {
			args, paths = append(args, a), append(paths, a.arg)
		}
	}
	return args, paths
}

// watch updates the page whenever a file changes, until ctx is canceled.
func (all studioArguments) watch(ctx context.Context, reader *source.Reader, page *studio.Studio) {
	watched, paths := all.watched()
	if len(paths) == 0 {
		return
	}
	source.Watcher{Directories: func() []string { return source.DirectoriesOf(paths...) }}.Run(ctx, func(bool) {
		for _, a := range watched {
			a.read(ctx, reader) // its files say if it failed
		}
		page.SetFiles(all.files()...) // which finds out what has changed
	})
}
