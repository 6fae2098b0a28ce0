package signpost

import (
	"cmp"
	"slices"
	"strings"
)

// Match says which endpoint answers for a feed: the one whose URL is the longest prefix of the feed's. Only
// that one supplies context keys.
type Match struct {
	Endpoint   string        `json:"endpoint"` // its URL
	Version    string        `json:"version"`
	Name       string        `json:"name"`
	Source     string        `json:"source"` // of its version
	ContextObj []ContextItem `json:"context_obj"`

	// InsideSegment is set where the endpoint's URL ends in the middle of a path segment of the feed:
	// /media is a prefix of /media-archive too.
	InsideSegment bool `json:"inside_segment"`

	// Shadowed are the other endpoints whose URL is a prefix of the feed's, the longest first.
	Shadowed []Shadowed `json:"shadowed"`

	// Descriptor is a copy of the endpoint itself.
	Descriptor Endpoint `json:"-"`
}

// Shadowed is an endpoint that would answer for a feed if a longer one did not.
type Shadowed struct {
	Endpoint string   `json:"endpoint"`
	Source   string   `json:"source"`
	LostKeys []string `json:"lost_keys"` // the context keys that the feed does not get because of that

	By            Precedence `json:"-"` // why the other endpoint comes first
	InsideSegment bool       `json:"-"` // as in Match
}

// Precedence says why one of two endpoints answers for a feed.
type Precedence string

// The reasons, in the order in which they count.
const (
	ByLength   Precedence = "length"   // it covers more characters of the feed
	ByLiterals Precedence = "literals" // it covers as many, and fewer of them by a placeholder
	ByOrder    Precedence = "order"    // it covers as many in the same way, and was registered first
)

// precedence returns why a URL comes before another one, which is also a prefix of the feed.
func (h hit) precedence(other hit) Precedence {
	switch {
	case h.length > other.length:
		return ByLength
	case h.literals > other.literals:
		return ByLiterals
	}
	return ByOrder
}

// Index finds the endpoint of a feed among everything that is registered together. It is built once and answers in
// time that depends on the length of the feed's URL and not on the number of endpoints.
type Index struct {
	endpoints []indexed
	root      textTree
}

type indexed struct {
	Endpoint
	source, version string
	at              *textEnd
}

// NewIndex builds an index of the endpoints of versions that are registered together, of one service or of several.
// Their {{host}} must have been resolved, since a feed has a host; an index of unresolved URLs finds only feeds
// that are written with {{host}} too.
func NewIndex(versions ...Version) *Index {
	x := &Index{}
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			at := x.root.insertURL(CutURL(e.URL).canonical())
			at.ends = append(at.ends, len(x.endpoints))
			x.endpoints = append(x.endpoints, indexed{e.clone(), v.Source, v.Name, at})
		}
	}
	x.root.finish()
	return x
}

// hit is a URL that is a prefix of a feed's.
type hit struct {
	*textEnd
	length int // how much of the canonical feed it is, in bytes
}

// hits returns the URLs that are prefixes of a canonical feed, the one that answers first: the longest or, among
// equals, the one with the most literal characters.
func (x *Index) hits(feed string) []hit {
	hits := sweepFeed(&x.root, feed).hits()
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.length-a.length, b.literals-a.literals, a.ends[0]-b.ends[0])
	})
	return hits
}

// Match returns the endpoint that answers for a feed, or false if none does. Among endpoints that match equally
// well the one that was registered first answers.
func (x *Index) Match(feed string) (Match, bool) {
	feed = CutURL(feed).canonical()
	hits := x.hits(feed)
	if len(hits) == 0 {
		return Match{}, false
	}
	e := x.endpoints[hits[0].ends[0]]
	m := Match{
		Endpoint: e.URL, Version: e.version, Name: e.Name, Source: e.source,
		ContextObj:    append([]ContextItem{}, e.ContextObj...),
		InsideSegment: insideSegment(feed, hits[0].length),
		Shadowed:      []Shadowed{},
		Descriptor:    e.Endpoint.clone(),
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

func keySet(items []ContextItem) map[string]bool {
	keys := make(map[string]bool, len(items))
	for _, item := range items {
		keys[item.Key] = true
	}
	return keys
}

// missingKeys returns the keys of items that are not in a set, each once, never nil.
func missingKeys(items []ContextItem, kept map[string]bool) []string {
	missing, seen := []string{}, make(map[string]bool)
	for _, item := range items {
		if !kept[item.Key] && !seen[item.Key] {
			seen[item.Key] = true
			missing = append(missing, item.Key)
		}
	}
	return missing
}

// delimiters are the characters that end a segment of a canonical URL. No placeholder matches them.
const delimiters = "/?#" + authorityEnd

func isDelimiter(c byte) bool { return strings.IndexByte(delimiters, c) >= 0 }
