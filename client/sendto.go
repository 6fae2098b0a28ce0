package client

import (
	"net/http"
	"net/url"

	"signpost/host"
	"signpost/internal/httpurl"
)

// forward redirects a request for the service's own host to CheckOptions.SendTo.
func (c *checker) forward(req *http.Request) *http.Request {
	if c.opts.SendTo == nil || !c.onOwnHost(req.URL) {
		return req
	}
	return httpurl.SendTo(req, c.opts.SendTo)
}

// forwardsManifest reports whether SendTo also applies to the address. An address with an explicit port is not one of
// the service's URLs, since {{host}} has no port; usually it is a server on this machine.
func (c *checker) forwardsManifest() bool { return c.opts.SendTo != nil && c.address.Port() == "" }

// onOwnHost reports whether a URL is on the host of the address.
func (c *checker) onOwnHost(u *url.URL) bool {
	return u.User == nil && host.Equal(u.Host, c.address.Host)
}
