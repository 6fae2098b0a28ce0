package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"signpost/host"
)

// ParseOrigin parses the origin that requests go to instead of the service's own host: a scheme and a host with an
// optional port, such as http://localhost:3000.
func ParseOrigin(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		var parse *url.Error // repeats the text
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("%q is not a URL: %w", text, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return nil, fmt.Errorf("%q does not start with http:// or https://", text)
	case u.User != nil:
		return nil, fmt.Errorf("%q has user info before its host", u.Redacted())
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q has more than a scheme, a host and a port: use %s://%s", text, u.Scheme, u.Host)
	}
	if _, err := host.Parse(u.Host); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
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

// forward redirects a request for the service's own host to CheckOptions.SendTo.
func (c *checker) forward(req *http.Request) *http.Request {
	if c.opts.SendTo == nil || !c.onOwnHost(req.URL) {
		return req
	}
	return SendTo(req, c.opts.SendTo)
}

// forwardsManifest reports whether SendTo also applies to the address. An address with an explicit port is not one of
// the service's URLs, since {{host}} has no port; usually it is a server on this machine.
func (c *checker) forwardsManifest() bool { return c.opts.SendTo != nil && c.address.Port() == "" }

// onOwnHost reports whether a URL is on the host of the address.
func (c *checker) onOwnHost(u *url.URL) bool {
	return u.User == nil && host.Equal(u.Host, c.address.Host)
}
