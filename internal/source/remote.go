package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"signpost/internal/readfile"
)

// Remote is a source on another machine. Read returns what the last Fetch received.
type Remote interface {
	Source

	// Fetch polls once, and reports whether Read has something new, including a new error. It returns in bounded time,
	// and when ctx ends at the latest. Updates are all or nothing.
	Fetch(ctx context.Context) bool

	// Keep stores what Read returned for a later Restore. If it returns without an error, the copy is durable; until
	// then the previous one is intact. Without a cache nothing is stored.
	Keep() error

	// Restore makes Read return what was stored, and reports whether there was anything.
	Restore() (bool, error)

	// Version identifies what Read returned: a digest, or the ETag of an address. It is empty where that is not known,
	// as of what was restored.
	Version() string
}

// fetchFunc returns the current documents of a remote source and their version. If the version has not changed, it
// returns no documents. The text of unchanged ones may come from before.
type fetchFunc func(ctx context.Context, version string, before []Document) (documents []Document, next string, err error)

// polled is a remote source.
type polled struct {
	name  string
	cache string // file for the last good state; empty for none
	fetch fetchFunc

	single bool // it is one document, whose text is cached as it is

	mu        sync.Mutex // never held while waiting for the network
	documents []Document // nil until the first success
	changed   bool       // since the last Read
	read      []Document // what the last Read returned
	readAs    string     // the version of that
	version   string
	err       error // of the last attempt
}

// newPolled returns a source that is cached in a directory, unless that is empty. The file name is a hash of the
// address, because a URL is not a valid file name.
func newPolled(name, address, cacheDir string, fetch fetchFunc) *polled {
	p := &polled{name: name, fetch: fetch}
	if cacheDir != "" {
		sum := sha256.Sum256([]byte(address))
		p.cache = filepath.Join(cacheDir, hex.EncodeToString(sum[:16])+".definition")
	}
	return p
}

func (p *polled) Name() string { return p.name }

func (p *polled) Read() ([]Document, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.changed
	p.changed, p.read, p.readAs = false, p.documents, p.version
	return slices.Clone(p.documents), changed, p.err
}

func (p *polled) Version() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readAs
}

func (p *polled) Fetch(ctx context.Context) bool {
	p.mu.Lock()
	version, before := p.version, p.documents
	p.mu.Unlock()
	documents, version, err := p.fetch(ctx, version, before)

	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.err
	if p.err = err; err != nil {
		p.err = fmt.Errorf("fetch definition %q: %w", p.name, err)
		return last == nil || last.Error() != p.err.Error()
	}
	if documents != nil {
		p.changed = p.changed || !slices.EqualFunc(documents, p.documents, sameDocument)
		p.documents, p.version = documents, version
	}
	return last != nil || p.changed
}

func sameDocument(a, b Document) bool { return a.Name == b.Name && a.Sum == b.Sum }

// maxCached limits what is cached for one source: the largest artifact, plus JSON escapes.
const maxCached = 2 * maxArtifact

// cachedDocument is a document of an artifact in the cache.
type cachedDocument struct {
	Path string `json:"path"`
	Sum  Sum    `json:"sum"`
	Text string `json:"text"`
}

func (p *polled) Keep() error {
	p.mu.Lock()
	documents := p.read
	p.mu.Unlock()
	if p.cache == "" || len(documents) == 0 {
		return nil
	}
	text := documents[0].Text
	if !p.single {
		cached := make([]cachedDocument, len(documents))
		for i, d := range documents {
			cached[i] = cachedDocument{d.Path, d.Sum, string(d.Text)}
		}
		var err error
		if text, err = json.Marshal(cached); err != nil {
			return err
		}
	}
	if len(text) > maxCached {
		return fmt.Errorf("write %q: %d bytes are more than the cache takes, %d MiB", p.cache, len(text), maxCached>>20)
	}
	if err := os.MkdirAll(filepath.Dir(p.cache), 0o700); err != nil {
		return err
	}
	left, _ := filepath.Glob(p.cache + ".*" + temporary) // left behind by a killed process
	for _, name := range left {
		os.Remove(name)
	}
	return cacheError("write", p.cache, WriteFile(p.cache, text, 0o600))
}

func (p *polled) Restore() (bool, error) {
	if p.cache == "" {
		return false, nil
	}
	text, err := readfile.Limit(p.cache, maxCached)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	documents := []Document{{Name: p.name, Text: text, Sum: sumOf(text)}}
	if err == nil && !p.single {
		documents, err = p.parseCached(text)
	}
	if err != nil {
		return false, cacheError("read", p.cache, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.documents, p.version, p.changed = documents, "", true
	return true, nil
}

func (p *polled) parseCached(text []byte) ([]Document, error) {
	var cached []cachedDocument
	if err := json.Unmarshal(text, &cached); err != nil {
		return nil, err
	}
	documents := make([]Document, len(cached))
	for i, d := range cached {
		documents[i] = Document{Name: p.name + "/" + d.Path, Path: d.Path, Sum: d.Sum, Text: []byte(d.Text)}
		if sumOf(documents[i].Text) != d.Sum {
			return nil, fmt.Errorf("%s is damaged", documents[i].Name)
		}
	}
	return documents, nil
}

// cacheError names the file itself rather than the temporary one with its random name, so that the same failure always
// has the same message.
func cacheError(action, path string, err error) error {
	if err == nil {
		return nil
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	} else if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	return fmt.Errorf("%s %q: %w", action, path, err)
}
