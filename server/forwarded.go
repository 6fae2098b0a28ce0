package server

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

var (
	// forwardedPair is a name=value of a Forwarded header (RFC 7239) up to the next one. Which element it
	// is in does not matter here, so commas and semicolons are alike. Many proxies leave out the quotes.
	forwardedPair = regexp.MustCompile(`^([^\s",;=]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;\\]*))[ \t]*(?:[,;]|$)`)
	quotedChar    = regexp.MustCompile(`\\(.)`)
)

// forwardedHost returns the host that proxies say the client asked for, or "" if they do not say.
// A client can put hosts in front of the proxy's own, so a list counts only where all of it agrees.
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

// forwardedNames returns the hosts that Forwarded and X-Forwarded-Host name. A proxy that sets one of them may pass on
// the other as a client sent it, so both count.
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
