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

// forwardedHost returns the host that the client requested according to the proxies, or "" if they do not say. A client
// can put hosts in front of the proxy's own, so a list counts only if all its entries agree.
func forwardedHost(header http.Header) (string, error) {
	names, err := forwardedNames(header)
	agreed := ""
	for _, name := range names {
		host, err := ParseHost(name)
		if err != nil {
			return "", err
		}
		if agreed != "" && host != agreed {
			return "", errors.New("forwarded headers name different hosts")
		}
		agreed = host
	}
	return agreed, err
}

// forwardedNames returns the hosts in Forwarded and X-Forwarded-Host. A proxy that sets one of them may pass on the
// other from the client, so both count.
func forwardedNames(header http.Header) (names []string, err error) {
	for _, line := range header["Forwarded"] {
		for line = strings.TrimLeft(line, " \t,;"); line != ""; line = strings.TrimLeft(line, " \t,;") {
			pair := forwardedPair.FindStringSubmatch(line)
			if pair == nil {
				return nil, errors.New("header Forwarded is malformed")
			}
			if strings.EqualFold(pair[1], "host") {
				names = append(names, quotedChar.ReplaceAllString(pair[2], "$1")+pair[3])
			}
			line = line[len(pair[0]):]
		}
	}
	for _, line := range header["X-Forwarded-Host"] {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, strings.Trim(name, " \t"))
		}
	}
	return names, nil
}
