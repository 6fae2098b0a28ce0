package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"signpost/host"
)

// ParseHost normalizes the host of an authority for use in manifests: see [host.Parse].
func ParseHost(authority string) (string, error) { return host.Parse(authority) }

// hostPolicy determines the host of a manifest, and whether requests for it are allowed.
type hostPolicy struct {
	public  string
	trusted []netip.Prefix
	allowed hostSet // replaces the hosts of the services, unless it is empty
}

// hostSet is a set of hosts. The empty set has every host.
type hostSet struct {
	names    map[string]bool
	suffixes []string // with a leading dot
}

func newHostSet(patterns []string) (hostSet, error) {
	s := hostSet{names: make(map[string]bool)}
	for _, pattern := range patterns {
		name, err := host.ParsePattern(pattern)
		if err != nil {
			return s, err
		}
		if suffix, wild := strings.CutPrefix(name, "*"); wild {
			s.suffixes = append(s.suffixes, suffix)
		} else {
			s.names[name] = true
		}
	}
	return s, nil
}

func (s hostSet) isEmpty() bool { return len(s.names)+len(s.suffixes) == 0 }

func (s hostSet) has(host string) bool {
	below := func(suffix string) bool { return strings.HasSuffix(host, suffix) }
	return s.isEmpty() || s.names[host] || slices.ContainsFunc(s.suffixes, below)
}

func newHostPolicy(opts Options) (hostPolicy, error) {
	p := hostPolicy{trusted: slices.Clone(opts.TrustedProxies)}
	for _, prefix := range p.trusted {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return p, fmt.Errorf("trusted proxy %q is not a range: write it like 10.0.0.0/8 or 2001:db8::/32", prefix)
		}
	}
	var err error
	if p.allowed, err = newHostSet(opts.AllowedHosts); err != nil {
		return p, fmt.Errorf("allowed %w", err)
	}
	if opts.PublicHost == "" {
		return p, nil
	}
	public, err := ParseHost(opts.PublicHost)
	if err != nil {
		return p, fmt.Errorf("public host: %w", err)
	}
	if !p.allowed.has(public) {
		return p, fmt.Errorf("public host %q is not an allowed host: allow it, or allow all", public)
	}
	p.public = public
	return p, nil
}

// host returns the host for a manifest of a service with the given hosts and where it was taken from, or the problem to
// respond with.
func (p *hostPolicy) host(r *http.Request, hosts hostSet) (host string, from taken, refused *problem) {
	if p.public != "" {
		return p.public, taken{}, nil
	}
	var err error
	if p.trusts(r.RemoteAddr) {
		if host, from, err = forwardedHost(r.Header); err != nil {
			return "", from, badForwarded
		}
	}
	if host == "" {
		// For a target in absolute form, net/http has put its authority into Host, without the user info.
		from = taken{r.Host, "Host"}
		if host, err = ParseHost(r.Host); err != nil || r.URL.User != nil {
			return "", from, badHost
		}
	}
	switch {
	case !p.allowed.isEmpty():
		if !p.allowed.has(host) {
			return "", from, hostNotAllowed
		}
	case !hosts.has(host) && !isFromHere(host, r):
		return "", from, hostNotAllowed
	}
	return host, from, nil
}

// forwarding are the headers that proxies add. A request without them and from this machine was not forwarded.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// isFromHere reports whether somebody on this machine asks for it by one of its own names, so that a first curl works.
// A proxy on the same machine lets nobody in.
func isFromHere(name string, r *http.Request) bool {
	if !host.IsLoopback(name) || slices.ContainsFunc(forwarding, func(header string) bool { return r.Header[header] != nil }) {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// trusts reports whether the peer is a trusted proxy. On a dual-stack listener, IPv4 peers have an IPv6 address, and
// link-local ones a zone.
func (p *hostPolicy) trusts(peer string) bool {
	if len(p.trusted) == 0 {
		return false
	}
	addr, err := netip.ParseAddrPort(peer)
	ip := addr.Addr().Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(p.trusted, func(r netip.Prefix) bool { return r.Contains(ip) })
}
