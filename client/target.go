package client

import (
	"signpost"
	"signpost/host"
	"signpost/match"
)

// target is a registered endpoint with its URL taken apart, once for all checks.
type target struct {
	signpost.Endpoint
	url       signpost.URL
	host      string   // normalized, or "" if the URL has no valid one
	params    []string // the names of the placeholders
	own       bool     // on the host of the address, or a subdomain of it
	published bool     // in the manifest that is checked
	reached   bool     // called, by its own URL or through a link
}

// register sets the targets of the checks: the endpoints of the manifest, then those of the other manifests in the
// studio, so that the manifest wins ties.
func (c *checker) register(m signpost.Manifest) {
	var versions []signpost.Version
	for i, manifest := range append([]signpost.Manifest{m}, c.opts.Registered...) {
		versions = append(versions, signpost.Version{Manifest: manifest})
		for u, e := range manifest.All() {
			name, _ := host.Parse(u.Hostname())
			t := &target{Endpoint: *e, url: u, host: name, params: u.Placeholders(),
				own: c.ownHosts.Owns(u), published: i == 0}
			c.registered = append(c.registered, t)
			if name != "" {
				c.hosts[name] = true
			}
		}
	}
	c.targets = c.registered[:len(m.Endpoints)]
	c.index = match.NewIndex(versions...)
}

// owner returns the endpoint that answers for a feed, or nil.
func (c *checker) owner(feed string) *target {
	i := c.index.Find(feed)
	if i < 0 {
		return nil
	}
	return c.registered[i]
}
