package workspace

import (
	"context"
	"fmt"

	"signpost/internal/source"
)

// Arguments name the files of a workspace.
type Arguments struct {
	Judged     []string // empty means the definitions of the project
	Registered []string // besides those of the project
	Project    Project

	Others bool // something else is judged, so the definitions of the project are not
}

// definitions returns the arguments, or the definitions of the project, which may be patterns, and those beside them.
func (a Arguments) definitions() (judged, beside []string, patterns bool) {
	if len(a.Judged) == 0 && !a.Others {
		return a.Project.Definitions, nil, true
	}
	return a.Judged, a.Project.Definitions, false
}

// Read makes a snapshot of what the arguments of a command name. If one of them cannot be read, that is an error.
func Read(ctx context.Context, reader *source.Reader, opts Options, args Arguments) (*Snapshot, error) {
	judged, beside, patterns := args.definitions()
	w := New(opts)
	add := func(role Role, patterns bool, names []string) error {
		reader.Patterns = patterns
		reader.Manifests = opts.Manifests || role == Registered
		documents, err := reader.Read(ctx, names...)
		for _, d := range documents {
			w.read.Files = append(w.read.Files, &File{Document: d, Role: role})
		}
		return err
	}
	if err := add(Judged, patterns, judged); err != nil {
		return nil, err
	}
	if err := add(Beside, true, beside); err != nil {
		return nil, fmt.Errorf("definitions of %s: %w", args.Project.Path, err)
	}
	if err := add(Registered, true, args.Project.Registered); err != nil {
		return nil, fmt.Errorf("registered in %s: %w", args.Project.Path, err)
	}
	if err := add(Registered, false, args.Registered); err != nil {
		return nil, fmt.Errorf("--registered: %w", err)
	}
	w.parse()
	return w.last, nil
}

// Follow returns a workspace of more sources and of what the arguments name. Files and directories are followed; the rest is read once, now.
func Follow(ctx context.Context, reader *source.Reader, opts Options, args Arguments, more ...Source) (*Workspace, error) {
	judged, beside, patterns := args.definitions()
	sources := more
	for _, some := range []struct {
		role     Role
		names    []string
		patterns bool
	}{
		{Judged, judged, patterns}, {Beside, beside, true}, {Registered, args.Project.Registered, true}, {Registered, args.Registered, false},
	} {
		reader.Manifests = opts.Manifests || some.role == Registered
		for _, name := range some.names {
			if !source.IsLocal(name) {
				documents, err := reader.Read(ctx, name)
				if err != nil {
					return nil, err
				}
				sources = append(sources, Source{&source.Fixed{Label: source.Shown(name), Documents: documents}, some.role})
				continue
			}
			follow := source.Options{Patterns: some.patterns, Manifests: reader.Manifests, Hasty: opts.Hasty, Note: reader.Note}
			found, err := source.Follow([]string{name}, follow)
			if err != nil {
				return nil, err
			}
			sources = append(sources, Source{found[0], some.role})
		}
	}
	return New(opts, sources...), nil
}
