package signpost

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"signpost/host"
)

// HostPlaceholder is replaced with the hostname of the manifest request.
const HostPlaceholder = "{{host}}"

// URL is the URL of a feed or of an endpoint, which may have placeholders. It keeps the original spelling. [ParseURL]
// validates its input; [CutURL] does not.
type URL struct {
	raw       string
	scheme    string // without ://
	authority string // between :// and the path
	path      string
	query     string // with its question mark
	fragment  string // with its number sign
	open      bool   // the authority contains {{host}}
}

// CutURL splits a URL into its parts without validating it.
func CutURL(raw string) URL {
	u := URL{raw: raw}
	rest := raw
	if scheme, after, ok := strings.Cut(raw, "://"); ok && !strings.ContainsAny(scheme, "/?#") {
		u.scheme, u.authority, rest = scheme, after, ""
		if i := strings.IndexAny(after, "/?#"); i >= 0 {
			u.authority, rest = after[:i], after[i:]
		}
	}
	u.open = strings.Contains(u.authority, HostPlaceholder)
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest, u.fragment = rest[:i], rest[i:]
	}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		rest, u.query = rest[:i], rest[i:]
	}
	u.path = rest
	return u
}

// String returns the URL as written.
func (u URL) String() string { return u.raw }

// Scheme returns the lower-cased scheme.
func (u URL) Scheme() string { return strings.ToLower(u.scheme) }

// Hostname returns the host as written, without the port. IPv6 addresses keep their brackets.
func (u URL) Hostname() string {
	name, _ := host.CutPort(u.authority)
	return name
}

// Port returns the port, or "" if there is none.
func (u URL) Port() string {
	_, port := host.CutPort(u.authority)
	return strings.TrimPrefix(port, ":")
}

// Authority returns the part between :// and the path as written: the host with its port and user info, if any.
func (u URL) Authority() string { return u.authority }

// Path returns the path as written, including percent-encoding and placeholders.
func (u URL) Path() string { return u.path }

// Query returns the query as written, without the question mark.
func (u URL) Query() string { return strings.TrimPrefix(u.query, "?") }

// Rest returns everything after the authority, as written.
func (u URL) Rest() string { return u.raw[len(u.raw)-len(u.path)-len(u.query)-len(u.fragment):] }

// HasHostPlaceholder reports whether the authority contains {{host}}, which makes it one of the service's own URLs, not
// yet resolved.
func (u URL) HasHostPlaceholder() bool { return u.open }

// Placeholders returns the names of the placeholders in order, without duplicates. {{host}} is not included: the
// manifest resolves it, and the app fills in the others.
func (u URL) Placeholders() []string { return placeholders(u.raw) }

// Equal reports whether clients treat two URLs as the same: scheme and authority are case-insensitive, the rest is not.
func (u URL) Equal(other URL) bool { return u.SameOrigin(other) && u.Rest() == other.Rest() }

// Origin returns the lower-cased scheme and authority, such as https://feeds.example.com:8443, or "" if the URL is not
// absolute.
func (u URL) Origin() string {
	if u.scheme == "" {
		return ""
	}
	return strings.ToLower(u.scheme + "://" + u.authority)
}

// SameOrigin reports whether two URLs have the same scheme and the same authority.
func (u URL) SameOrigin(other URL) bool { return u.Origin() == other.Origin() }

// Resolve replaces every {{host}} in the authority with host.
func (u URL) Resolve(host string) URL {
	return u.WithAuthority(strings.ReplaceAll(u.authority, HostPlaceholder, host))
}

// WithAuthority returns the URL with another authority.
func (u URL) WithAuthority(authority string) URL {
	if u.authority == authority {
		return u
	}
	return CutURL(u.scheme + "://" + authority + u.Rest())
}

