// Package match tells which endpoint answers for a feed, and what feeds lose where endpoints overlap.
//
// A feed belongs to the endpoint whose URL is the longest prefix of the feed URL, among everything that is registered in
// the same studio. Only that endpoint supplies context keys. [NewIndex] indexes what is registered together, and
// [Index.Match] finds the endpoint of a feed. [Overlaps] reports where endpoints take context keys from each other.
package match

import (
	"cmp"
	"slices"

	"signpost"
)

// Match is the endpoint that answers for a feed: the one whose URL is the longest prefix of the feed URL. Only that
// endpoint supplies context keys.
type Match struct {
	Endpoint   string                 `json:"endpoint"` // URL of the endpoint
	Version    string                 `json:"version"`
	Name       string                 `json:"name"`
	Source     string                 `json:"source"` // source of its version
	ContextObj []signpost.ContextItem `json:"context_obj"`

	// InsideSegment is set if the endpoint's URL ends in the middle of a path segment of the feed URL: /media is also a
	// prefix of /media-archive.
	InsideSegment bool `json:"inside_segment"`

	// Shadowed lists the other endpoints whose URL is a prefix of the feed URL, longest first.
	Shadowed []Shadowed `json:"shadowed"`

	// Descriptor is a copy of the endpoint.
	Descriptor signpost.Endpoint `json:"-"`
}

// Shadowed is an endpoint that would answer for a feed if there were no longer match.
type Shadowed struct {
	Endpoint string   `json:"endpoint"`
	Source   string   `json:"source"`
	LostKeys []string `json:"lost_keys"` // context keys that the feed loses as a result

	By            Precedence `json:"-"` // why the other endpoint wins
	InsideSegment bool       `json:"-"` // as in Match
}

// Precedence is the reason why one of two endpoints answers for a feed.
type Precedence string

// Reasons, in order of precedence.
const (
	ByLength   Precedence = "length"   // it covers more characters of the feed
	ByLiterals Precedence = "literals" // as many, but fewer of them by placeholders
	ByOrder    Precedence = "order"    // otherwise equal, but registered first
)

// Index finds the endpoint that answers for a feed among everything registered together.
type Index struct {
	versions  []signpost.Version // without their manifests
	endpoints []indexed
	sites     []*site
	byOrigin  map[string]*site
}

// indexed is an endpoint of an index. Its number is its position: the order of registration.
type indexed struct {
	signpost.Endpoint
	in   int // its version, as an index
	node *node
}

// site is the tree of the URLs with one origin. {{host}} may be part of the origin.
type site struct {
	url  signpost.URL // the origin alone
	root node
}

// NewIndex indexes the endpoints of versions that are registered together, of one service or several. An endpoint whose
// URL contains {{host}} answers on every host; resolve it first if the services have hosts of their own.
func NewIndex(versions ...signpost.Version) *Index {
	x := &Index{byOrigin: make(map[string]*site)}
	for i, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			origin, rest := cut(e.URL)
			s := x.byOrigin[origin]
			if s == nil {
				s = &site{url: signpost.CutURL(origin)}
				x.byOrigin[origin] = s
				x.sites = append(x.sites, s)
			}
			n := s.root.insert(segments(rest))
			n.ends = append(n.ends, len(x.endpoints))
			x.endpoints = append(x.endpoints, indexed{e.Clone(), i, n})
		}
		v.Manifest = signpost.Manifest{}
		x.versions = append(x.versions, v)
	}
	return x
}

// cut splits a URL into its lower-cased origin, which is compared as a whole, and everything after it.
func cut(raw string) (origin, rest string) {
	u := signpost.CutURL(raw)
	return u.Origin(), u.Rest()
}

// place is an origin at which feeds are shared with the endpoints of a site.
type place struct {
	origin string
	host   string // what {{host}} stands for; empty if it is unresolved
	*site
}

