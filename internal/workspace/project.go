package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"signpost"
	"signpost/definition"
	"signpost/internal/readfile"
	"signpost/internal/source"
)

// Project is a project file. Its zero value stands for none.
type Project struct {
	Path        string   // as findings have it; "" if there is none
	Definitions []string // patterns that the process can read
	Registered  []string // sources that the process can read

	parsed definition.Project
}

// FindProject returns the project file of a directory: in it, or above it up to the root of the repository. A directory
// that is in no repository has only its own.
func FindProject(dir string) (path string, found bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for root := cmp.Or(RepositoryRoot(dir), dir); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, definition.ProjectName)
		if exists(path) || dir == root {
			return path, exists(path)
		}
	}
}

// RepositoryRoot returns the absolute path of the root of the git repository that a directory is in, or "".
func RepositoryRoot(dir string) string {
	at, err := filepath.Abs(dir)
	for ; err == nil; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) { // a directory, or a file in a worktree
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Lstat(path) // a link to nothing is an error when it is read
	return err == nil
}

// ReadProject reads a project file. A name of "" stands for none.
func ReadProject(name string) (Project, error) {
	if name == "" {
		return Project{}, nil
	}
	text, err := readfile.Limit(name, definition.MaxSize)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		return Project{}, fmt.Errorf("read project %q: %w", name, err)
	}
	return ParseProject(name, text), nil
}

// ParseProject is ReadProject for a text.
func ParseProject(name string, text []byte) Project {
	p := Project{Path: name, parsed: *definition.ParseProject(name, text)}
	for _, pattern := range p.parsed.Definitions {
		p.Definitions = append(p.Definitions, p.resolve(pattern))
	}
	for _, arg := range p.parsed.Registered {
		p.Registered = append(p.Registered, p.resolve(arg))
	}
	return p
}

// resolve makes a path of the project one of the process. Addresses and git revisions stay as they are.
func (p Project) resolve(arg string) string {
	if filepath.IsAbs(arg) || !source.IsLocal(arg) {
		return arg
	}
	return filepath.Join(filepath.Dir(p.Path), filepath.FromSlash(arg))
}

// File returns the project file for messages, or nil if there is none.
func (p Project) File() *definition.File { return p.parsed.File() }

// Findings returns what is wrong in the project file.
func (p Project) Findings() []signpost.Finding {
	if p.Path == "" {
		return nil
	}
	return p.parsed.Errors()
}

// Options adds what the project says to how definitions are parsed.
func (p Project) Options(opts definition.Options) definition.Options {
	if len(opts.Hosts) == 0 {
		opts.Hosts = p.parsed.Hosts
	}
	if p.parsed.ContextKeys == nil {
		return opts
	}
	keys := maps.Clone(p.parsed.ContextKeys)
	maps.Copy(keys, opts.ContextKeys)
	opts.ContextKeys = keys
	return opts
}
