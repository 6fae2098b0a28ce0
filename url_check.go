package signpost

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"signpost/host"
)

// urlError is a problem with a URL; hint says how to fix it.
type urlError struct{ message, hint string }

func (e *urlError) Error() string { return e.message }

func badURL(hint, format string, args ...any) *urlError {
	return &urlError{fmt.Sprintf(format, args...), hint}
}

// ParseURL parses and validates the URL of an endpoint.
func ParseURL(raw string) (URL, error) {
	u := CutURL(raw)
	if err := u.check(); err != nil {
		return URL{}, err
	}
	return u, nil
}

// check returns the reason why the URL is not allowed in a manifest, or nil.
func (u URL) check() *urlError {
	raw := u.raw
	if !utf8.ValidString(raw) {
		return badURL("save it as UTF-8", "URL %q is not UTF-8 text", raw)
	}
	if u.scheme == "" && !strings.HasPrefix(raw, "://") {
		return badURL("start it with https://, such as https://{{host}}/v1/feeds", "URL %q is not absolute", raw)
	}
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		return badURL("start it with https://", "URL %q has scheme %q", raw, u.scheme)
	}

	// From here on, check the parts with a plain letter in place of each placeholder.
	authority, err := replacePlaceholders(u.authority, raw)
	if err != nil {
		return err
	}
	rest, err := replacePlaceholders(u.Rest(), raw)
	if err != nil {
		return err
	}
	name, port := host.CutPort(authority)
	_, rawPort := host.CutPort(u.authority)
	switch {
	case raw != strings.TrimFunc(raw, isSpace):
		return badURL("remove the space at its beginning or end", "URL %q has white space around it", raw)
	case strings.ContainsFunc(raw, isSpace):
		return badURL("write it percent-encoded, such as %20 for a space", "URL %q has white space in it", raw)
	case strings.Contains(u.authority, "@"):
		return badURL("remove everything before the @: every studio and every client would see it",
			"URL %q has user info before its host", raw)
	case strings.Contains(rawPort+u.Rest(), HostPlaceholder):
		return badURL("it stands for the hostname alone: https://{{host}}/…", "URL %q has {{host}} outside the host", raw)
	case strings.Contains(strings.ReplaceAll(u.Hostname(), HostPlaceholder, ""), "{{"):
		return badURL("write {{host}}, or the hostname itself: nothing else is filled in there",
			"URL %q has {{%s}} in its host", raw, placeholders(u.Hostname())[0])
	case name == "":
		return badURL("put {{host}} or a hostname after ://", "URL %q has no host", raw)
	}
	if err := checkHost(name); err != nil {
		return badURL(err.Remedy, "URL %q: host %q %s", raw, u.Hostname(), err.Problem)
	}
	switch {
	case !validPort(port):
		return badURL("a port is a number from 1 to 65535", "URL %q has port %q", raw, strings.TrimPrefix(rawPort, ":"))
	case strings.ContainsAny(rest, unescaped) && strings.ContainsAny(bracketedName.ReplaceAllString(rest, "/x$1"), unescaped):
		return badURL("write it percent-encoded, such as %22 for a quote", "URL %q contains a character that must be percent-encoded", raw)
	case !validEscapes(rest):
		return badURL("a percent sign itself is written %25", "URL %q has a percent sign without two hexadecimal digits", raw)
	case u.fragment != "":
		return badURL("remove the # and everything after it: clients do not send it", "URL %q has a fragment", raw)
	case dotSegment(u.path) != "":
		return badURL("write the resulting path: clients remove such segments", "URL %q has the path segment %q", raw, dotSegment(u.path))
	case strings.Contains(raw, "}}{{"):
		return badURL("put some text between them: otherwise the values cannot be told apart",
			"URL %q has two placeholders side by side", raw)
	case strings.Count(raw, "{{")-strings.Count(raw, HostPlaceholder) > maxPlaceholders:
		return badURL("shorten it", "URL %q has more than %d placeholders", raw, maxPlaceholders)
	}
	if strings.Count(raw, "{{") <= maxInSegment {
		return nil
	}
	for segment := range strings.FieldsFuncSeq(u.Rest(), func(r rune) bool { return strings.ContainsRune("/?#", r) }) {
		if strings.Count(segment, "{{") > maxInSegment {
			return badURL("shorten it", "URL %q has more than %d placeholders in one segment", raw, maxInSegment)
		}
	}
	return nil
}

