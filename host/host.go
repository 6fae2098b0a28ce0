// Package host extracts the host from an authority, such as the Host header of a request, and normalizes it for use in
// manifests.
//
// [Parse] is for untrusted authorities. The other functions accept hosts in any spelling that Parse accepts.
package host

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxAuthority bounds the work on input that cannot be a host: four bytes of UTF-8 for each character, and a port.
const maxAuthority = 4*maxName + len(":65535")

// idn maps names as browsers do. It accepts some ASCII characters that are not allowed in host names, so its result is
// checked like any other name.
var idn = idna.New(idna.MapForLookup(), idna.StrictDomainName(false), idna.CheckHyphens(false), idna.BidiRule())

// Parse returns the normalized host of an authority such as "Feeds.Example.com:8080": no port, lower case, IDNs in
// ASCII (Punycode), no trailing dot, IPv6 in brackets. The error is an [*Error].
func Parse(authority string) (string, error) {
	if len(authority) > maxAuthority {
		remedy := fmt.Sprintf("%d bytes, but a host name has at most %d characters", len(authority), maxName)
		return "", &Error{"", "is too long", remedy}
	}
	if strings.ContainsAny(authority, `/?#@`) {
		return "", &Error{authority, "is more than a host", "leave out scheme, user info and path"}
	}
	host, port := CutPort(authority)
	if !strings.HasPrefix(host, "[") && strings.Contains(host, ":") {
		return "", &Error{authority, "has too many colons", "an IPv6 address goes in brackets, such as [::1]"}
	}
	if len(port) > 1 {
		if _, err := strconv.ParseUint(port[1:], 10, 16); err != nil {
			return "", &Error{authority, fmt.Sprintf("has port %q", port[1:]), "a port is a number from 0 to 65535"}
		}
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		mapped, err := idn.ToASCII(host)
		if err != nil || !utf8.ValidString(host) { // idna replaces invalid bytes with U+FFFD and accepts that
			const remedy = "write it in ASCII, such as xn--bcher-kva.example"
			return "", &Error{authority, "is not a valid internationalized name", remedy}
		}
		host = mapped
	}
	host = strings.ToLower(host)
	if strings.HasPrefix(host, "[") {
		addr := address(host)
		if !addr.IsValid() {
			return "", &Error{host, "is not an IPv6 address in brackets", "write it like [2001:db8::1], without a zone"}
		}
		return "[" + addr.String() + "]", nil
	}
	host = strings.TrimSuffix(host, ".") // of a fully qualified name
	if err := checkName(host); err != nil {
		return "", err
	}
	return host, nil
}

// Equal reports whether two hosts are the same. An invalid host equals nothing.
func Equal(a, b string) bool {
	first, _ := parsed(a)
	second, _ := parsed(b)
	return first == second && first != ""
}

// IsIP reports whether host is an IP address.
func IsIP(host string) bool {
	_, addr := parsed(host)
	return addr.IsValid()
}

// IsLoopback reports whether host is this machine: localhost, a subdomain of it, or a loopback address.
func IsLoopback(host string) bool {
	name, addr := parsed(host)
	return addr.IsLoopback() || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// IsLocal reports whether host is meaningful only on one machine or in one network.
func IsLocal(host string) bool {
	name, addr := parsed(host)
	isPrivate := addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	return IsLoopback(name) || isPrivate || strings.HasSuffix(name, ".local")
}

// parsed returns a host as Parse does, and its address if it is one, as IPv4 if that is mapped to IPv6. Both are zero
// if the host is invalid.
func parsed(host string) (string, netip.Addr) {
	name, _ := Parse(host)
	return name, address(name).Unmap()
}

// ParseName is [Parse] for a host that a user enters without a port, such as the value of {{host}}. A port is an error,
// since it would be lost.
func ParseName(name string) (string, error) {
	host, err := Parse(name)
	if err != nil {
		return "", err
	}
	if _, port := CutPort(name); port != "" {
		remedy := fmt.Sprintf("remove it and write the port in the URLs instead, such as https://{{host}}%s/", port)
		return "", &Error{name, "has a port", remedy}
	}
	return host, nil
}

// ParsePattern returns the normalized form of an exact name, or of "*.example.com", which stands for all subdomains of
// example.com. A port is an error. The error is an [*Error].
func ParsePattern(pattern string) (string, error) {
	suffix, wild := strings.CutPrefix(pattern, "*")
	if !wild {
		return ParseName(pattern)
	}
	name, err := ParseName("x" + suffix) // an example of a host that it stands for
	if err != nil || !strings.HasPrefix(name, "x.") {
		return "", &Error{pattern, "is not a pattern", "write *.example.com for all subdomains of example.com"}
	}
	return "*" + name[1:], nil
}
