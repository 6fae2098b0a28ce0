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
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode"

	"signpost"
	"signpost/host"
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

	expire func(context.Context, time.Duration) (context.Context, context.CancelFunc) // context.WithTimeout, except in tests
}

// client does not follow redirects. The timeout is applied by exchange.
func (o Options) client() *http.Client {
	return &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ParseAddress validates the address of a manifest, a complete http or https URL. The host of the result is in ASCII.
func ParseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		var parse *url.Error // repeats the address
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("address %q is not a URL: %w", Redacted(address), err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("address %q does not start with https:// or http://", Redacted(address))
	case u.User != nil:
		return nil, fmt.Errorf("address %q has user info before its host, which a studio does not send", Redacted(address))
	case u.Hostname() == "":
		return nil, fmt.Errorf("address %q has no host", Redacted(address))
	case strings.Trim(u.Path, "/") == "":
		return nil, fmt.Errorf("address %q has no path: give the full address of the manifest, such as %s://%s/v1/endpoints-manifest", Redacted(address), u.Scheme, u.Host)
	}
	name, err := host.Parse(u.Host)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", Redacted(address), err)
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		_, port, _ := strings.Cut(u.Host, ":")
		if u.Host = name; port != "" {
			u.Host += ":" + port
		}
	}
	return u, nil
}

// Redacted returns an address as it may be shown and logged: without its password, and without its query, in which
// services take access tokens. Different queries have different placeholders, so that addresses can be told apart.
func Redacted(address string) string {
	address, fragment, _ := strings.Cut(address, "#")
	plain, query, found := strings.Cut(address, "?")
	if u, err := url.Parse(plain); err == nil && u.User != nil {
		plain = u.Redacted()
	} else if scheme, rest, ok := strings.Cut(plain, "://"); ok && err != nil && strings.Contains(rest, "@") {
		plain = scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
	}
	if found {
		sum := sha256.Sum256([]byte(query))
		plain += fmt.Sprintf("?…%x", sum[:2])
	}
	if fragment != "" {
		plain += "#…"
	}
	return plain
}

// StatusError reports a status other than 200 OK.
type StatusError struct {
	Address  string // as Redacted returns it
	Status   int
	Redirect string // target, if the response is a redirect
}

func (e *StatusError) Error() string {
	if e.Redirect != "" {
		return fmt.Sprintf("fetch %q: it redirects to %q: studios store the address that they are given, so use that one", e.Address, Redacted(e.Redirect))
	}
	return fmt.Sprintf("fetch %q: the response is %s, not 200 OK", e.Address, statusText(e.Status))
}

// Fetch fetches the manifest at an address. The response is 200 OK and complete. For any other status, including
// redirects, the error is a [*StatusError].
func Fetch(ctx context.Context, address string, opts Options) (*Answer, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	req, err := newGet(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("fetch %q: %w", Redacted(address), err)
	}
	res, body, err := exchange(req, opts, MaxSize)
	if res == nil {
		return nil, fetchError(address, err)
	}
	answer := newAnswer(res, body, MaxSize)
	switch {
	case answer.Status != http.StatusOK:
		return nil, &StatusError{Redacted(address), answer.Status, answer.Redirect}
	case err != nil:
		return nil, fetchError(address, err)
	case answer.Truncated:
		return nil, fmt.Errorf("fetch %q: the response is larger than %d MiB", Redacted(address), MaxSize>>20)
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
		return signpost.Manifest{}, fmt.Errorf("fetch %q: %w", Redacted(address), err)
	}
	return m, nil
}

// ReadManifest parses the body of a response as a manifest. The error says plainly what it is instead.
func ReadManifest(body []byte) (signpost.Manifest, error) {
	var m signpost.Manifest
	text := bytes.Trim(bytes.TrimPrefix(body, []byte("\ufeff")), jsonSpace)
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
		return m, fmt.Errorf("the response is not a manifest: %w", withoutGoTypes(err))
	}
	return m, nil
}

// jsonSpace is the white space that JSON allows around a value.
const jsonSpace = " \t\r\n"

// jsonKind names the type of a JSON text.
func jsonKind(text []byte) string {
	switch text[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// withoutGoTypes rewrites an error of package json that mentions Go types.
func withoutGoTypes(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	prefix, _, _ := strings.Cut(err.Error(), wrong.Error()) // names the endpoint
	want := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "a boolean", reflect.Slice: "an array", reflect.Struct: "an object",
	}[wrong.Type.Kind()]
	got, _, _ := strings.Cut(wrong.Value, " ") // "number 5"
	field := "the descriptor"
	if wrong.Field != "" {
		field = fmt.Sprintf("%q", wrong.Field)
	}
	return fmt.Errorf("%s%s must be %s, not %s", prefix, field, cmp.Or(want, "of another type"), cmp.Or(jsonNames[got], got))
}

var jsonNames = map[string]string{"array": "an array", "object": "an object", "string": "a string", "number": "a number", "bool": "a boolean"}

// newGet returns the request for a manifest.
func newGet(ctx context.Context, u *url.URL) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	return req, nil
}

func fetchError(address string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("fetch %q: no response in time: %w", Redacted(address), err)
	}
	return fmt.Errorf("fetch %q: %w", Redacted(address), err)
}
