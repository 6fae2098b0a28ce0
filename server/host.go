package server

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"

	"signpost"
	"signpost/host"
)

// ParseHost normalizes the host of an authority for use in manifests: see [host.Parse].
func ParseHost(authority string) (string, error) { return host.Parse(authority) }

// hostPolicy determines the host of a manifest, and whether requests for it are allowed.
type hostPolicy struct {
	public  string
	trusted []netip.Prefix
	allowed signpost.Hosts // replaces the hosts of the services, unless it is empty
}

// allows reports whether a list of hosts has a normalized one. The empty list has every host.
func allows(hosts signpost.Hosts, host string) bool {
	return len(hosts) == 0 || slices.Contains(hosts, host) || hosts.Has(host)
}

func newHostPolicy(opts Options) (hostPolicy, error) {
	p := hostPolicy{trusted: slices.Clone(opts.TrustedProxies)}
	for _, prefix := range p.trusted {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return p, fmt.Errorf("trusted proxy %q is not a range: write it like 10.0.0.0/8 or 2001:db8::/32", prefix)
		}
	}
	allowed, err := signpost.ParseHosts(opts.AllowedHosts...)
	if err != nil {
		return p, fmt.Errorf("allowed %w", err)
	}
	p.allowed = allowed
	if opts.PublicHost == "" {
		return p, nil
	}
	p.public, err = ParseHost(opts.PublicHost)
	if err != nil {
		return p, fmt.Errorf("public host: %w", err)
	}
	return p, nil
}

// host returns the host for a manifest of a service with the given hosts and where it was taken from, or the problem to
// respond with.
func (p *hostPolicy) host(r *http.Request, hosts signpost.Hosts) (host string, from taken, refused *problem) {
	if p.public != "" {
		return p.public, taken{}, nil
	}
	host, from, refused = p.requested(r)
	if refused != nil {
		return "", from, refused
	}
	isAllowed := allows(p.allowed, host)
	if len(p.allowed) == 0 {
		isAllowed = allows(hosts, host) || isFromHere(host, r)
	}
	if !isAllowed {
		return "", from, hostNotAllowed
	}
	return host, from, nil
}

// requested returns the host that a request is for, allowed or not.
func (p *hostPolicy) requested(r *http.Request) (host string, from taken, refused *problem) {
	if p.trusts(r.RemoteAddr) {
		host, from, err := forwardedHost(r.Header)
		switch {
		case err != nil:
			return "", from, badForwarded
		case host != "":
			return host, from, nil
		}
	}
	// For a target in absolute form, net/http has put its authority into Host, without the user info.
	from = taken{r.Host, "Host"}
	host, err := ParseHost(r.Host)
	if err != nil || r.URL.User != nil {
		return "", from, badHost
	}
	return host, from, nil
}

// forwarding are the headers that proxies add. A request without them and from this machine was not forwarded.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// isFromHere reports whether somebody on this machine asks for it by one of its own names, so that a first curl works.
// A proxy on the same machine lets nobody in: without configuration, nginx speaks HTTP/1.0 and adds no header.
func isFromHere(name string, r *http.Request) bool {
	isSet := func(header string) bool { return r.Header[header] != nil }
	if !host.IsLoopback(name) || !r.ProtoAtLeast(1, 1) || slices.ContainsFunc(forwarding, isSet) {
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
