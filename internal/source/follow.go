package source

import (
	"net/http"
	"net/url"
	"slices"
)

// Source is where definitions come from that a server follows for changes.
type Source interface {
	// Name names the source in messages, without its password.
	Name() string

	// Read returns the definitions as they are now, with their sums, and whether that is something else than the last
	// call returned. With an error it returns all that can still be served: for what cannot be read, what was read
	// before. A document that is the same as at the last call can come without its text. Read never waits for the
	// network.
	Read() (documents []Document, changed bool, err error)
}

// Options say how sources are followed.
type Options struct {
	CacheDir  string            // where remote sources keep the last good state for the next start; empty for nowhere
	UserAgent string            // of requests to remote sources; empty means "signpost"
	Transport http.RoundTripper // of these requests; nil means http.DefaultTransport
	PlainHTTP bool              // ask OCI registries over http, which must be on this machine

	// Note is told, once each, of files in a directory that are skipped since they are no definitions. Nil means nobody.
	Note func(message string)
}

// Follow returns the sources that the arguments name: files, directories, addresses of definitions, and artifacts in OCI
// registries.
func Follow(args []string, opts Options) ([]Source, error) {
	if opts.Note == nil {
		opts.Note = func(string) {}
	}
	var all []Source
	for i, arg := range args {
		switch {
		case slices.Contains(args[:i], arg): // once is enough
		case IsAddress(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" {
				return nil, argumentErrorf("%q is not the address of a definition, such as https://config.example.com/feeds.yaml", arg)
			}
			origin := addressOrigin{name: u.Redacted(), address: arg, opts: opts}
			all = append(all, &polled{name: origin.name, key: arg, cache: cache{opts.CacheDir}, origin: origin})
		case IsRegistry(arg):
			registry := Registry{Transport: opts.Transport, PlainHTTP: opts.PlainHTTP, UserAgent: opts.UserAgent}
			a, err := registry.artifact(arg, false)
			if err != nil {
				return nil, err
			}
			all = append(all, &polled{name: arg, key: arg, cache: cache{opts.CacheDir}, origin: registryOrigin{a, opts.Note}})
		default:
			all = append(all, newLocal(arg, opts))
		}
	}
	return all, nil
}

// Fixed is a source that never changes.
type Fixed struct {
	Label     string // its name
	Documents []Document
	read      bool
}

// Name returns the label.
func (f *Fixed) Name() string { return f.Label }

// Read returns the documents.
func (f *Fixed) Read() ([]Document, bool, error) {
	first := !f.read
	f.read = true
	return f.Documents, first, nil
}
