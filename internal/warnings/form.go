package warnings

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/host"
)

// defaultPorts holds the ports that clients leave out, by scheme.
var defaultPorts = map[string]string{"https": "443", "http": "80"}

// unusual reports a URL that is valid but not in the form that clients and entries use. Endpoints are compared with
// feeds as text, so such an endpoint answers for none of them.
func (c *checker) unusual() {
	problem, fixed := unusual(c.url)
	switch {
	case problem == "":
	case fixed == "":
		c.warn("write the host as clients send it, such as xn--bcher-kva.example", nil, "%q %s", c.url, problem)
	default:
		c.warn("write "+fixed, nil, "%q %s", c.url, problem)
	}
}

// unusual returns what is unusual about the form of a URL, and its usual form. Both are empty if nothing is; only the
// latter is if the standard library cannot tell.
func unusual(u signpost.URL) (problem, fixed string) {
	name, port := u.Hostname(), u.Port()
	_, colonPort := host.CutPort(u.Authority())
	number, _ := strconv.Atoi(port)
	on := func(authority string) string { return u.WithAuthority(authority).String() }
	before := strings.TrimSuffix(u.String(), u.Rest())
	switch parsed, err := host.Parse(name); {
	case !isASCII(name):
		problem = "has an international host: clients send it in Punycode, and feeds with that host do not match"
		if err != nil { // {{host}} is part of it
			return problem, ""
		}
		return problem, on(parsed + colonPort)
	case strings.HasSuffix(name, "."):
		return "has a dot after its host: feeds without it do not match", on(strings.TrimSuffix(name, ".") + colonPort)
	case port != "" && strconv.Itoa(number) == defaultPorts[u.Scheme()]:
		return fmt.Sprintf("has the default port of %s: clients leave it out, and feeds without it do not match", u.Scheme()), on(name)
	case port != "" && strconv.Itoa(number) != port:
		return "has a port that begins with 0: feeds without the 0 do not match", on(name + ":" + strconv.Itoa(number))
	case strings.HasPrefix(name, "[") && parsed != strings.ToLower(name):
		return "has an IPv6 address that is not in its shortest form: feeds with that form do not match", on(parsed + colonPort)
	case strings.HasPrefix(u.Path(), "//"):
		return "has two slashes after its host: feeds with one do not match", before + "/" + strings.TrimLeft(u.Rest(), "/")
	case !isASCII(placeholder.ReplaceAllString(u.Rest(), "")):
		return "has characters that clients percent-encode: feeds with the encoded form do not match", before + escapeNonASCII(u.Rest())
	case strings.HasSuffix(u.String(), "?") && u.Query() == "":
		return "ends in a question mark: feeds without it do not match", strings.TrimSuffix(u.String(), "?")
	}
	return "", ""
}

var (
	placeholder   = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	placeholderOr = regexp.MustCompile(`\{\{[^{}]*\}\}|[^\x00-\x7f]+`) // or text that is not ASCII
)

// escapeNonASCII percent-encodes characters that are not ASCII, except in placeholders.
func escapeNonASCII(rest string) string {
	return placeholderOr.ReplaceAllStringFunc(rest, func(text string) string {
		if strings.HasPrefix(text, "{{") {
			return text
		}
		var out strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&out, "%%%02X", c)
		}
		return out.String()
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
