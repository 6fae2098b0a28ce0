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
	public   string
	trusted  []netip.Prefix
	allowed  map[string]bool
	suffixes []string // of allowed hosts, with a leading dot
}

func newHostPolicy(opts Options) (hostPolicy, error) {
	p := hostPolicy{trusted: slices.Clone(opts.TrustedProxies), allowed: make(map[string]bool)}
	for _, prefix := range p.trusted {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return p, fmt.Errorf("trusted proxy %q is not a range: write it like 10.0.0.0/8 or 2001:db8::/32", prefix)
		}
	}
	for _, pattern := range opts.AllowedHosts {
		name, err := host.ParsePattern(pattern)
		if err != nil {
			return p, fmt.Errorf("allowed host %q: %w", pattern, err)
		}
		if suffix, wild := strings.CutPrefix(name, "*"); wild {
			p.suffixes = append(p.suffixes, suffix)
		} else {
			p.allowed[name] = true
		}
	}
	if opts.PublicHost == "" {
		return p, nil
	}
	public, err := ParseHost(opts.PublicHost)
	if err != nil {
		return p, fmt.Errorf("public host: %w", err)
	}
	if !p.allows(public) {
		return p, fmt.Errorf("public host %q is not an allowed host: allow it, or allow all", public)
	}
	p.public = public
	return p, nil
}

// host returns the host for the manifest and where it was taken from, or the problem to respond with.
func (p *hostPolicy) host(r *http.Request) (host string, from taken, refused *problem) {
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
	if !p.allows(host) {
		return "", from, hostNotAllowed
	}
	return host, from, nil
}

func (p *hostPolicy) allows(host string) bool {
	below := func(suffix string) bool { return strings.HasSuffix(host, suffix) }
	return len(p.allowed)+len(p.suffixes) == 0 || p.allowed[host] || slices.ContainsFunc(p.suffixes, below)
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
