package signpost

import (
	"fmt"
	"net/url"
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
	if raw != strings.TrimFunc(raw, isSpace) {
		return badURL("remove the space at its beginning or end", "URL %q has white space around it", raw)
	}
	if u.scheme == "" && !strings.HasPrefix(raw, "://") {
		return badURL("start it with https://, such as https://{{host}}/v1/feeds", "URL %q is not absolute", raw)
	}
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		return badURL("start it with https://", "URL %q has scheme %q", raw, u.scheme)
	}

	// From here on, check the parts with a plain letter in place of each placeholder.
	plain := CutURL(replaceValid(raw, "x"))
	if strings.ContainsAny(plain.raw, "{}") {
		return malformedPlaceholder(raw)
	}
	rest := plain.Rest()
	name, port := host.CutPort(plain.authority)
	_, escapeErr := url.PathUnescape(rest)
	_, rawPort := host.CutPort(u.authority)
	switch {
	case strings.ContainsFunc(raw, isSpace):
		return badURL("write it percent-encoded, such as %20 for a space", "URL %q has white space in it", raw)
	case strings.Contains(u.authority, "@"):
		return badURL("remove everything before the @: every studio and every client would see it",
			"URL %q has user info before its host", raw)
	case strings.Contains(rawPort+u.Rest(), HostPlaceholder):
		return badURL("it stands for the hostname alone: https://{{host}}/…", "URL %q has {{host}} outside the host",
			raw)
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
	case strings.ContainsAny(rest, unescaped) &&
		strings.ContainsAny(bracketedName.ReplaceAllString(rest, "/x$1"), unescaped):
		return badURL("write it percent-encoded, such as %22 for a quote",
			"URL %q contains a character that must be percent-encoded", raw)
	case escapeErr != nil:
		return badURL("a percent sign itself is written %25",
			"URL %q has a percent sign without two hexadecimal digits", raw)
	case u.fragment != "":
		return badURL("remove the # and everything after it: clients do not send it", "URL %q has a fragment", raw)
	case u.DotSegment() != "":
		return badURL("write the resulting path: clients remove such segments", "URL %q has the path segment %q", raw,
			u.DotSegment())
	case strings.Contains(raw, "}}{{"):
		return badURL("put some text between them: otherwise the values cannot be told apart",
			"URL %q has two placeholders side by side", raw)
	case strings.Count(raw, "{{")-strings.Count(raw, HostPlaceholder) > maxPlaceholders:
		return badURL("shorten it", "URL %q has more than %d placeholders", raw, maxPlaceholders)
	case strings.Count(raw, "{{") > maxInSegment && crowdedSegment.MatchString(u.Rest()):
		return badURL("shorten it", "URL %q has more than %d placeholders in one segment", raw, maxInSegment)
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

// crowdedSegment matches a segment with more than maxInSegment placeholders.
var crowdedSegment = regexp.MustCompile(fmt.Sprintf(`(\{\{[^/?#]*){%d}`, maxInSegment+1))

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

// validName reports whether a placeholder can have a name, which is that of a field of an entry: no braces, quotes,
// delimiters or spaces.
func validName(name string) bool {
	return name != "" && !strings.ContainsAny(name, `{}/?#"\<>&%@:`) && !strings.ContainsFunc(name, isSpace) &&
		(name == "host" || !strings.EqualFold(name, "host"))
}

// replaceValid replaces every placeholder that has a valid name.
func replaceValid(url, with string) string {
	return ReplacePlaceholders(url, func(name string) string {
		if validName(name) {
			return with
		}
		return "{{" + name + "}}"
	})
}

func malformedPlaceholder(url string) *urlError {
	rest := replaceValid(url, " ")
	first := strings.IndexAny(rest, "{}")
	found, hint := rest[first:first+1], "a placeholder is a name in two pairs of braces, such as {{series_id}}"
	if meant := anyPlaceholder.FindString(rest); meant != "" {
		found = meant
		if repaired := repairPlaceholders(meant); validName(strings.Trim(repaired, "{}")) {
			hint = "write " + repaired
		}
	}
	return badURL(hint, "URL %q has a malformed placeholder: %q", url, found)
}

var (
	// anyPlaceholder matches a placeholder as written for other tools: with one pair of braces, a dollar sign, or spaces.
	anyPlaceholder = regexp.MustCompile(`\$?\{\{?\s*([^\s{}]+)\s*\}\}?`)

	anyHost = regexp.MustCompile(`(?i)\{\{host\}\}`)
)

// repairPlaceholders returns a URL with all its placeholders in the form {{name}}. Capitals of {{host}} are
// lower-cased.
func repairPlaceholders(url string) string {
	return anyHost.ReplaceAllString(anyPlaceholder.ReplaceAllString(url, "{{$1}}"), HostPlaceholder)
}

func isSpace(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
