// Package host extracts the host from an authority, such as the Host header of a request, and normalizes it for use in
// manifests.
//
// [Parse] is for untrusted authorities. The other functions accept hosts in any spelling that Parse accepts.
package host

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"signpost/internal/hostname"
)

// maxAuthority bounds the work on input that cannot be a host: four bytes of UTF-8 for each character, and a port.
const maxAuthority = 4*hostname.MaxName + len(":65535")

// idn maps names as browsers do. It accepts some ASCII characters that are not allowed in host names, so its result is
// checked like any other name.
var idn = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.BidiRule())

// Parse returns the normalized host of an authority such as "Feeds.Example.com:8080": no port, lower case, IDNs in
// ASCII (Punycode), no trailing dot, IPv6 in brackets.
func Parse(authority string) (string, error) {
	if hostname.IsName(authority) { // the usual case
		return authority, nil
	}
	if len(authority) > maxAuthority {
		return "", fmt.Errorf("host is too long: %d bytes, but a host name has at most %d characters", len(authority), hostname.MaxName)
	}
	if strings.ContainsAny(authority, `/\?#@`) {
		return "", fmt.Errorf("host %q is more than a host: leave out scheme, user info and path", authority)
	}
	host, port := hostname.CutPort(authority)
	if !strings.HasPrefix(host, "[") && strings.Contains(host, ":") {
		return "", fmt.Errorf("host %q has too many colons: an IPv6 address goes in brackets, such as [::1]", authority)
	}
	if len(port) > 1 {
		if _, err := strconv.ParseUint(port[1:], 10, 16); err != nil {
			return "", fmt.Errorf("host %q has port %q: a port is a number from 0 to 65535", authority, port[1:])
		}
	}
	if !isASCII(host) {
		mapped, err := idn.ToASCII(host)
		if err != nil || !utf8.ValidString(host) { // idna replaces invalid bytes with U+FFFD and accepts that
			return "", fmt.Errorf("host %q is not a valid internationalized name: write it in ASCII, such as xn--bcher-kva.example", authority)
		}
		host = mapped
	}
	host = hostname.TrimDot(strings.ToLower(host))
	if err := hostname.Check(host); err != nil {
		return "", err
	}
	if strings.HasPrefix(host, "[") {
		addr, _ := hostname.Addr(host)
		return "[" + addr.String() + "]", nil
	}
	return host, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Equal reports whether two hosts are the same. An invalid host equals nothing.
func Equal(a, b string) bool {
	first, err := Parse(a)
	if err != nil {
		return false
	}
	second, err := Parse(b)
	return err == nil && first == second
}

// IsIP reports whether host is an IP address.
func IsIP(host string) bool {
	host, err := Parse(host)
	_, ok := hostname.Addr(host)
	return err == nil && ok
}

// IsLoopback reports whether host is this machine: localhost, a subdomain of it, or a loopback address.
func IsLoopback(host string) bool {
	host, err := Parse(host)
	return err == nil && hostname.IsLoopback(host)
}

// ParseName is [Parse] for a host that a user enters without a port, such as the value of {{host}}. A port is an error,
// since it would be lost.
func ParseName(name string) (string, error) {
	host, err := Parse(name)
	if err != nil {
		return "", err
	}
	if _, port := hostname.CutPort(name); port != "" {
		return "", fmt.Errorf("host %q has a port: remove it and write the port in the URLs instead, such as https://{{host}}%s/", name, port)
	}
	return host, nil
}
