package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxName  = 253 // characters of a host name, and
	maxLabel = 63  // of each part between its dots: RFC 1035

	// maxAuthority bounds the work on a name that cannot be one: four bytes of UTF-8 for every
	// character, and a port.
	maxAuthority = 4*maxName + len(":65535")
)

// idn maps names as browsers do. It lets some ASCII through that is in no host name, so what it returns
// is checked like any other name.
var idn = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.BidiRule())

// ParseHost returns the host of an authority such as "Feeds.Example.com:8080" in the one form that goes
// into manifests: no port, lower case, IDNA in ASCII, no dot at the end, IPv6 in brackets.
func ParseHost(s string) (string, error) {
	if isName(s) { // as most are
		return s, nil
	}
	if len(s) > maxAuthority {
		return "", fmt.Errorf("host of %d bytes is too long: a host name has at most %d characters", len(s), maxName)
	}
	if strings.ContainsAny(s, `/\?#@`) {
		return "", fmt.Errorf("host %q is more than a host: leave out scheme, user info and path", s)
	}
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port = s[:i], s[i+1:]
	}
	bracketed := strings.HasPrefix(host, "[")
	if !bracketed && strings.Contains(host, ":") {
		return "", fmt.Errorf("host %q has too many colons: an IPv6 address goes in brackets, such as [::1]", s)
	}
	if port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", fmt.Errorf("host %q has port %q: a port is a number from 0 to 65535", s, port)
		}
	}
	if bracketed {
		return parseIPv6(host)
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		mapped, err := idn.ToASCII(host)
		if err != nil || !utf8.ValidString(host) { // which idna replaces and then takes for a letter
			return "", fmt.Errorf("host %q is not an internationalised name: give it in ASCII, such as xn--bcher-kva.example", s)
		}
		host = mapped
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if err := checkName(host); err != nil {
		return "", err
	}
	return host, nil
}

func parseIPv6(s string) (string, error) {
	inner, closed := strings.CutSuffix(s[1:], "]")
	addr, err := netip.ParseAddr(inner)
	if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
		return "", fmt.Errorf("host %q is not an IPv6 address in brackets: write it like [2001:db8::1], without a zone", s)
	}
	return "[" + addr.String() + "]", nil
}

// isName reports whether s is a host name in lower case that no client takes for an address: its last part starts with a
// letter. checkName says of all others what they are.
func isName(s string) bool {
	label := 0 // characters since the last dot
	letter := false
	for i := range len(s) {
		c := s[i]
		if label++; label == 1 {
			letter = c >= 'a' && c <= 'z'
		}
		switch {
		case c == '.' && label > 1:
			label = 0
		case c == '.' || label > maxLabel || notInName(rune(c)):
			return false
		}
	}
	return letter && label > 0 && len(s) <= maxName
}

// checkName reports why a name in lower case is neither a host name nor an IPv4 address.
func checkName(name string) error {
	if name == "" {
		return errors.New("host is empty: give a name such as feeds.example.com")
	}
	if len(name) > maxName {
		return fmt.Errorf("host name has %d characters: at most %d are allowed", len(name), maxName)
	}
	if i := strings.IndexFunc(name, notInName); i >= 0 {
		return fmt.Errorf(`host name %q has %q in it: use letters, digits, "-", "_" and "."`, name, name[i])
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > maxLabel {
			return fmt.Errorf("host name %q has %d characters between two dots: 1 to %d are allowed", name, len(label), maxLabel)
		}
		last = label
	}
	// Clients take a name that ends in a number for an IPv4 address, however it is written.
	hex, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == "" {
		if _, err := netip.ParseAddr(name); err != nil {
			return fmt.Errorf("host %q is not an IPv4 address: write four numbers from 0 to 255, such as 192.0.2.1", name)
		}
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// hostPolicy decides which host a manifest is for, and whether the service answers for it.
type hostPolicy struct {
	public   string
	trusted  []netip.Prefix
	allowed  map[string]bool
	suffixes []string // of allowed hosts, with the dot in front
}

func newHostPolicy(opts Options) (hostPolicy, error) {
	p := hostPolicy{trusted: slices.Clone(opts.TrustedProxies), allowed: make(map[string]bool)}
	for _, prefix := range p.trusted {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return p, fmt.Errorf("trusted proxy %q is not a range: write it like 10.0.0.0/8 or 2001:db8::/32", prefix)
		}
	}
	for _, pattern := range opts.AllowedHosts {
		suffix, wild := strings.CutPrefix(pattern, "*")
		probe := suffix
		if wild {
			probe = "x" + suffix // a host that the pattern is meant for
		}
		host, err := ParseHost(probe)
		switch {
		case wild && strings.HasPrefix(host, "x."):
			p.suffixes = append(p.suffixes, host[1:])
		case wild:
			return p, fmt.Errorf("allowed host %q is not a pattern: write *.example.com, or give none to allow all", pattern)
		case err != nil:
			return p, fmt.Errorf("allowed host %q: %w", pattern, err)
		default:
			p.allowed[host] = true
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

// host returns the host that goes into the manifest, or what to answer instead.
func (p *hostPolicy) host(r *http.Request) (host string, refused *problem) {
	if p.public != "" {
		return p.public, nil
	}
	var err error
	if p.trusts(r.RemoteAddr) {
		if host, err = forwardedHost(r.Header); err != nil {
			return "", badForwarded
		}
	}
	if host == "" {
		// For a target in absolute form net/http has put its authority into Host, all but the user info.
		if host, err = ParseHost(r.Host); err != nil || r.URL.User != nil {
			return "", badHost
		}
	}
	if !p.allows(host) {
		return "", hostNotAllowed
	}
	return host, nil
}

func (p *hostPolicy) allows(host string) bool {
	below := func(suffix string) bool { return strings.HasSuffix(host, suffix) }
	return len(p.allowed)+len(p.suffixes) == 0 || p.allowed[host] || slices.ContainsFunc(p.suffixes, below)
}

// trusts reports whether the peer is a trusted proxy. On a dual-stack listener an IPv4 peer has an IPv6
// address, and a link-local one a zone.
func (p *hostPolicy) trusts(peer string) bool {
	if len(p.trusted) == 0 {
		return false
	}
	addr, err := netip.ParseAddrPort(peer)
	ip := addr.Addr().Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(p.trusted, func(r netip.Prefix) bool { return r.Contains(ip) })
}
