package signpost

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// HostPlaceholder stands for the hostname of the manifest request in the URL of an endpoint.
const HostPlaceholder = "{{host}}"

// endpointURL is the URL of an endpoint, cut where {{host}} may and may not be.
type endpointURL struct {
	scheme    string // "https" or "http", as written
	authority string // what stands between :// and the path; may hold {{host}}
	rest      string // path, query and fragment, as written
}

// urlError says what is wrong with a URL and, in hint, what would be right.
type urlError struct{ message, hint string }

func (e *urlError) Error() string { return e.message }

// parseURL checks the URL of an endpoint and cuts it into its parts.
func parseURL(raw string) (endpointURL, *urlError) {
	bad := func(hint, format string, args ...any) (endpointURL, *urlError) {
		return endpointURL{}, &urlError{fmt.Sprintf(format, args...), hint}
	}
	if !utf8.ValidString(raw) {
		return bad("save it as UTF-8", "URL %q is not UTF-8 text", raw)
	}
	scheme, after, ok := strings.Cut(raw, "://")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return bad("start it with https://, such as https://{{host}}/v1/feeds", "URL %q is not absolute", raw)
	}
	if lower := strings.ToLower(scheme); lower != "https" && lower != "http" {
		return bad("start it with https://", "URL %q has scheme %q", raw, scheme)
	}
	u := endpointURL{scheme: scheme, authority: after}
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		u.authority, u.rest = after[:i], after[i:]
	}

	// What follows looks at the parts with a plain letter in place of each placeholder.
	authority, err := replacePlaceholders(u.authority, raw)
	if err != nil {
		return endpointURL{}, err
	}
	rest, err := replacePlaceholders(u.rest, raw)
	if err != nil {
		return endpointURL{}, err
	}
	host, port := cutPort(authority)
	_, rawPort := cutPort(u.authority)
	switch {
	case strings.ContainsFunc(raw, isSpace):
		return bad("write it percent-encoded, such as %20 for a space", "URL %q has white space in it", raw)
	case strings.Contains(u.authority, "@"):
		return bad("leave out what stands before the @: every studio and every client would see it",
			"URL %q has user info before its host", raw)
	case strings.Contains(rawPort+u.rest, HostPlaceholder):
		return bad("it stands for the hostname alone: https://{{host}}/…", "URL %q has {{host}} outside the host", raw)
	case host == "":
		return bad("put {{host}} or a hostname after ://", "URL %q has no host", raw)
	case !validURLHost(host):
		return bad("a hostname has letters, digits, hyphens, underscores and dots", "URL %q has something other than a hostname after ://", raw)
	case !validPort(port):
		return bad("a port is a number from 1 to 65535", "URL %q has port %q", raw, strings.TrimPrefix(rawPort, ":"))
	case strings.ContainsAny(rest, "\"<>\\^`|"):
		return bad("write it percent-encoded, such as %22 for a quote", "URL %q has a character that no URL has", raw)
	case !validEscapes(rest):
		return bad("a percent sign itself is written %25", "URL %q has a percent sign without two hexadecimal digits", raw)
	}
	return u, nil
}

// cutPort cuts an authority into the host and the port with its colon, if there is one.
func cutPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i:]
	}
	return authority, ""
}

// validURLHost takes host names, international ones included, IPv4 addresses, and IPv6 ones in brackets.
func validURLHost(host string) bool {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return closed && err == nil && addr.Is6() && addr.Zone() == ""
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
		}) {
			return false
		}
	}
	return true
}

// validPort takes no port, or a colon and a number.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	return err == nil && n > 0
}

func validEscapes(s string) bool {
	for {
		_, after, found := strings.Cut(s, "%")
		if !found {
			return true
		}
		if len(after) < 2 || strings.Trim(after[:2], "0123456789abcdefABCDEF") != "" {
			return false
		}
		s = after
	}
}

// replacePlaceholders returns s with the letter x for every {{name}}. Braces anywhere else are an error.
func replacePlaceholders(s, raw string) (string, *urlError) {
	const hint = "a placeholder is a name in two pairs of braces, such as {{series_id}}"
	var out strings.Builder
	for {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		out.WriteString(s[:i])
		s = s[i:]
		if !strings.HasPrefix(s, "{{") {
			return "", &urlError{fmt.Sprintf("URL %q has a stray %q", raw, s[:1]), hint}
		}
		name, after, closed := strings.Cut(s[2:], "}}")
		switch {
		case !closed:
			return "", &urlError{fmt.Sprintf("URL %q has a placeholder that is not closed: %q", raw, s), hint}
		case !validPlaceholder(name) || strings.HasPrefix(after, "}"):
			return "", &urlError{fmt.Sprintf("URL %q has a malformed placeholder: %q", raw, s[:len(s)-len(after)]), hint}
		case name != "host" && strings.EqualFold(name, "host"):
			return "", &urlError{fmt.Sprintf("URL %q has {{%s}}, which is not {{host}}", raw, name), "write {{host}} in lower case"}
		}
		out.WriteByte('x')
		s = after
	}
}

// validPlaceholder reports whether name can name a field of an entry: no braces, quotes or delimiters.
func validPlaceholder(name string) bool {
	return name != "" && !strings.ContainsAny(name, "{}/?#\"\\<>&%@:") && !strings.ContainsFunc(name, isSpace)
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Placeholders returns the names of the placeholders in the URL of an endpoint, each once, in order. {{host}}
// is not among them: it is the manifest's to resolve, and the others are the feed locator's.
func Placeholders(endpointURL string) []string {
	var names []string
	for {
		text, after, found := cutPlaceholder(endpointURL)
		if !found {
			return names
		}
		name := strings.TrimSuffix(strings.TrimPrefix(endpointURL[len(text):len(endpointURL)-len(after)], "{{"), "}}")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		endpointURL = after
	}
}
