// Package hostname implements the rules for normalized host names and IP addresses: ASCII, lower case, IPv6 in
// brackets. The same rules apply to endpoint URLs and to requests; package host adds IDNA on top.
package hostname

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of RFC 1035, in characters.
const (
	MaxName  = 253 // a whole name
	MaxLabel = 63  // a label, the part between two dots
)

// Error describes what is wrong with a host and how to fix it.
type Error struct {
	Host    string
	Problem string // follows the host in a message, such as "is not an IPv4 address"
	Remedy  string
}

func (e *Error) Error() string {
	if e.Host == "" {
		return "host is empty: " + e.Remedy
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

// TrimDot removes the trailing dot of a fully qualified name. An IPv6 address in brackets cannot have one.
func TrimDot(host string) string {
	if strings.HasPrefix(host, "[") {
		return host
	}
	return strings.TrimSuffix(host, ".")
}

// Check returns nil if host is a host name, an IPv4 address or an IPv6 address in brackets, and otherwise the reason
// why not.
func Check(host string) *Error {
	switch {
	case IsName(host):
		return nil
	case strings.HasPrefix(host, "["):
		if _, ok := Addr(host); !ok {
			return &Error{host, "is not an IPv6 address in brackets", "write it like [2001:db8::1], without a zone"}
		}
		return nil
	}
	return checkName(host)
}

// IsName reports whether host is a name that no client mistakes for an address: its last label starts with a letter.
// This is the fast path for common hosts; Check decides about all others.
func IsName(host string) bool {
	label := 0 // length of the current label
	letter := false
	last := byte('.')
	for i := range len(host) {
		c := host[i]
		if label++; label == 1 {
			letter = c >= 'a' && c <= 'z'
		}
		if inLabel[c] { // nearly always
			if label > MaxLabel {
				return false
			}
			last = c
			continue
		}
		switch {
		case c == '.' && (label == 1 || last == '-'), c == '-' && (last == '.' || label > MaxLabel), c != '.' && c != '-':
			return false
		case c == '.':
			label = 0
		}
		last = c
	}
	return letter && label > 0 && last != '-' && len(host) <= MaxName
}

// inLabel holds the characters that may be anywhere in a label.
var inLabel = func() (in [256]bool) {
	for c := range in {
		in[c] = c != '.' && c != '-' && !notInName(rune(c))
	}
	return in
}()

const (
	allowedCharacters = `use letters, digits, "-", "_" and "."`
	labelRemedy       = "each part between two dots has 1 to 63 characters"
)

func labelProblem(label string) string {
	if label == "" {
		return "has nothing between two dots"
	}
	return fmt.Sprintf("has a part of %d characters", utf8.RuneCountInString(label))
}

func checkName(name string) *Error {
	if name == "" {
		return &Error{name, "is empty", "give a name such as feeds.example.com"}
	}
	if len(name) > MaxName {
		return &Error{name, fmt.Sprintf("has %d characters", len(name)), fmt.Sprintf("at most %d are allowed", MaxName)}
	}
	if i := strings.IndexFunc(name, notInName); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return &Error{name, fmt.Sprintf("contains %q", r), allowedCharacters}
	}
	last := ""
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "" || len(label) > MaxLabel:
			return &Error{name, labelProblem(label), labelRemedy}
		case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
			return &Error{name, fmt.Sprintf("has a hyphen at the beginning or end of %q", label), "put a letter or a digit there"}
		}
		last = label
	}
	if isNumber(last) { // clients treat such a name as an IPv4 address
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

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

// CheckInternational checks a name that is not all ASCII as far as the standard library allows. An accepted name may
// still have no ASCII form; only package host can tell.
func CheckInternational(name string) *Error {
	for label := range strings.SplitSeq(name, ".") {
		if n := utf8.RuneCountInString(label); n == 0 || n > MaxLabel {
			return &Error{name, labelProblem(label), labelRemedy}
		}
		if i := strings.IndexFunc(label, notInInternational); i >= 0 {
			r, _ := utf8.DecodeRuneInString(label[i:])
			return &Error{name, fmt.Sprintf("contains %q", r), allowedCharacters}
		}
	}
	return nil
}

func notInInternational(r rune) bool {
	return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// Addr returns the IP address if host is one.
func Addr(host string) (netip.Addr, bool) {
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return netip.Addr{}, false
		}
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil || addr.Is6() != bracketed || addr.Zone() != "" {
		return netip.Addr{}, false
	}
	return addr, true
}

// IsLoopback reports whether host is this machine: localhost, a subdomain of it, or a loopback address.
func IsLoopback(host string) bool {
	addr, _ := Addr(host)
	return addr.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// IsLocal reports whether host is meaningful only on one machine or in one network.
func IsLocal(host string) bool {
	addr, _ := Addr(host)
	addr = addr.Unmap()
	return IsLoopback(host) || addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() ||
		strings.HasSuffix(host, ".local")
}
