package host

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"
)

// Limits of RFC 1035, in characters.
const (
	maxName  = 253 // a whole name
	maxLabel = 63  // a label, the part between two dots
)

// Error describes what is wrong with a host and how to fix it.
type Error struct {
	Host    string // empty if it is too long to be quoted
	Problem string // follows the host in a message, such as "is not an IPv4 address"
	Remedy  string
}

func (e *Error) Error() string {
	if e.Host == "" {
		return fmt.Sprintf("host %s: %s", e.Problem, e.Remedy)
	}
	return fmt.Sprintf("host %q %s: %s", e.Host, e.Problem, e.Remedy)
}

// CutPort splits an authority before the colon of its port. The port is empty if there is none, and ":" if nothing
// follows the colon.
func CutPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i:]
	}
	return authority, ""
}

// checkName returns nil if name is a host name or an IPv4 address, and otherwise the reason why not.
func checkName(name string) error {
	if name == "" {
		return &Error{name, "is empty", "give a name such as feeds.example.com"}
	}
	if len(name) > maxName {
		return &Error{name, fmt.Sprintf("has %d characters", len(name)), fmt.Sprintf("at most %d are allowed", maxName)}
	}
	if i := strings.IndexFunc(name, notInName); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return &Error{name, fmt.Sprintf("contains %q", r), `use letters, digits, "-", "_" and "."`}
	}
	const labelRemedy = "each part between two dots has 1 to 63 characters"
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return &Error{name, "has nothing between two dots", labelRemedy}
		case len(label) > maxLabel:
			return &Error{name, fmt.Sprintf("has a part of %d characters", len(label)), labelRemedy}
		case label[0] == '-' || label[len(label)-1] == '-':
			return &Error{name, fmt.Sprintf("has a hyphen at the beginning or end of %q", label), "put a letter or a digit there"}
		}
	}
	if isNumber(name[strings.LastIndexByte(name, '.')+1:]) { // clients treat such a name as an IPv4 address
		if _, err := netip.ParseAddr(name); err != nil {
			return &Error{name, "is not an IPv4 address", "write four numbers from 0 to 255, such as 192.0.2.1"}
		}
	}
	return nil
}

// isNumber reports whether label is a decimal or hexadecimal number.
func isNumber(label string) bool {
	hex, isHex := strings.CutPrefix(label, "0x")
	return strings.Trim(label, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
}

// notInName reports whether no host name contains r.
func notInName(r rune) bool {
	return (r < 'a' || 'z' < r) && (r < '0' || '9' < r) && r != '-' && r != '_' && r != '.'
}

// address returns the IP address if host is one, and otherwise the zero value.
func address(host string) netip.Addr {
	inner := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	brackets := len(host) - len(inner)
	addr, err := netip.ParseAddr(inner)
	if err != nil || addr.Is6() && brackets != 2 || addr.Is4() && brackets != 0 || addr.Zone() != "" {
		return netip.Addr{}
	}
	return addr
}
