package source

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/opencontainers/go-digest"

	"signpost/internal/readfile"
)

// fetchFunc returns the current state of a remote source. It is the one before if the version has not changed, and may
// have texts of it otherwise.
type fetchFunc func(ctx context.Context, before state) (state, error)

// fetchTimeout limits one attempt, so that a registry that hangs counts as down.
const fetchTimeout = time.Minute

// Remote is a source that may take its time: another machine, or what is only read once. Read returns what the last
// Fetch received.
type Remote struct {
	name  string
	cache string // file for the last good state; empty for none
	fetch fetchFunc
	once  bool // it never changes, and one attempt tells whether it can be read

	hurry chan struct{}

	mu     sync.Mutex // never held while waiting for the network
	latest state      // empty until the first success
	read   state      // what the last Read returned
	err    error      // of the last attempt

	answered bool // by the last attempt; false before it
	restored bool // what was cached was read
}

// state is what a remote source had at one time.
type state struct {
	documents []Document
	version   string // a digest, or the ETag of an address; empty if that is not known, as of what was restored
}

// newRemote returns a source that is cached in a directory, unless that is empty. The file name is a hash of the
// address, because a URL is not a valid file name.
func newRemote(address, cacheDir string, fetch fetchFunc) *Remote {
	r := &Remote{name: Shown(address), fetch: fetch, hurry: make(chan struct{}, 1)}
	if cacheDir != "" {
		sum := sha256.Sum256([]byte(address))
		r.cache = filepath.Join(cacheDir, fmt.Sprintf("%x.definition", sum[:16]))
	}
	return r
}

// newOnce returns a source that never changes: standard input, for which somebody may be typing, or a git revision.
func newOnce(arg string, reader *Reader) *Remote {
	r := newRemote(arg, "", func(ctx context.Context, _ state) (state, error) {
		documents, err := reader.Read(ctx, arg)
		for i, d := range documents {
			documents[i].Sum = SumOf(d.Text)
		}
		return state{documents: documents}, err
	})
	r.once = true
	return r
}

// Name implements [Source].
func (r *Remote) Name() string { return r.name }

// Read implements [Source].
func (r *Remote) Read() ([]Document, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = r.latest
	return slices.Clone(r.read.documents), r.err
}

// Status tells how a remote source was reached.
type Status struct {
	Version  string // identifies what Read returned, if that is known: a digest, or the ETag of an address
	Answered bool   // the last Fetch succeeded, or no other one will
	Restored bool   // the cache had something
}

// Status returns the current status.
func (r *Remote) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Status{r.read.version, r.answered, r.restored}
}

// Fetch polls once, and reports whether Read has something new, including a new error. It returns in bounded time,
// except for standard input, and when ctx ends at the latest. Updates are all or nothing.
func (r *Remote) Fetch(ctx context.Context) bool {
	r.mu.Lock()
	before := r.latest
	r.mu.Unlock()
	if !r.once { // the reader has a limit of its own
		late := fmt.Errorf("no response within %v", fetchTimeout)
		limited, cancel := context.WithTimeoutCause(ctx, fetchTimeout, late)
		defer cancel()
		ctx = limited
	}
	now, err := r.fetch(ctx, before)
	if err != nil && !r.once {
		err = fmt.Errorf("fetch definition %q: %w", r.name, err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.err
	r.err, r.answered = err, err == nil || r.once
	if err != nil {
		return last == nil || last.Error() != err.Error()
	}
	r.latest = now
	return last != nil || !slices.EqualFunc(r.latest.documents, r.read.documents, sameDocument)
}

// Hurry makes Poll fetch immediately.
func (r *Remote) Hurry() {
	select {
	case r.hurry <- struct{}{}:
	default: // an earlier call is still pending
	}
}

// Poll fetches on every tick and every Hurry until ctx is canceled. It sends on arrived when Read has something new,
// and sends true after a Hurry.
func (r *Remote) Poll(ctx context.Context, ticks <-chan time.Time, arrived chan<- bool) {
	for !r.once {
		hurried := false
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-r.hurry:
			hurried = true
		}
		if !r.Fetch(ctx) && !hurried {
			continue
		}
		select {
		case arrived <- hurried:
		case <-ctx.Done():
			return
		}
	}
}

func sameDocument(a, b Document) bool { return a.Name == b.Name && a.Sum == b.Sum }

// maxCached limits what is read from the cache for one source: the largest artifact, plus JSON escapes.
const maxCached = 2 * maxArtifact

// cachedDocument is a document in the cache.
type cachedDocument struct {
	Path string `json:"path"` // empty for the definition at an address
	Sum  Sum    `json:"sum"`
	Text string `json:"text"`
}

// Keep stores what Read returned for a later Restore. If it returns without an error, the copy is durable; until then
// the previous one is intact. Without a cache nothing is stored.
func (r *Remote) Keep() error {
	r.mu.Lock()
	documents := r.read.documents
	r.mu.Unlock()
	if r.cache == "" || len(documents) == 0 {
		return nil
	}
	cached := make([]cachedDocument, len(documents))
	for i, d := range documents {
		cached[i] = cachedDocument{d.Path, d.Sum, string(d.Text)}
	}
	text, err := json.Marshal(cached)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.cache), 0o700); err != nil {
		return err
	}
	left, _ := filepath.Glob(r.cache + ".*" + temporary) // left behind by a killed process
	for _, name := range left {
		os.Remove(name)
	}
	return cacheError("write", r.cache, WriteFile(r.cache, text, 0o600))
}

// Restore makes Read return what was stored, and reports whether there was anything.
func (r *Remote) Restore() (bool, error) {
	if r.cache == "" {
		return false, nil
	}
	text, err := readfile.Limit(r.cache, maxCached)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var cached []cachedDocument
	if err == nil {
		err = json.Unmarshal(text, &cached)
	}
	documents := make([]Document, len(cached))
	for i, d := range cached {
		name := strings.TrimSuffix(r.name+"/"+d.Path, "/")
		documents[i] = Document{Name: name, Path: d.Path, Sum: d.Sum, Text: []byte(d.Text)}
		if digest.FromBytes(documents[i].Text) != d.Sum {
			err = fmt.Errorf("%s is damaged", documents[i].Name)
		}
	}
	if err != nil {
		return false, cacheError("read", r.cache, err)
	}
	if len(documents) == 0 {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest, r.restored = state{documents: documents}, true
	return true, nil
}

// cacheError names the file itself rather than the temporary one with its random name, so that the same failure always
// has the same message.
func cacheError(action, path string, err error) error {
	if err == nil {
		return nil
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno
	}
	return fmt.Errorf("%s %q: %w", action, path, err)
}