// HostFor returns the host for which the origin of the URL, which contains {{host}}, becomes that of another one, or
// "". It is the inverse of Resolve.
func (u URL) HostFor(other URL) string {
	before, after, _ := strings.Cut(strings.ToLower(u.authority), HostPlaceholder)
	name := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(other.authority), before), after)
	switch {
	case name == "" || u.Resolve(name).Origin() != other.Origin() || checkHost(name) != nil:
		return ""
	case u.Hostname() != HostPlaceholder && host.IsIP(name):
		return ""
	}
	return name
}

// fits reports whether the URL is valid for a host. Its {{host}} is only a part of a host.
func (u URL) fits(name string) bool {
	return !host.IsIP(name) && checkHost(u.Resolve(name).Hostname()) == nil
}

// Bind fills in the placeholders. There must be exactly one value for each. A value cannot leave its path segment or
// query parameter, and no value can choose the host, because context keys are sent to wherever the URL leads.
func (u URL) Bind(values map[string]string) (URL, error) {
	names := u.Placeholders()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			return URL{}, fmt.Errorf("endpoint %q has no placeholder {{%s}}", u, name)
		}
	}
	var inPath, inQuery, missing []string // alternating placeholders and values
	for _, name := range names {
		placeholder, value := "{{"+name+"}}", values[name]
		if value == "" {
			missing = append(missing, placeholder)
		}
		inPath = append(inPath, placeholder, url.PathEscape(value))
		inQuery = append(inQuery, placeholder, escapeQuery(value))
	}
	switch {
	case len(placeholders(u.authority)) > 0:
		return URL{}, fmt.Errorf("endpoint %q has a placeholder in its host: only those of its path are filled in", u)
	case len(missing) > 0:
		return URL{}, fmt.Errorf("endpoint %q needs a value for %s", u, strings.Join(missing, ", "))
	case len(names) == 0:
		return u, nil
	}
	path := strings.NewReplacer(inPath...).Replace(u.path)
	query := strings.NewReplacer(inQuery...).Replace(u.query + u.fragment)
	bound := CutURL(u.scheme + "://" + u.authority + path + query)
	if bound.DotSegment() != "" {
		return URL{}, fmt.Errorf("endpoint %q would get the path %q, which leads elsewhere", u, path)
	}
	return bound, nil
}

// escapeQuery escapes a query component. A space becomes %20, which all servers decode alike.
func escapeQuery(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// DotSegment returns the first "." or ".." segment of the path, which clients remove before they send a request, or "".
// Clients treat %2e as a dot.
func (u URL) DotSegment() string {
	for segment := range strings.SplitSeq(u.path, "/") {
		if segment == "" || segment[0] != '.' && segment[0] != '%' {
			continue // without allocations
		}
		if dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); dots == "." || dots == ".." {
			return segment
		}
	}
	return ""
}

// cutPlaceholder cuts a text around its first {{name}}, as [strings.Cut] does around a separator.
func cutPlaceholder(text string) (before, name, after string, found bool) {
	for start := 0; ; start++ {
		next := strings.Index(text[start:], "{{")
		if next < 0 {
			return text, "", "", false
		}
		start += next
		inner := text[start+len("{{"):]
		end := strings.IndexAny(inner, "{}")
		if end >= 0 && strings.HasPrefix(inner[end:], "}}") {
			return text[:start], inner[:end], inner[end+len("}}"):], true
		}
	}
}

// ReplacePlaceholders replaces each placeholder in a URL, or in a part of one, with what replace returns for its name.
// {{host}} is one of them.
func ReplacePlaceholders(url string, replace func(name string) string) string {
	before, name, after, found := cutPlaceholder(url)
	if !found {
		return url
	}
	var out strings.Builder
	for found {
		out.WriteString(before + replace(name))
		before, name, after, found = cutPlaceholder(after)
	}
	return out.String() + before
}

// placeholders returns the names of the placeholders in a URL or part of one, in order and without duplicates. {{host}}
// is not included.
func placeholders(url string) []string {
	var names []string
	for {
		_, name, rest, found := cutPlaceholder(url)
		if !found {
			return names
		}
		if name != "host" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		url = rest
	}
}
