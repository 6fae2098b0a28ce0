package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// origin is where definitions come from: a file or a folder, an address, or the built-in example.
type origin interface {
	// read returns the definitions that are there now or, with an error, as much of them as was there before.
	// It does not wait for others.
	read() ([]definitionText, error)
}

// definitionText is a definition that was read and not looked at yet.
type definitionText struct {
	name string
	text []byte
}

// newOrigins returns the origins that arguments name; without any, the example.
func newOrigins(args []string, pollInterval time.Duration, cacheDir string) ([]origin, error) {
	if len(args) == 0 {
		return []origin{builtIn{}}, nil
	}
	if pollInterval <= 0 {
		return nil, usageErrorf("--poll-interval: %v is not a time to wait: give one such as %v", pollInterval, defaultPollInterval)
	}
	var all []origin
	for i, arg := range args {
		switch {
		case slices.Contains(args[:i], arg): // once is enough
		case isAddress(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" {
				return nil, usageErrorf("%q is not the address of a definition, such as https://config.example.com/feeds.yaml", arg)
			}
			all = append(all, &remoteOrigin{
				name: u.Redacted(), address: arg, interval: pollInterval, cacheDir: cacheDir, hurry: make(chan struct{}, 1),
			})
		default:
			all = append(all, &pathOrigin{path: arg})
		}
	}
	return all, nil
}

// builtIn is the example.
type builtIn struct{}

func (builtIn) read() ([]definitionText, error) { return []definitionText{{exampleName, example}}, nil }

// pathOrigin is a file, or a folder of them.
type pathOrigin struct {
	path string
	last []definitionText
}

func (o *pathOrigin) read() ([]definitionText, error) {
	texts, err := atRest(o.last, o.readOnce)
	o.last = texts
	return texts, err
}

// restTime is how long files must stay the same to be taken. It is longer than it takes to write one.
const restTime = 10 * time.Millisecond

// atRest reads files that somebody may be writing to. Other texts than the last ones have to be the same twice:
// what is read while it is written over can be part old and part new, and well-formed.
func atRest(last []definitionText, read func() ([]definitionText, error)) ([]definitionText, error) {
	const attempts = 10
	same := func(a, b definitionText) bool { return a.name == b.name && bytes.Equal(a.text, b.text) }
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

// readOnce returns what is there. In place of what cannot be read it has what was there before.
func (o *pathOrigin) readOnce() ([]definitionText, error) {
	paths, err := definitionsIn(o.path)
	if err != nil {
		return o.last, err
	}
	last := make(map[string][]byte, len(o.last))
	for _, t := range o.last {
		last[t.name] = t.text
	}
	var texts []definitionText
	var errs []error
	for _, path := range paths {
		text, err := readFile(path)
		if errors.Is(err, fs.ErrNotExist) && path != o.path {
			continue // gone since the folder was listed
		}
		if err != nil {
			errs = append(errs, err)
			text = last[path]
		}
		if text != nil {
			texts = append(texts, definitionText{path, text})
		}
	}
	return texts, errors.Join(errs...)
}

// remoteOrigin is a definition at an address, asked for again and again.
type remoteOrigin struct {
	name     string // the address without its password
	address  string
	interval time.Duration
	cacheDir string        // where the last good one is kept for the next start; empty for nowhere
	hurry    chan struct{} // asks at once

	mu   sync.Mutex // held never while waiting for the source
	text []byte     // nil until there is one
	etag string
	err  error // of the last attempt
}

// fetchTimeout bounds one attempt, so that a source that hangs is a source that is down.
const fetchTimeout = 15 * time.Second

func (o *remoteOrigin) read() ([]definitionText, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text == nil {
		return nil, o.err
	}
	return []definitionText{{o.name, o.text}}, o.err
}

// poll asks for the definition until ctx ends: at every interval if watching is on, and when there is hurry. It
// says when there is something to read.
func (o *remoteOrigin) poll(ctx context.Context, on bool, arrived chan<- struct{}) {
	var ticks <-chan time.Time
	if on {
		ticker := time.NewTicker(o.interval)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-o.hurry:
		}
		if !o.fetch(ctx) {
			continue
		}
		select {
		case arrived <- struct{}{}:
		default: // said already
		}
	}
}

// askNow makes poll ask at once.
func (o *remoteOrigin) askNow() {
	select {
	case o.hurry <- struct{}{}:
	default: // it is going to
	}
}

// remoteError is a failure of a source that may come back.
type remoteError struct{ error }

func (e remoteError) Unwrap() error { return e.error }

// fetch asks for the definition once, and reports whether that made a difference.
func (o *remoteOrigin) fetch(ctx context.Context) bool {
	text, etag, err := o.get(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		before := o.err
		o.err = remoteError{fmt.Errorf("fetch definition %q: %w", o.name, err)}
		return before == nil || before.Error() != o.err.Error()
	}
	news := o.err != nil
	o.err = nil
	if text != nil {
		news = news || !bytes.Equal(text, o.text)
		o.text, o.etag = text, etag
	}
	return news
}

// remoteClient follows no redirects to plain http, and no more than a few.
var remoteClient = &http.Client{
	Timeout: fetchTimeout,
	CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("more than 5 redirects")
		}
		if req.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
			return errors.New("redirected from https to http")
		}
		return nil
	},
}

// get returns the text at the address and its ETag, or no text if it has not changed.
func (o *remoteOrigin) get(ctx context.Context) (text []byte, etag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.address, nil)
	if err != nil {
		return nil, "", err
	}
	o.mu.Lock()
	if o.etag != "" {
		req.Header.Set("If-None-Match", o.etag)
	}
	o.mu.Unlock()
	req.Header.Set("User-Agent", "signpost/"+buildVersion())
	res, err := remoteClient.Do(req)
	if err != nil {
		return nil, "", errors.Unwrap(err) // a *url.Error, which repeats the address
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && req.Header.Get("If-None-Match") != "":
		return nil, "", nil
	case res.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the answer has status %d", res.StatusCode)
	}
	text, err = readLimited(res.Body)
	if err != nil {
		return nil, "", err
	}
	return text, res.Header.Get("ETag"), nil
}

// cachePath names the file by a hash, since an address is not a file name.
func (o *remoteOrigin) cachePath() string {
	sum := sha256.Sum256([]byte(o.address))
	return filepath.Join(o.cacheDir, hex.EncodeToString(sum[:16])+".definition")
}

// restore takes the text that was kept at an earlier run, for a source that cannot be read or is bad now.
// It reports whether there is one.
func (o *remoteOrigin) restore() (bool, error) {
	if o.cacheDir == "" {
		return false, nil
	}
	text, err := readFile(o.cachePath())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text, o.etag = text, ""
	return true, nil
}

// keep writes a text that has proved good, for the next start.
func (o *remoteOrigin) keep(text []byte) error {
	if o.cacheDir == "" {
		return nil
	}
	if err := os.MkdirAll(o.cacheDir, 0o700); err != nil {
		return err
	}
	path := o.cachePath()
	left, _ := filepath.Glob(path + ".*" + temporary) // of one that was killed
	for _, name := range left {
		os.Remove(name)
	}
	return writeFileAtomic(path, text, 0o600)
}

// temporary ends the name of a file that is not complete.
const temporary = ".tmp"

// writeFileAtomic replaces a file in one step, when all of it is on the disk. Whoever is killed before leaves
// the one that was there, and the incomplete one beside it.
func writeFileAtomic(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporary)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already, if all goes well
	_, err = f.Write(data)
	if err := cmp.Or(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
