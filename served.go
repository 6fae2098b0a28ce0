package signpost

import (
	"fmt"
	"strings"
)

// ServedHost returns the host that a served manifest was rendered for: own, the host of the address that it was fetched
// from, if any URL has it, and otherwise the most common host. It returns [HostPlaceholder] if a URL still contains
// {{host}}, or if there are no URLs.
//
// With [Manifest.ForHost] and [Manifest.Reopen] it makes a served manifest and a definition comparable by [Diff].
func (m Manifest) ServedHost(own string) string {
	counts, most := make(map[string]int), ""
	for _, e := range m.Endpoints {
		u := CutURL(e.URL)
		if u.HasHostPlaceholder() {
			return HostPlaceholder
		}
		counts[u.Hostname()]++
	}
	for _, e := range m.Endpoints { // in order, so that the first one wins a tie
		if host := CutURL(e.URL).Hostname(); counts[host] > counts[most] && !strings.Contains(host, "{{") {
			most = host
		}
	}
	switch {
	case own != "" && (counts[own] > 0 || most == ""):
		return own
	case most != "":
		return most
	}
	return HostPlaceholder
}

// ForHost returns a copy of the manifest as served to host, with {{host}} replaced in every URL. The error is a
// [*HostError] if the manifest does not exist for that host. Unlike [Template.Render], ForHost does not require a valid
// manifest.
func (m Manifest) ForHost(host string) (Manifest, error) {
	if !plausibleHost(host) {
		return Manifest{}, fmt.Errorf("%q is not a host name or an IP address", host)
	}
	for _, e := range m.Endpoints {
		if u := CutURL(e.URL); u.HasHostPlaceholder() && u.Hostname() != HostPlaceholder && !u.fits(host) {
			return Manifest{}, &HostError{host, u}
		}
	}
	return m.resolve(host), nil
}

// Reopen is the inverse of ForHost: it returns a copy of the manifest with {{host}} in place of host. The result is
// only a guess, because a URL may have named the host literally.
func (m Manifest) Reopen(host string) Manifest {
	m = NewManifest(m.Endpoints...)
	for i, e := range m.Endpoints {
		m.Endpoints[i].URL = CutURL(e.URL).Unresolve(host).String()
	}
	return m
}
