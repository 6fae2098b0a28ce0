package source

import (
	"io"
	"net/http"
	"net/url"
	"slices"
)

// Source is a source of definitions that a server watches for changes.
type Source interface {
	// Name returns the name of the source for messages, without its password.
	Name() string

	// Read returns the current definitions with their sums. With an error, it returns everything that can still be
	// served: old documents for those that cannot be read. Read never waits for the network.
	Read() ([]Document, error)
}

// Options configure how sources are followed.
type Options struct {
	Stdin     io.Reader         // contents of "-"; nil means empty
	CacheDir  string            // caches the last good state of remote sources for the next start; empty disables that
	UserAgent string            // for requests to remote sources; empty means "signpost"
	Transport http.RoundTripper // for these requests; nil means http.DefaultTransport

	// Patterns makes an argument that is a path also match other files, as [filepath.Glob] does: those of a project
	// file.
	Patterns bool

	// Manifests makes a directory include the manifests in it, not only the definitions.
	Manifests bool

	// Hasty makes files be read as soon as they change, and read again if they were incomplete: in an editor.
	Hasty bool

	// Once makes Read return the text of a local file only when it is new: a server needs no text after it has published
	// it, and thousands of them are a seventh of its memory at rest (go run ./bench growth).
	Once bool

	// Note is called with a line about the files in a directory that are skipped because they are not definitions, once
	// about each file. It may be nil.
	Note func(message string)
}

// Follow returns the sources that the arguments name: files, directories, URLs of definitions, artifacts in OCI
// registries, and what never changes, standard input and git revisions. It reads nothing.
func Follow(args []string, opts Options) ([]Source, error) {
	reader := &Reader{Stdin: opts.Stdin, Note: opts.Note}
	var all []Source
	for i, arg := range args {
		switch {
		case slices.Contains(args[:i], arg): // named twice
		case IsAddress(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" {
				return nil, argumentErrorf("%q is not the address of a definition, such as https://config.example.com/feeds.yaml", Shown(arg))
			}
			all = append(all, newRemote(arg, opts.CacheDir, fetchAddress(arg, opts)))
		case IsRegistry(arg):
			registry := Registry{Transport: opts.Transport, UserAgent: opts.UserAgent}
			a, err := registry.artifact(arg, false)
			if err != nil {
				return nil, err
			}
			a.keep = reader.keepDefinitions
			all = append(all, newRemote(arg, opts.CacheDir, a.fetch))
		case arg == Stdin || isRevision(arg):
			all = append(all, newOnce(arg, reader))
		default:
			l := newLocal(arg, opts.Note)
			l.manifests = opts.Manifests
			if opts.Patterns {
				l.match = listPattern
			}
			if opts.Hasty {
				l.rest = 0
			}
			l.once = opts.Once
			all = append(all, l)
		}
	}
	return all, nil
}

// Fixed is a source that never changes.
type Fixed struct {
	Label     string // its name
	Documents []Document
}

// Name returns the label.
func (f *Fixed) Name() string { return f.Label }

// Read returns the documents.
func (f *Fixed) Read() ([]Document, error) { return f.Documents, nil }
