package match

import (
	"cmp"
	"slices"
	"strings"

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

// Index finds the endpoint that answers for a feed among everything registered together. Lookup time depends on the
// length of the feed URL, not on the number of endpoints.
type Index struct {
	endpoints []indexed
	root      textTree
}

type indexed struct {
	signpost.Endpoint
	source, version string
	at              *textEnd
}

// NewIndex indexes the endpoints of versions that are registered together, of one service or several. Resolve {{host}}
// in them first, because feed URLs have a real host; an index of unresolved URLs only finds feeds that are written with
// {{host}} as well.
func NewIndex(versions ...signpost.Version) *Index {
	x := &Index{}
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			x.add(e.Clone(), v)
		}
	}
	x.root.finish()
	return x
}

// add indexes an endpoint of a version. The index keeps the endpoint as it is.
func (x *Index) add(e signpost.Endpoint, v signpost.Version) {
	at := x.root.insertURL(canonical(e.URL))
	at.ends = append(at.ends, len(x.endpoints))
	x.endpoints = append(x.endpoints, indexed{e, v.Source, v.Name, at})
}

// hit is an endpoint URL that is a prefix of a feed URL.
type hit struct {
	*textEnd
	length int // of the match in the canonical feed, in bytes
}

// hits returns the URLs that are prefixes of a canonical feed. The one that answers comes first: the longest or, on a
// tie, the one with the most literal characters.
func (x *Index) hits(feed string) []hit {
	hits := sweepFeed(&x.root, feed).hits()
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.length-a.length, b.literals-a.literals, a.ends[0]-b.ends[0])
	})
	return hits
}

// Match returns the endpoint that answers for a feed, or false if there is none. Ties go to the endpoint that was
// registered first.
func (x *Index) Match(feed string) (Match, bool) {
	feed = canonical(feed)
	hits := x.hits(feed)
	if len(hits) == 0 {
		return Match{}, false
	}
	e := x.endpoints[hits[0].ends[0]]
	m := Match{
		Endpoint: e.URL, Version: e.version, Name: e.Name, Source: e.source,
		ContextObj:    append([]signpost.ContextItem{}, e.ContextObj...),
		InsideSegment: insideSegment(feed, hits[0].length),
		Shadowed:      []Shadowed{},
		Descriptor:    e.Endpoint.Clone(),
	}
	kept := keySet(e.ContextObj)
	for i, h := range hits {
		for j, end := range h.ends {
			if i > 0 || j > 0 {
				other := x.endpoints[end]
				m.Shadowed = append(m.Shadowed, Shadowed{
					other.URL, other.source, missingKeys(other.ContextObj, kept), hits[0].precedence(h), insideSegment(feed, h.length),
				})
			}
		}
	}
	return m, true
}

// insideSegment reports whether a prefix of a canonical feed ends in the middle of a path segment.
func insideSegment(feed string, length int) bool {
	return length < len(feed) && !isDelimiter(feed[length]) && !isDelimiter(feed[length-1])
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
	missing, seen := []string{}, make(map[string]bool)
	for _, item := range items {
		if !kept[item.Key] && !seen[item.Key] {
			seen[item.Key] = true
			missing = append(missing, item.Key)
		}
	}
	return missing
}

// delimiters end a segment of a canonical URL. Placeholders never match them.
const delimiters = "/?#" + authorityEnd

func isDelimiter(c byte) bool { return strings.IndexByte(delimiters, c) >= 0 }
