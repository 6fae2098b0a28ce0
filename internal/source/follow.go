package source

import (
	"net/url"
	"slices"
)

// Source is a source of definitions that a server watches for changes.
type Source interface {
	// Name returns the name of the source for messages, without its password.
	Name() string

	// Read returns the current definitions with their sums. With an error, it returns everything that can still be
	// served: old documents for those that cannot be read. A file has its text only when that is new: a server needs
	// none after it has published it, and thousands are a seventh of its memory at rest (go run ./bench growth). Read
	// never waits for the network.
	Read() ([]Document, error)
}

// Follow returns the sources that the arguments name: files, directories, URLs of definitions, artifacts in OCI
// registries, and what never changes, standard input and git revisions. It reads nothing. Later changes to the reader
// do not change how they are read.
func (r *Reader) Follow(args ...string) ([]Source, error) {
	options := *r
	r = &options
	var all []Source
	for i, arg := range args {
		switch {
		case slices.Contains(args[:i], arg): // named twice
		case IsAddress(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" {
				return nil, argumentErrorf("%q is not the address of a definition, such as "+
					"https://config.example.com/feeds.yaml", Shown(arg))
			}
			all = append(all, newRemote(arg, r.CacheDir, r.fetchAddress(arg)))
		case IsRegistry(arg):
			a, err := r.artifact(arg, false)
			if err != nil {
				return nil, err
			}
			all = append(all, newRemote(arg, r.CacheDir, a.fetch))
		case arg == Stdin || isRevision(arg):
			all = append(all, newOnce(arg, r))
		default:
			all = append(all, r.local(arg))
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
