package signpost

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"
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
	scheme, after, ok := strings.Cut(raw, "://")
	if lower := strings.ToLower(scheme); !ok || lower != "https" && lower != "http" {
		return bad("start it with https://, such as https://{{host}}/v1/feeds", "URL %q is not absolute", raw)
	}
	u := endpointURL{scheme: scheme, authority: after}
	if i := strings.IndexAny(after, "/?#"); i >= 0 {
		u.authority, u.rest = after[:i], after[i:]
	}

	// net/url knows nothing of placeholders: it gets to see a plain letter in place of each.
	authority, err := replacePlaceholders(u.authority, raw)
	if err != nil {
		return endpointURL{}, err
	}
	rest, err := replacePlaceholders(u.rest, raw)
	if err != nil {
		return endpointURL{}, err
	}
	if strings.ContainsFunc(raw, isSpace) {
		return bad("write it percent-encoded, such as %20 for a space", "URL %q has white space in it", raw)
	}
	if strings.Contains(u.rest, HostPlaceholder) {
		return bad("it stands for the hostname alone: https://{{host}}/…", "URL %q has {{host}} outside the host", raw)
	}
	if strings.Contains(u.authority, "@") {
		return bad("leave out what stands before the @: every studio and every client would see it",
			"URL %q has user info before its host", raw)
	}
	parsed, parseErr := url.Parse(scheme + "://" + authority + rest)
	if parseErr != nil {
		return bad("", "URL %q cannot be parsed: %v", raw, errors.Unwrap(parseErr)) // a *url.Error, which repeats the URL
	}
	if parsed.Hostname() == "" {
		return bad("put {{host}} or a hostname after ://", "URL %q has no host", raw)
	}
	if port := parsed.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("a port is a number from 1 to 65535", "URL %q has port %s", raw, port)
		}
	}
	return u, nil
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
	return name != "" && !strings.ContainsAny(name, "{}/?#\"\\<>&%@") && !strings.ContainsFunc(name, isSpace)
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
