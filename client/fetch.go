// Package client does what a studio and its apps do with a manifest: fetch it, call its endpoints, and check that
// everything works.
//
// [FetchManifest] reads a manifest from its address; [Fetch] returns it as it was sent. [NewRequest] builds the request
// that an app sends to an endpoint, and [Send] sends it. [Check] tries everything that a studio and its apps do.
// [Explain] explains errors of these functions to users.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"signpost"
	"signpost/internal/httpurl"
)

const (
	// DefaultTimeout limits a whole request. A manifest is a small document, and somebody is waiting for it.
	DefaultTimeout = 30 * time.Second

	// MaxSize is the maximum size of a manifest in bytes, after decompression. It equals that of a definition.
	MaxSize = 64 << 20

	userAgent = "signpost"
)

// Options configure requests. The zero value is right for a studio.
type Options struct {
	Timeout   time.Duration     // DefaultTimeout if zero
	Transport http.RoundTripper // http.DefaultTransport if nil; it verifies certificates

	limit int // replaces the maximum size of a response, and of all links, in tests
}

// StatusError reports a status other than 200 OK.
type StatusError struct {
	Address  string // without its query
	Status   int
	Redirect string // target, if the response is a redirect
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("fetch %q: %s", e.Address, e.problem().Message)
}

// problem explains a status of which nothing else is known.
func (e *StatusError) problem() Problem {
	return (&Answer{Status: e.Status, Redirect: e.Redirect, asked: new(url.URL)}).problem()
}

// Fetch fetches the manifest at an address. The response is 200 OK and complete. For any other status, including
// redirects, the error is a [*StatusError].
func Fetch(ctx context.Context, address string, opts Options) (*Answer, error) {
	u, err := httpurl.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	shown := httpurl.Redacted(address)
	answer, err := exchange(newGet(ctx, u), opts, MaxSize)
	switch {
	case answer != nil && answer.Status != http.StatusOK:
		return nil, &StatusError{shown, answer.Status, answer.Redirect}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("fetch %q: no response in time: %w", shown, err)
	case err != nil:
		return nil, fmt.Errorf("fetch %q: %w", shown, err)
	case answer.Truncated:
		return nil, fmt.Errorf("fetch %q: the response is larger than %d MiB", shown, MaxSize>>20)
	}
	return answer, nil
}

// FetchManifest reads the manifest at an address. It accepts whatever [signpost.Manifest.UnmarshalJSON] accepts: call
// Validate to check it. Its errors are those of [Fetch], or say that the body is not a manifest.
func FetchManifest(ctx context.Context, address string, opts Options) (signpost.Manifest, error) {
	answer, err := Fetch(ctx, address, opts)
	if err != nil {
		return signpost.Manifest{}, err
	}
	m, err := ReadManifest(answer.Body)
	if err != nil {
		return signpost.Manifest{}, fmt.Errorf("fetch %q: %w", httpurl.Redacted(address), err)
	}
	return m, nil
}

// ReadManifest parses the body of a response as a manifest. The error says plainly what it is instead.
func ReadManifest(body []byte) (signpost.Manifest, error) {
	var m signpost.Manifest
	text := bytes.Trim(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n") // the white space of JSON
	switch {
	case len(text) == 0:
		return m, errors.New("the response is empty")
	case text[0] == '<':
		return m, errors.New("the response is HTML, not a manifest")
	case !json.Valid(text):
		return m, errors.New("the response is not JSON")
	case text[0] != '{':
		return m, fmt.Errorf("the manifest must be a JSON object, not %s", jsonKind(text))
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the response is not a manifest: %w", err)
	}
	return m, nil
}

// jsonKinds names the types of JSON texts by their first byte. Other texts are numbers.
var jsonKinds = map[byte]string{
	'{': "an object", '[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null",
}

func jsonKind(text []byte) string { return cmp.Or(jsonKinds[text[0]], "a number") }

// newGet returns the request for a manifest.
func newGet(ctx context.Context, u *url.URL) *http.Request {
	header := http.Header{"User-Agent": {userAgent}, "Accept": {"application/json"}}
	return (&http.Request{Method: http.MethodGet, URL: u, Header: header}).WithContext(ctx)
}
