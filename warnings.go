package signpost

import (
	"net/url"
	"strings"
)

// The rules about what is served all the same, but is probably not meant.
const (
	RuleBodyParamOnGet       = "body-param-on-get"
	RulePlainHTTP            = "plain-http"
	RuleEndpointTooWide      = "endpoint-too-wide"
	RuleOverlapDropsContext  = "overlap-drops-context"
	RuleOverlapInsideSegment = "overlap-inside-segment"
	RuleResolvedURLCollision = "resolved-url-collision"
	RuleQueryInURL           = "query-in-url"
	RuleTokenToThirdParty    = "token-to-third-party"
	RulePlaceholderOutside   = "placeholder-outside-path"
	RuleDuplicateName        = "duplicate-name"
)

// Warnings returns what is probably not meant, in the order of the endpoints. Features add context keys, so
// apply them first: see [Manifest.WithFeatures]. Endpoints that [Manifest.Validate] refuses are passed over
// where they cannot be judged.
func (m Manifest) Warnings() []Finding {
	v := validator{severity: SeverityWarning}
	index := NewIndex(Version{Manifest: m})
	inside := insideOverlaps(index)
	names := make(map[string]string)
	collisions := make(map[string][]Endpoint) // by all of the URL but its authority
	for i, e := range m.Endpoints {
		v.base = Path{Field(e.URL)}
		if u, err := ParseURL(e.URL); err == nil {
			v.urlWarnings(e, u)
			v.overlap(index, i)
			if others := inside[i]; len(others) > 0 {
				v.add(RuleOverlapInsideSegment, "an endpoint answers for every URL that begins like its own: rename one of the two", nil,
					"%q is also the beginning of %q", e.URL, others[0])
			}
			rest := u.scheme + "://" + u.rest()
			for _, before := range collisions[rest] {
				v.collision(before, e)
			}
			collisions[rest] = append(collisions[rest], e)
		}
		v.contextWarnings(e)
		if first, taken := names[e.Name]; taken && e.Name != "" {
			v.add(RuleDuplicateName, "editors see the name alone: make it tell the endpoints apart", Path{Field("name")},
				"name %q is that of %s too", e.Name, first)
		} else {
			names[e.Name] = e.URL
		}
	}
	return v.findings
}

// urlWarnings looks at the URL alone, and at the modifiers that are appended to it.
func (v *validator) urlWarnings(e Endpoint, u URL) {
	if u.Scheme() == "http" {
		v.add(RulePlainHTTP, "use https", nil, "%q is plain http: context keys travel in the clear", e.URL)
	}
	switch u.path {
	case "":
		v.add(RuleEndpointTooWide, "give the path that all its feeds begin with", nil,
			"%q has no path: it answers for every feed of the host, and begins the names of other hosts too", e.URL)
	case "/":
		v.add(RuleEndpointTooWide, "give the path that all its feeds begin with", nil,
			"%q has no path: it answers for every feed of the host", e.URL)
	}
	if _, name, _, found := cutPlaceholder(u.query + u.fragment); found {
		v.add(RulePlaceholderOutside, "entries fill in segments of the path only", nil, "%q has {{%s}} outside its path", e.URL, name)
	}
	used, _ := url.ParseQuery(u.Query()) // what cannot be parsed is no key
	for i, m := range e.Modifiers {
		for j, p := range m.Params {
			if used.Has(p.Key) {
				v.add(RuleQueryInURL, "the feed URL would have it twice: leave it out of one of the two",
					Path{Field("modifiers"), Item(i), Field("params"), Item(j), Field("key")}, "parameter %q is in the URL already", p.Key)
			}
		}
	}
}

func (v *validator) contextWarnings(e Endpoint) {
	ours := strings.Contains(e.URL, HostPlaceholder)
	for i, c := range e.ContextObj {
		if c.Type == ContextBodyParam && e.Method == MethodGet {
			v.add(RuleBodyParamOnGet, "send it as ctx, or use method post", Path{Field("context_obj"), Item(i), Field("type")},
				"context key %q goes into the body, and a get request has none", c.Key)
		}
		if c.Required && !ours {
			v.add(RuleTokenToThirdParty, "make sure that its owner is meant to have it", Path{Field("context_obj"), Item(i), Field("key")},
				"context key %q is sent to %q, which is not a URL of this service", c.Key, e.URL)
		}
	}
}

// overlap reports the context keys that the feeds of an endpoint do not get, though those around it do.
func (v *validator) overlap(x *Index, i int) {
	e := x.endpoints[i]
	feed := CutURL(e.URL).canonical()
	for _, h := range x.hits(feed) {
		around := x.endpoints[h.ends[0]]
		if h.textEnd == e.at || insideSegment(feed, h.length) || h.length == len(feed) && around.at.literals >= e.at.literals {
			continue
		}
		if missing := missingKeys(around.ContextObj, keySet(e.ContextObj)); len(missing) > 0 {
			v.add(RuleOverlapDropsContext, "declare the keys here too, if the feeds need them", nil,
				"feeds of %q do not get %s, as those of %q do", e.URL, quotedList(missing), around.URL)
		}
		return // what lies further out is shadowed by this one
	}
}

// insideOverlaps returns, for each endpoint, the URLs of others that begin like its own but go on in the
// middle of a path segment.
func insideOverlaps(x *Index) map[int][]string {
	inside := make(map[int][]string)
	for _, e := range x.endpoints {
		feed := CutURL(e.URL).canonical()
		for _, h := range x.hits(feed) {
			if h.textEnd != e.at && insideSegment(feed, h.length) {
				inside[h.ends[0]] = append(inside[h.ends[0]], e.URL)
			}
		}
	}
	return inside
}

// collision reports two URLs, alike but for their authorities, that a host makes the same.
func (v *validator) collision(first, second Endpoint) {
	pattern, absolute := first.URL, second.URL
	if !strings.Contains(pattern, HostPlaceholder) {
		pattern, absolute = absolute, pattern
	}
	before, after, _ := strings.Cut(pattern, HostPlaceholder)
	host, ok := strings.CutPrefix(absolute, before)
	if !ok || strings.Contains(absolute, HostPlaceholder) {
		return
	}
	if host, ok = strings.CutSuffix(host, after); ok && plausibleHost(host) && host == strings.ToLower(host) {
		v.add(RuleResolvedURLCollision, "remove one of the two", nil,
			"for the host %s, %q and %q are the same: only this one is served", host, first.URL, second.URL)
	}
}
