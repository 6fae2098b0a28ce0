package source

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Remote is a source on another machine. Read returns what the last Fetch received.
type Remote interface {
	Source

	// Fetch polls once, and reports whether Read has something new, including a new error. It returns in bounded time,
	// and when ctx ends at the latest. Updates are all or nothing.
	Fetch(ctx context.Context) bool

	// Keep stores what Read returned for a later Restore. If it returns without an error, the copy is durable; until
	// then the previous one is intact. Without a cache nothing is stored. In any case, Read may return the documents
	// without their text afterwards, until they change: the caller must have parsed them.
	Keep() error

	// Restore makes Read return what was stored, and reports whether there was anything.
	Restore() (bool, error)

	// Version identifies what Read returned: a digest, or the ETag of an address. It is empty where that is not known,
	// as of what was restored.
	Version() string
}

// origin is where a remote source gets its documents from.
type origin interface {
	// fetch returns the current documents and their version. If the version has not changed, it returns no documents.
	// Documents that are already known may come without their text.
	fetch(ctx context.Context, version string, known func(Document) bool) (documents []Document, next string, err error)

	// encode returns documents in the form in which they are cached. The text of documents that come without it is
	// taken from the previous copy.
	encode(documents []Document, before []byte) ([]byte, error)
	decode(kept []byte) ([]Document, error)
}

// polled is a remote source.
type polled struct {
	name  string
	key   string // cache key
	cache cache
	origin

	mu        sync.Mutex // never held while waiting for the network
	documents []Document // nil until the first success
	changed   bool       // since the last Read
	read      []Document // what the last Read returned
	readAs    string     // the version of that
	version   string
	err       error // of the last attempt
}

func (p *polled) Name() string { return p.name }

func (p *polled) Read() ([]Document, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed, p.read, p.readAs = false, slices.Clone(p.documents), p.version
	return slices.Clone(p.documents), changed, p.err
}

func (p *polled) Version() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readAs
}

func (p *polled) Fetch(ctx context.Context) bool {
	p.mu.Lock()
	version, before := p.version, make(map[string]Document, len(p.documents))
	for _, d := range p.documents {
		before[d.Name] = d
	}
	p.mu.Unlock()
	documents, version, err := p.fetch(ctx, version, func(d Document) bool { return before[d.Name].Sum == d.Sum })

	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		last := p.err
		p.err = fmt.Errorf("fetch definition %q: %w", p.name, err)
		return last == nil || last.Error() != p.err.Error()
	}
	news := p.err != nil
	p.err = nil
	if documents != nil {
		for i, d := range documents {
			if d.Text == nil {
				documents[i].Text = before[d.Name].Text
			}
		}
		same := func(a, b Document) bool { return a.Name == b.Name && a.Sum == b.Sum }
		p.changed = p.changed || !slices.EqualFunc(documents, p.documents, same)
		p.documents, p.version = documents, version
	}
	return news || p.changed
}

func (p *polled) Keep() error {
	p.mu.Lock()
	documents := p.read
	p.mu.Unlock()
	if err := p.keep(documents); err != nil {
		return err
	}
	kept := make(map[string]Sum, len(documents))
	for _, d := range documents {
		kept[d.Name] = d.Sum
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = nil
	for i, d := range p.documents { // they may have been replaced since
		if kept[d.Name] == d.Sum {
			p.documents[i].Text = nil
		}
	}
	return nil
}

func (p *polled) keep(documents []Document) error {
	if p.cache.dir == "" || len(documents) == 0 {
		return nil
	}
	before, err := p.cache.restore(p.key)
	if err != nil {
		return err
	}
	text, err := p.encode(documents, before)
	if err != nil {
		return err
	}
	return p.cache.keep(p.key, text)
}

func (p *polled) Restore() (bool, error) {
	kept, err := p.cache.restore(p.key)
	if kept == nil {
		return false, err
	}
	documents, err := p.decode(kept)
	if err != nil {
		return false, fmt.Errorf("read %q: %w", p.cache.path(p.key), err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.documents, p.version, p.changed = documents, "", true
	return true, nil
}
