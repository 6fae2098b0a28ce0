package source

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"time"
)

// Source is where definitions come from that a server follows for changes.
type Source interface {
	// Read returns the definitions as they are now. With an error it returns all that can still be served: for
	// what cannot be read, what was read before. It never waits for the network.
	Read() ([]Document, error)
}

// Remote is a source on another machine. Read returns what Fetch last brought.
type Remote interface {
	Source

	// Name names the source in messages, without its password.
	Name() string

	// Fetch asks once for what is new, and reports whether Read has something new to say, a new error included.
	// It returns in bounded time, and at the latest when ctx ends.
	Fetch(ctx context.Context) bool

	// Keep stores what Read returns for a later Restore. When it returns without an error, the copy is durable;
	// until then the one before is intact. Without a cache it does nothing.
	Keep() error

	// Restore makes Read return what was kept, and reports whether there was something.
	Restore() (bool, error)
}

// Options say how sources are followed.
type Options struct {
	CacheDir  string // where remote sources keep the last good state for the next start; empty for nowhere
	UserAgent string // of requests to remote sources; empty means "signpost"
}

// Follow returns the sources that the arguments name: files, directories and addresses of definitions.
func Follow(args []string, opts Options) ([]Source, error) {
	var all []Source
	for i, arg := range args {
		switch {
		case slices.Contains(args[:i], arg): // once is enough
		case IsAddress(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" {
				return nil, argumentErrorf("%q is not the address of a definition, such as https://config.example.com/feeds.yaml", arg)
			}
			all = append(all, &address{name: u.Redacted(), address: arg, opts: opts})
		default:
			all = append(all, &path{path: arg})
		}
	}
	return all, nil
}

// Fixed is a source that never changes.
type Fixed []Document

// Read returns the documents.
func (f Fixed) Read() ([]Document, error) { return f, nil }

// Paths returns the files and directories among the sources, for a [Watcher].
func Paths(sources []Source) []string {
	var paths []string
	for _, s := range sources {
		if p, ok := s.(*path); ok {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// path is a file, or a directory of them.
type path struct {
	path string
	last []Document
}

func (p *path) Read() ([]Document, error) {
	documents, err := atRest(p.last, p.readOnce)
	p.last = documents
	return documents, err
}

// restTime is how long files must stay the same to be read. It is longer than it takes to write one.
const restTime = 10 * time.Millisecond

// atRest reads files that somebody may be writing to. Documents other than the last ones must be the same twice:
// what is read while it is overwritten can be part old and part new, and well-formed.
func atRest(last []Document, read func() ([]Document, error)) ([]Document, error) {
	const attempts = 10
	same := func(a, b Document) bool { return a.Name == b.Name && bytes.Equal(a.Text, b.Text) }
	before := last
	for range attempts {
		now, err := read()
		if slices.EqualFunc(now, before, same) {
			return now, err
		}
		before = now
		time.Sleep(restTime)
	}
	return last, errors.New("read definitions: they are being written to all the time")
}

// readOnce returns what is there. In place of what cannot be read it returns what was there before.
func (p *path) readOnce() ([]Document, error) {
	paths, err := definitionsIn(p.path)
	if err != nil {
		return p.last, err
	}
	last := make(map[string][]byte, len(p.last))
	for _, d := range p.last {
		last[d.Name] = d.Text
	}
	var documents []Document
	var errs []error
	for _, path := range paths {
		text, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) && path != p.path {
			continue // gone since the directory was listed
		}
		if err != nil {
			errs = append(errs, err)
			text = last[path]
		}
		if text != nil {
			documents = append(documents, Document{Name: path, Text: text})
		}
	}
	return documents, errors.Join(errs...)
}
