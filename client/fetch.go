// Package client does what a studio and its apps do with a manifest: fetch it, call its endpoints, and see
// whether all of that works.
//
// [Fetch] returns the bytes of a manifest. [NewRequest] builds the request that an app sends to one of its
// endpoints, and [Send] sends it. [Check] tries everything that a studio would stumble over.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"signpost/host"
)

const (
	// DefaultTimeout bounds a whole request. A manifest is a small document, and somebody waits for it.
	DefaultTimeout = 30 * time.Second

	// MaxSize bounds a manifest, in bytes after decompression. A definition may be as large.
	MaxSize = 64 << 20

	userAgent = "signpost"
)

// Options say how to fetch. The zero value is right for a studio.
type Options struct {
	Timeout   time.Duration     // DefaultTimeout if zero
	Transport http.RoundTripper // http.DefaultTransport if nil; it verifies certificates
}

// client follows no redirects. The time limit is the request's: see exchange.
func (o Options) client() *http.Client {
	return &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ParseAddress checks the address of a manifest: an http or https URL in full. The host of the result is in ASCII.
func ParseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		var parse *url.Error // repeats the address
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("address %q is not a URL: %w", address, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("address %q does not start with https:// or http://", address)
	case u.User != nil:
		return nil, fmt.Errorf("address %q has user info before its host, which a studio does not send", u.Redacted())
	case u.Hostname() == "":
		return nil, fmt.Errorf("address %q has no host", address)
	case strings.Trim(u.Path, "/") == "":
		return nil, fmt.Errorf("address %q has no path: give the full address of the manifest, such as %s://%s/v1/endpoints-manifest", address, u.Scheme, u.Host)
	}
	name, err := host.Parse(u.Host)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		_, port, _ := strings.Cut(u.Host, ":")
		if u.Host = name; port != "" {
			u.Host += ":" + port
		}
	}
	return u, nil
}

// Fetch returns the body of the answer to a GET request, which must be 200. A redirect is an error, since the
// studio stores the address that it was given.
func Fetch(ctx context.Context, address string, opts Options) ([]byte, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %q: %w", address, err)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	res, body, err := exchange(req, opts, MaxSize)
	if res == nil {
		return nil, fetchError(address, err)
	}
	if target, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
		return nil, fmt.Errorf("fetch %q: it redirects to %q: the studio stores the address that it is given, so give that one", address, target)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch %q: the answer is %s, not 200 OK", address, res.Status)
	}
	if err != nil {
		return nil, fetchError(address, err)
	}
	if len(body) > MaxSize {
		return nil, fmt.Errorf("fetch %q: the answer is larger than %d MiB", address, MaxSize>>20)
	}
	return body, nil
}

// fetchError names the address once: the errors of package net/http have it too.
func fetchError(address string, err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fetch %q: no answer in time: %w", address, err)
	}
	return fmt.Errorf("fetch %q: %w", address, err)
}
