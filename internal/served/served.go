// Package served guesses what the URLs of a served manifest were before {{host}} was filled in, so that the manifest can be
// compared with a definition.
package served

import (
	"strings"

	"signpost"
	"signpost/host"
)

// Host returns the host that a served manifest was rendered for: own, the host of the address that it was fetched
// from, if any URL has it, and otherwise the most common host. It returns [signpost.HostPlaceholder] if a URL still
// contains {{host}}, or if there are no URLs.
func Host(m signpost.Manifest, own string) string {
	counts, most := make(map[string]int), ""
	for _, e := range m.Endpoints {
		u := signpost.CutURL(e.URL)
		if u.HasHostPlaceholder() {
			return signpost.HostPlaceholder
		}
		counts[u.Hostname()]++
	}
	delete(counts, "") // of malformed URLs

	for _, e := range m.Endpoints { // in order, so that the first one wins a tie
		if name := signpost.CutURL(e.URL).Hostname(); counts[name] > counts[most] && !strings.Contains(name, "{{") {
			most = name
		}
	}
	switch {
	case own != "" && (counts[own] > 0 || most == ""):
		return own
	case most != "":
		return most
	}
	return signpost.HostPlaceholder
}

// Compare returns the host for which the most URLs of a definition become URLs of a served manifest, or "" if there is none,
// and the number of URLs that both then have.
func Compare(served, definition signpost.Manifest) (name string, common int) {
	parts := func(raw string) (u signpost.URL, rest string) {
		u = signpost.CutURL(raw)
		return u, u.Scheme() + "://" + u.Rest()
	}
	candidates := make(map[string][]signpost.URL) // of the manifest, by everything but the authority
	for _, e := range served.Endpoints {
		u, rest := parts(e.URL)
		candidates[rest] = append(candidates[rest], u)
	}
	counts, same := make(map[string]int), 0
	for _, e := range definition.Endpoints {
		u, rest := parts(e.URL)
		for _, candidate := range candidates[rest] {
			if u.Equal(candidate) {
				same++
			} else if found := u.HostFor(candidate); found != "" {
				if counts[found]++; counts[found] > counts[name] {
					name = found
				}
			}
		}
	}
	return name, same + counts[name]
}

// Reopen is the inverse of [signpost.Manifest.ForHost]: it returns a copy of the manifest with {{host}} in place of a host.
// The result is only a guess, because a URL may have named the host literally.
func Reopen(m signpost.Manifest, name string) signpost.Manifest {
	m = signpost.NewManifest(m.Endpoints...)
	for i, e := range m.Endpoints {
		m.Endpoints[i].URL = Unresolve(e.URL, name)
	}
	return m
}

// Unresolve replaces the hostname of a URL with {{host}} if it is the given one.
func Unresolve(url, name string) string {
	u := signpost.CutURL(url)
	hostname, port := host.CutPort(u.Authority())
	if !strings.EqualFold(hostname, name) {
		return url
	}
	return u.WithAuthority(signpost.HostPlaceholder + port).String()
}