// unescaped are the characters that no URL contains as they are. A name in angle brackets, which other tools treat as a
// placeholder, gets a warning of its own.
const unescaped = "\"<>\\^`|"

var bracketedName = regexp.MustCompile(`/[<\[][A-Za-z_][A-Za-z0-9_-]*[>\]](/|$)`)

// Limits that bound the work of comparing URLs. Real URLs have one or two placeholders, each in a segment of its own.
const (
	maxPlaceholders = 8
	maxInSegment    = 3
)

// checkHost applies the rules for hosts of requests to the host of a URL, which has no port.
func checkHost(name string) *host.Error {
	_, err := host.ParseName(name)
	problem, _ := err.(*host.Error)
	return problem
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// validPort accepts an empty port, or a colon and a number.
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

// replacePlaceholders replaces every {{name}} in s with the letter x. Stray braces are an error.
func replacePlaceholders(s, raw string) (string, *urlError) {
	hint := func(name string, meant bool) string {
		if meant && validPlaceholder(name) {
			return "write " + placeholder(name)
		}
		return "a placeholder is a name in two pairs of braces, such as {{series_id}}"
	}
	var out strings.Builder
	out.Grow(len(s))
	for {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		out.WriteString(s[:i])
		s = s[i:]
		if !strings.HasPrefix(s, "{{") {
			name, _, closed := strings.Cut(s[1:], "}")
			return "", badURL(hint(name, closed && s[0] == '{'), "URL %q has a stray %q", raw, s[:1])
		}
		name, after, closed := strings.Cut(s[2:], "}}")
		switch {
		case !closed:
			name, _, half := strings.Cut(s[2:], "}")
			return "", badURL(hint(name, half), "URL %q has a placeholder that is not closed: %q", raw, s)
		case !validPlaceholder(name) || strings.HasPrefix(after, "}"):
			return "", badURL(hint(strings.TrimSpace(name), true), "URL %q has a malformed placeholder: %q", raw, s[:len(s)-len(after)])
		case name != "host" && strings.EqualFold(name, "host"):
			return "", badURL("write {{host}} in lower case", "URL %q has {{%s}}, which is not {{host}}", raw, name)
		}
		out.WriteByte('x')
		s = after
	}
}

// anyPlaceholder matches a placeholder as written for other tools: with one pair of braces, a dollar sign, or spaces.
var anyPlaceholder = regexp.MustCompile(`\$?\{\{?\s*([^\s{}]+)\s*\}\}?`)

// repairPlaceholders returns a URL with all its placeholders in the form {{name}}. Capitals of {{host}} are lower-cased.
func repairPlaceholders(url string) string {
	return anyPlaceholder.ReplaceAllStringFunc(url, func(found string) string {
		return placeholder(anyPlaceholder.FindStringSubmatch(found)[1])
	})
}

// placeholder returns {{name}}. A host in capitals is lower-cased.
func placeholder(name string) string {
	if strings.EqualFold(name, "host") {
		name = "host"
	}
	return "{{" + name + "}}"
}

// validPlaceholder reports whether name can be the field name of an entry: no braces, quotes or delimiters.
func validPlaceholder(name string) bool {
	return name != "" && !strings.ContainsAny(name, "{}/?#\"\\<>&%@:") && !strings.ContainsFunc(name, isSpace)
}

func isSpace(r rune) bool {
	if r < utf8.RuneSelf { // quickly, since every character of every URL is checked
		return r <= ' ' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}
