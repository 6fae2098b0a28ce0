package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// address is a definition at an http or https address.
type address struct {
	name    string // the address without its password
	address string
	opts    Options

	mu   sync.Mutex // never held while waiting for the network
	text []byte     // nil until there is one
	etag string
	err  error // of the last attempt
}

// fetchTimeout bounds one attempt, so that a server that hangs counts as down.
const fetchTimeout = 15 * time.Second

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

func (a *address) Name() string { return a.name }

func (a *address) Read() ([]Document, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text == nil {
		return nil, a.err
	}
	return []Document{{Name: a.name, Text: a.text}}, a.err
}

func (a *address) Fetch(ctx context.Context) bool {
	text, etag, err := a.get(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		before := a.err
		a.err = fmt.Errorf("fetch definition %q: %w", a.name, err)
		return before == nil || before.Error() != a.err.Error()
	}
	news := a.err != nil
	a.err = nil
	if text != nil {
		news = news || !bytes.Equal(text, a.text)
		a.text, a.etag = text, etag
	}
	return news
}

// followingClient follows a few redirects, and none from https to plain http.
var followingClient = &http.Client{
	Timeout: fetchTimeout,
	CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if req.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
			return errors.New("redirected from https to http")
		}
		return nil
	},
}

// get returns the text at the address and its ETag, or no text if it has not changed.
func (a *address) get(ctx context.Context) (text []byte, etag string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address, nil)
	if err != nil {
		return nil, "", err
	}
	a.mu.Lock()
	if a.etag != "" {
		req.Header.Set("If-None-Match", a.etag)
	}
	a.mu.Unlock()
	req.Header.Set("User-Agent", cmp.Or(a.opts.UserAgent, "signpost"))
	res, err := followingClient.Do(req)
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

func (a *address) Keep() error {
	a.mu.Lock()
	text := a.text
	a.mu.Unlock()
	return cache{a.opts.CacheDir}.keep(a.address, text)
}

func (a *address) Restore() (bool, error) {
	text, err := cache{a.opts.CacheDir}.restore(a.address)
	if text == nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text, a.etag = text, ""
	return true, nil
}
