// Package httpurl parses the http(s) URLs that users name, shows them without their secrets, and sends requests
// elsewhere.
package httpurl

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"signpost/host"
)

// parse parses an http or https URL without user info, which label names in errors, and its host.
func parse(label, text string) (u *url.URL, name string, err error) {
	u, err = url.Parse(text)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("%s is not a URL: %w", label, WithoutURL(err))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "", fmt.Errorf("%s does not start with https:// or http://", label)
	case u.User != nil:
		return nil, "", fmt.Errorf("%s has user info before its host, which is not sent", label)
	case u.Hostname() == "":
		return nil, "", fmt.Errorf("%s has no host", label)
	}
	name, err = host.Parse(u.Host)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", label, err)
	}
	return u, name, nil
}

// ParseAddress validates the address of a manifest, a complete http or https URL. The host of the result is in ASCII.
func ParseAddress(address string) (*url.URL, error) {
	label := fmt.Sprintf("address %q", Redacted(address))
	u, name, err := parse(label, address)
	if err != nil {
		return nil, err
	}
	if strings.Trim(u.Path, "/") == "" {
		return nil, fmt.Errorf("%s has no path: give the full address of the manifest, such as %s://%s/v1/endpoints-manifest",
			label, u.Scheme, u.Host)
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }) {
		u.Host = strings.TrimSuffix(name+":"+u.Port(), ":")
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

// WithoutURL strips the URL from an error of net/url or net/http: it may contain secrets, and callers name it
// themselves.
func WithoutURL(err error) error {
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		return withURL.Err
	}
	return err
}

// ParseOrigin parses the origin that requests go to instead of the service's own host: a scheme and a host with an
// optional port, such as http://localhost:3000.
func ParseOrigin(text string) (*url.URL, error) {
	label := fmt.Sprintf("%q", Redacted(text))
	u, _, err := parse(label, text)
	if err != nil {
		return nil, err
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%s has more than a scheme, a host and a port: use %s://%s", label, u.Scheme, u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// SendTo returns a copy of a request that goes to another origin, as a reverse proxy would forward it: Host and
// X-Forwarded-Host contain the host of its URL, and X-Forwarded-Proto the scheme.
func SendTo(req *http.Request, origin *url.URL) *http.Request {
	req = req.Clone(req.Context())
	req.Host = req.URL.Host
	req.Header.Set("X-Forwarded-Host", req.URL.Host)
	req.Header.Set("X-Forwarded-Proto", req.URL.Scheme)
	req.URL.Scheme, req.URL.Host = origin.Scheme, origin.Host
	return req
}

// Requested returns the URL that a request is for, wherever SendTo sends it.
func Requested(req *http.Request) *url.URL {
	u := *req.URL
	if scheme := req.Header.Get("X-Forwarded-Proto"); scheme != "" {
		u.Scheme, u.Host = scheme, req.Host
	}
	return &u
}
