package workspace

import (
	"context"
	"fmt"
	"strings"

	"signpost/internal/source"
	"signpost/internal/spell"
)

// Arguments name the files of a workspace.
type Arguments struct {
	Judged     []string // empty means the definitions of the project
	Registered []string // besides those of the project
	Project    Project

	Others bool // something else is judged, so the definitions of the project are not
}

// part is some of the arguments, with the role of their files.
type part struct {
	role     Role
	names    []string
	patterns bool   // names may be patterns, because the project has them
	label    string // for errors; empty for what the user has just typed
}

// parts returns the arguments, or the definitions of the project, and what is beside them.
func (a Arguments) parts() []part {
	definitions := "definitions of " + a.Project.Path
	judged, beside := part{Judged, a.Judged, false, ""}, part{Beside, a.Project.Definitions, true, definitions}
	if len(a.Judged) == 0 && !a.Others {
		judged, beside = part{Judged, a.Project.Definitions, true, ""}, part{}
	}
	return []part{
		judged, beside,
		{Registered, a.Project.Registered, true, "registered in " + a.Project.Path},
		{Registered, a.Registered, false, "--registered"},
	}
}

// explain says which part of the arguments an error is about.
func (p part) explain(err error) error {
	if err == nil || p.label == "" {
		return err
	}
	return fmt.Errorf("%s: %w", p.label, err)
}

// Read makes a snapshot of what the arguments of a command name. If one of them cannot be read, that is an error.
func Read(ctx context.Context, reader *source.Reader, opts Options, args Arguments) (*Snapshot, error) {
	w := New(opts)
	for _, p := range args.parts() {
		reader.Patterns, reader.Manifests = p.patterns, opts.Manifests || p.role == Registered
		documents, err := reader.Read(ctx, p.names...)
		if err != nil {
			return nil, p.explain(err)
		}
		for _, d := range documents {
			w.read.Files = append(w.read.Files, &File{Document: d, Role: p.role})
		}
	}
	w.parse()
	if left := w.last.LeftOut; reader.Note != nil && len(left) > 0 {
		var names []string
		for _, f := range left {
			name := f.Name
			if len(f.Versions) > 0 {
				name = strings.Join(f.Versions, " and ") + " of " + name
			}
			if len(f.Definition.Hosts) == 0 { // which would tell it from a service on another host
				name += " (without hosts)"
			}
			names = append(names, name)
		}
		reader.Note("other states of the same services are left out: " + spell.First(names, source.MaxNamed))
	}
	return w.last, nil
}

// Follow returns a workspace of sources, and of what the arguments name. Files and directories are followed; the rest
// is read once, now.
func Follow(
	ctx context.Context, reader *source.Reader, opts Options, args Arguments, sources ...Source,
) (*Workspace, error) {
	reader.Hasty = opts.Hasty
	for _, p := range args.parts() {
		reader.Patterns, reader.Manifests = p.patterns, opts.Manifests || p.role == Registered
		for _, name := range p.names {
			if source.IsLocal(name) {
				found, err := reader.Follow(name)
				if err != nil {
					return nil, p.explain(err)
				}
				sources = append(sources, Source{found[0], p.role})
				continue
			}
			documents, err := reader.Read(ctx, name)
			if err != nil {
				return nil, p.explain(err)
			}
			sources = append(sources, Source{&source.Fixed{Label: source.Shown(name), Documents: documents}, p.role})
		}
	}
	return New(opts, sources...), nil
}
