package diff

import (
	"cmp"
	"strings"

	"signpost"
	"signpost/internal/served"
)

// hosts knows what URLs were before {{host}} was filled in, so that fingerprints do not depend on the host.
type hosts struct {
	host    string            // for which both states are compared; empty if {{host}} is unresolved
	written map[string]string // URLs of definitions, by their form for the host
}

// align returns both states for the same host: that of old, or else that of new. A definition is rendered for it, and a
// manifest for another host counts as if it had been served for this one.
func align(old, new signpost.Service) (before, after signpost.Service, h hosts) {
	h = hosts{cmp.Or(old.Host, new.Host), make(map[string]string)}
	if h.host == "" {
		return old, new, h
	}
	before = h.serve(old, nil)
	known := make(map[string]bool)
	for _, v := range before.Versions {
		for _, e := range v.Manifest.Endpoints {
			known[e.URL] = true
		}
	}
	return before, h.serve(new, known), h
}

// serve returns a service as served for the host. known has the URLs that it is compared with.
func (h *hosts) serve(s signpost.Service, known map[string]bool) signpost.Service {
	if s.Host == h.host {
		return s
	}
	versions := s.Versions
	s.Versions = nil
	for _, v := range versions {
		open := signpost.NewManifest(v.Manifest.Endpoints...)
		for i := range open.Endpoints {
			url := &open.Endpoints[i].URL
			if s.Host != "" {
				*url = reopen(*url, s.Host, func(url string) bool { return known[strings.ReplaceAll(url, signpost.HostPlaceholder, h.host)] })
			}
			h.written[strings.ReplaceAll(*url, signpost.HostPlaceholder, h.host)] = *url
		}
		if served, err := open.ForHost(h.host); err == nil { // otherwise the service has no manifest for the host
			v.Manifest = served
		}
		s.Versions = append(s.Versions, v)
	}
	return s
}

// reopen returns a URL with {{host}} in place of the host that it was served for. If the other state has only the URL itself,
// it names the host literally. A host that only contains that one, such as cdn.feeds.example.com, may belong to somebody
// else: {{host}} was a part of it if the other state has such a URL.
func reopen(url, host string, known func(string) bool) string {
	u := signpost.CutURL(url)
	open := u.WithAuthority(strings.ReplaceAll(u.Authority(), host, signpost.HostPlaceholder)).String()
	own := served.Unresolve(url, host)
	switch {
	case known(own):
	case known(url):
		return url
	case known(open):
		return open
	}
	return own
}

// open returns a URL with {{host}}, as its definition has it. If it is only in a served manifest, this is a guess.
func (h *hosts) open(url string) string {
	if written, found := h.written[url]; found || h.host == "" {
		return cmp.Or(written, url)
	}
	u := signpost.CutURL(url)
	if part, found := strings.CutSuffix(u.Hostname(), "."+h.host); found {
		return u.WithAuthority(strings.Replace(u.Authority(), u.Hostname(), part+"."+signpost.HostPlaceholder, 1)).String()
	}
	return served.Unresolve(url, h.host)
}
