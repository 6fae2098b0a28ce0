package warnings

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/host"
)

// defaultPorts holds the ports that clients leave out, by scheme.
var defaultPorts = map[string]string{"https": ":443", "http": ":80"}

// unusual reports a URL that is valid but not in the form that clients and entries use. Endpoints are compared with
// feeds as text, so such an endpoint answers for none of them.
func (c *checker) unusual() {
	authority, rest := usualParts(c.url)
	hint, usual := "", withParts(c.url, authority, rest)
	switch {
	case !isASCII(c.url.Hostname()) && c.url.HasHostPlaceholder(): // its form depends on the host
		hint = "write the host in Punycode, such as xn--bcher-kva.example"
	case usual != c.url.String():
		hint = "write " + usual
	case strings.Contains(strings.ReplaceAll(c.url.Path(), "://", ""), "//"): // a URL in a path is another one
		c.warn("remove a slash, unless the server needs it", nil, "%q has an empty segment in its path", c.url)
		return
	default:
		return
	}
	c.warn(hint, nil, "%q is not in the form that clients send: feeds in that form do not match", c.url)
}

// withParts returns a URL with another authority, and with something else after it.
func withParts(u signpost.URL, authority, rest string) string {
	return strings.TrimSuffix(u.String(), u.Authority()+u.Rest()) + authority + rest
}

// usualParts returns the authority of a URL, and what is after it, as clients write them.
func usualParts(u signpost.URL) (authority, rest string) {
	name, port := host.CutPort(u.Authority())
	name = strings.TrimSuffix(name, ".")
	if !u.HasHostPlaceholder() {
		if parsed, err := host.Parse(name); err == nil && !strings.EqualFold(parsed, name) {
			name = parsed
		}
	}
	if port != "" {
		port = ":" + strings.TrimLeft(port, ":0")
	}
	if port == defaultPorts[u.Scheme()] {
		port = ""
	}
	rest = u.Rest()
	if strings.HasPrefix(rest, "//") {
		rest = "/" + strings.TrimLeft(rest, "/")
	}
	if u.Query() == "" {
		rest = strings.TrimSuffix(rest, "?")
	}
	if !isASCII(rest) {
		rest = escapeNonASCII(rest)
	}
	return name + port, rest
}

var placeholderOrNonASCII = regexp.MustCompile(`\{\{[^{}]*\}\}|[^\x00-\x7f]+`)

// escapeNonASCII percent-encodes characters that are not ASCII, except in placeholders.
func escapeNonASCII(rest string) string {
	return placeholderOrNonASCII.ReplaceAllStringFunc(rest, func(part string) string {
		if strings.HasPrefix(part, "{{") {
			return part
		}
		return url.PathEscape(part)
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
