package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Source is where definitions come from that a server follows for changes.
type Source interface {
	// Read returns the definitions as they are now, with their sums. With an error it returns all that can still be
	// served: for what cannot be read, what was read before. A document that is the same as at the last call can
	// come without its text. Read never waits for the network.
	Read() ([]Document, error)
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
			all = append(all, &local{path: arg, opts: opts})
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
		if p, ok := s.(*local); ok {
			paths = append(paths, p.path)
		}
	}
	return paths
}

// local is a file, or a directory of them.
type local struct {
	path string
	opts Options
	last []Document
	// known has the files that were definitions, and false for those that were skipped. One that was a definition
	// remains one when it is cut off, so that it is rejected and not withdrawn.
	known map[string]bool
}

func (l *local) Read() ([]Document, error) {
	documents, err := atRest(l.last, l.readOnce)
	l.last = documents
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
func (l *local) readOnce() ([]Document, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), DefaultTimeout, fmt.Errorf("not read within %v", DefaultTimeout))
	defer cancel()
	info, err := os.Stat(l.path)
	if err != nil {
		return l.last, readError(l.path, err)
	}
	if !info.IsDir() {
		text, err := readFile(ctx, l.path)
		if err != nil {
			return l.last, err
		}
		return []Document{{Name: l.path, Path: filepath.Base(l.path), Text: text, Sum: sumOf(text)}}, nil
	}
	files, _, err := listDirectory(l.path)
	if err != nil {
		return l.last, err
	}
	last := make(map[string]Document, len(l.last))
	for _, d := range l.last {
		last[d.Name] = d
	}
	var documents []Document
	var errs []error
	known := make(map[string]bool, len(files))
	for _, f := range files {
		d, err := f.read(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone since the directory was listed
		}
		if err != nil {
			errs = append(errs, err)
			var readable bool
			if d, readable = last[f.name]; !readable {
				continue
			}
		}
		if known[f.name] = l.known[f.name] || IsDefinition(d); known[f.name] {
			d.Sum = sumOf(d.Text)
			documents = append(documents, d)
		} else if _, said := l.known[f.name]; !said {
			l.opts.Note(skippedNote(f.name))
		}
	}
	l.known = known
	if len(documents)+len(errs) == 0 {
		return l.last, noDefinitions(l.path, len(files))
	}
	return documents, errors.Join(errs...)
}