// anyHost makes every URL with {{host}} take part.
const anyHost = "*"

// places returns where URLs with an origin meet those of the index: at the origin itself and, since {{host}} can be any
// host that a URL names, where {{host}} makes two origins the same if it is the given host.
func (x *Index) places(origin, host string) []place {
	var places []place
	if own := x.byOrigin[origin]; own != nil {
		places = append(places, place{origin, "", own})
	}
	if host == "" {
		return places
	}
	u := signpost.CutURL(origin)
	for _, s := range x.sites {
		at, name := origin, ""
		switch open := u.HasHostPlaceholder(); {
		case open == s.url.HasHostPlaceholder():
		case open:
			at, name = s.url.String(), u.HostFor(s.url)
		default:
			name = s.url.HostFor(u)
		}
		if name != "" && (name == host || host == anyHost) {
			places = append(places, place{at, name, s})
		}
	}
	return places
}

// hit is an endpoint URL that is a prefix of a feed URL.
type hit struct {
	*node
	length int // of the match, in bytes after the origin
}

// compare returns a negative number if h answers rather than other.
func (h hit) compare(other hit) int {
	return cmp.Or(other.length-h.length, other.literals-h.literals, h.ends[0]-other.ends[0])
}

// precedence returns why h wins over other.
func (h hit) precedence(other hit) Precedence {
	switch {
	case h.length > other.length:
		return ByLength
	case h.literals > other.literals:
		return ByLiterals
	}
	return ByOrder
}

// Match returns the endpoint that answers for a feed, or false if there is none. Ties go to the endpoint that was
// registered first.
func (x *Index) Match(feedURL string) (Match, bool) {
	origin, rest := cut(feedURL)
	hits := x.hits(feed{origin, anyHost, split(rest)})
	if len(hits) == 0 {
		return Match{}, false
	}
	e := x.endpoints[hits[0].ends[0]]
	v := x.versions[e.in]
	m := Match{
		Endpoint: e.URL, Version: v.Name, Name: e.Name, Source: v.Source,
		ContextObj:    append([]signpost.ContextItem{}, e.ContextObj...),
		InsideSegment: insideSegment(rest, hits[0].length),
		Shadowed:      []Shadowed{},
		Descriptor:    e.Endpoint.Clone(),
	}
	kept := keySet(e.ContextObj)
	for i, h := range hits {
		for j, number := range h.ends {
			if i > 0 || j > 0 {
				other := x.endpoints[number]
				m.Shadowed = append(m.Shadowed, Shadowed{
					other.URL, x.versions[other.in].Source, missingKeys(other.ContextObj, kept), hits[0].precedence(h), insideSegment(rest, h.length),
				})
			}
		}
	}
	return m, true
}

// hits returns the URLs that are prefixes of a feed. The one that answers comes first.
func (x *Index) hits(f feed) []hit {
	var hits []hit
	for _, p := range x.places(f.origin, f.host) {
		if p.origin == f.origin {
			p.root.prefixes(f.words, 0, func(h hit) { hits = append(hits, h) })
		}
	}
	slices.SortFunc(hits, hit.compare)
	return hits
}

// insideSegment reports whether a prefix ends in the middle of a path segment.
func insideSegment(text string, length int) bool {
	return 0 < length && length < len(text) && !isDelimiter(text[length]) && !isDelimiter(text[length-1])
}

func keySet(items []signpost.ContextItem) map[string]bool {
	keys := make(map[string]bool, len(items))
	for _, item := range items {
		keys[item.Key] = true
	}
	return keys
}

// missingKeys returns the keys of items that are not in kept, without duplicates. The result is never nil.
func missingKeys(items []signpost.ContextItem, kept map[string]bool) []string {
	missing := []string{}
	for _, item := range items {
		if !kept[item.Key] && !slices.Contains(missing, item.Key) {
			missing = append(missing, item.Key)
		}
	}
	return missing
}
