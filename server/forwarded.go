package server

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

var (
	// forwardedPair matches one name=value pair of a Forwarded header (RFC 7239). It does not matter which element a
	// pair belongs to, so commas and semicolons are treated alike. Many proxies omit the quotes.
	forwardedPair = regexp.MustCompile(`^([^\s",;=]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;\\]*))[ \t]*(?:[,;]|$)`)
	quotedChar    = regexp.MustCompile(`\\(.)`)
)

// taken is a host of a request as it arrived, and the header that it was taken from.
type taken struct{ host, header string }

// forwardedHost returns the host that the client requested according to the proxies, or "" if they do not say. A client
// can put hosts in front of the proxy's own, so a list counts only if all its entries agree. The error comes with what
// the proxies said.
func forwardedHost(header http.Header) (host string, from taken, err error) {
	names, err := forwardedNames(header)
	if err != nil {
		return "", names[len(names)-1], err
	}
	for _, name := range names {
		parsed, err := ParseHost(name.host)
		if err != nil {
			return "", name, err
		}
		if host != "" && parsed != host {
			from.host += ", " + name.host
			if name.header != from.header {
				from.header += ", " + name.header
			}
			return "", from, errors.New("forwarded headers name different hosts")
		}
		host, from = parsed, name
	}
	return host, from, nil
}

// forwardedNames returns the hosts in Forwarded and X-Forwarded-Host. A proxy that sets one of them may pass on the
// other from the client, so both count. Empty elements of X-Forwarded-Host do not. With an error, the last one is the
// line that is malformed.
func forwardedNames(header http.Header) (names []taken, err error) {
	for _, line := range header["Forwarded"] {
		whole := line
		for line = strings.TrimLeft(line, " \t,;"); line != ""; line = strings.TrimLeft(line, " \t,;") {
			pair := forwardedPair.FindStringSubmatch(line)
			if pair == nil {
				return append(names, taken{whole, "Forwarded"}), errors.New("header Forwarded is malformed")
			}
			if strings.EqualFold(pair[1], "host") {
				names = append(names, taken{quotedChar.ReplaceAllString(pair[2], "$1") + pair[3], "Forwarded"})
			}
			line = line[len(pair[0]):]
		}
	}
	for _, line := range header["X-Forwarded-Host"] {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.Trim(name, " \t")
			if name != "" {
				names = append(names, taken{name, "X-Forwarded-Host"})
			}
		}
	}
	return names, nil
}
