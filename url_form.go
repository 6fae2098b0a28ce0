package signpost

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"signpost/host"
)

// RuleUnusualURL reports URLs in a form in which feeds are hardly ever written.
const RuleUnusualURL = "unusual-url"

// defaultPorts holds the ports that clients leave out, by scheme.
var defaultPorts = map[string]string{"https": "443", "http": "80"}

// unusual reports a URL that is valid but not in the form that clients and entries use. Endpoints are compared with
// feeds as text, so such an endpoint answers for none of them.
func (v *warner) unusual(u URL) {
	switch problem, fixed := u.unusual(); {
	case problem != "" && fixed != "":
		v.add(RuleUnusualURL, "write "+fixed, nil, "%q %s", u, problem)
	case problem != "":
		v.add(RuleUnusualURL, "write the host as clients send it, such as xn--bcher-kva.example", nil, "%q %s", u, problem)
	}
}

// unusual returns what is unusual about the form of a URL, and its usual form. Both are empty if nothing is; only the
// latter is if the standard library cannot tell.
func (u URL) unusual() (problem, fixed string) {
	name, port := u.Hostname(), u.Port()
	with := func(authority, rest string) string { return u.scheme + "://" + authority + rest }
	_, colonPort := host.CutPort(u.authority)
	number, _ := strconv.Atoi(port)
	switch parsed, err := host.Parse(name); {
	case !isASCII(name):
		const problem = "has an international host: clients send it in Punycode, and feeds with that host do not match"
		if err != nil { // {{host}} is part of it
			return problem, ""
		}
		return problem, with(parsed+colonPort, u.Rest())
	case strings.HasSuffix(name, "."):
		return "has a dot after its host: feeds without it do not match", with(strings.TrimSuffix(name, ".")+colonPort, u.Rest())
	case port != "" && strconv.Itoa(number) == defaultPorts[u.Scheme()]:
		return fmt.Sprintf("has the default port of %s: clients leave it out, and feeds without it do not match", u.Scheme()), with(name, u.Rest())
	case port != "" && strconv.Itoa(number) != port:
		return "has a port that begins with 0: feeds without the 0 do not match", with(name+":"+strconv.Itoa(number), u.Rest())
	case strings.HasPrefix(name, "[") && parsed != strings.ToLower(name):
		return "has an IPv6 address that is not in its shortest form: feeds with that form do not match", with(parsed+colonPort, u.Rest())
	case strings.HasPrefix(u.path, "//"):
		return "has two slashes after its host: feeds with one do not match", with(u.authority, "/"+strings.TrimLeft(u.Rest(), "/"))
	case !isASCII(withoutNames(u.Rest())):
		return "has characters that clients percent-encode: feeds with the encoded form do not match", with(u.authority, escapeNonASCII(u.Rest()))
	case u.query == "?":
		return "ends in a question mark: feeds without it do not match", strings.TrimSuffix(u.raw, "?")
	}
	return "", ""
}

// escapeNonASCII percent-encodes characters that are not ASCII, except in placeholders.
func escapeNonASCII(rest string) string {
	var out strings.Builder
	for {
		text, name, after, found := cutPlaceholder(rest)
		for _, c := range []byte(text) {
			if c < utf8.RuneSelf {
				out.WriteByte(c)
			} else {
				fmt.Fprintf(&out, "%%%02X", c)
			}
		}
		if !found {
			return out.String()
		}
		out.WriteString("{{" + name + "}}")
		rest = after
	}
}
