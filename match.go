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
	ContextObj []ContextItem `json:"context_obj"`

	// InsideSegment is set where the endpoint's URL ends in the middle of a path segment of the feed:
	// /media is a prefix of /media-archive too.
	InsideSegment bool `json:"inside_segment"`

	// Shadowed are the other endpoints whose URL is a prefix of the feed's, the longest first.
	Shadowed []Shadowed `json:"shadowed"`
}

// Shadowed is an endpoint that would answer for a feed if a longer one did not.
type Shadowed struct {
	Endpoint string   `json:"endpoint"`
	LostKeys []string `json:"lost_keys"` // the context keys that the feed does not get because of that
}

// Index finds the endpoint of a feed. It is built once and answers in time that depends on the length of
// the feed's URL and not on the number of endpoints.
type Index struct {
	endpoints []indexed
	root      *indexNode
}

type indexed struct {
	Endpoint
	version  string
	literals int // characters of the URL that are not placeholders
}

// indexNode is a place in the URLs of endpoints: the start, or the end of a placeholder. From there, text
// leads on to the end of the URL or to the next placeholder.
type indexNode struct {
	texts   map[string]*indexText
	lengths []int // of the texts, each once, rising: only so many look-ups are worth making
}

type indexText struct {
	ends []int      // the endpoints whose URL ends here
	next *indexNode // behind the placeholder that follows
}

// NewIndex builds an index of the endpoints of a service. Their {{host}} must have been resolved, since
// a feed has a host; an index of unresolved URLs finds only feeds that are written with {{host}} too.
func NewIndex(versions ...Version) *Index {
	x := &Index{root: &indexNode{}}
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			x.add(e.clone(), v.Name)
		}
	}
	return x
}

func (x *Index) add(e Endpoint, version string) {
	n, rest := x.root, CutURL(e.URL).canonical()
	for {
		text, _, after, placeholder := cutPlaceholder(rest)
		t := n.text(text)
		if !placeholder {
			t.ends = append(t.ends, len(x.endpoints))
			break
		}
		if t.next == nil {
			t.next = &indexNode{}
		}
		n, rest = t.next, after
	}
	x.endpoints = append(x.endpoints, indexed{e, version, literalLength(e.URL)})
}

// text returns the place that a text leads to, making it where it is new.
func (n *indexNode) text(text string) *indexText {
	t := n.texts[text]
	if t == nil {
		t = &indexText{}
		if n.texts == nil {
			n.texts = make(map[string]*indexText)
		}
		n.texts[text] = t
		if i, found := slices.BinarySearch(n.lengths, len(text)); !found {
			n.lengths = slices.Insert(n.lengths, i, len(text))
		}
	}
	return t
}

func literalLength(url string) int {
	n := 0
	for {
		text, _, after, found := cutPlaceholder(url)
		n += len(text)
		if !found {
			return n
		}
		url = after
	}
}

// hit is an endpoint whose URL is a prefix of a feed's, and how much of it.
type hit struct {
	endpoint int
	length   int // characters of the canonical feed
}

// hits returns the endpoints that are prefixes of a canonical feed, the one that answers first: the longest
// or, among equals, the one with the most literal characters.
func (x *Index) hits(feed string) []hit {
	longest := make(map[int]int) // by endpoint
	type place struct {
		node *indexNode
		at   int
	}
	seen := make(map[place]bool)
	open := []place{{x.root, 0}}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		for _, length := range p.node.lengths {
			end := p.at + length
			if end > len(feed) {
				break
			}
			t := p.node.texts[feed[p.at:end]]
			if t == nil {
				continue
			}
			for _, e := range t.ends {
				longest[e] = max(longest[e], end)
			}
			if t.next == nil {
				continue
			}
			for ; end < len(feed) && strings.IndexByte("/?#"+authorityEnd, feed[end]) < 0; end++ {
				if next := (place{t.next, end + 1}); !seen[next] {
					seen[next] = true
					open = append(open, next)
				}
			}
		}
	}
	hits := make([]hit, 0, len(longest))
	for e, length := range longest {
		hits = append(hits, hit{e, length})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(b.length-a.length, x.endpoints[b.endpoint].literals-x.endpoints[a.endpoint].literals, a.endpoint-b.endpoint)
	})
	return hits
}

// Match returns the endpoint that answers for a feed, or false if none does.
func (x *Index) Match(feed string) (Match, bool) {
	feed = CutURL(feed).canonical()
	hits := x.hits(feed)
	if len(hits) == 0 {
		return Match{}, false
	}
	e := x.endpoints[hits[0].endpoint]
	m := Match{
		Endpoint: e.URL, Version: e.version, Name: e.Name,
		ContextObj:    append([]ContextItem{}, e.ContextObj...),
		InsideSegment: insideSegment(feed, hits[0].length),
		Shadowed:      []Shadowed{},
	}
	for _, h := range hits[1:] {
		other := x.endpoints[h.endpoint]
		m.Shadowed = append(m.Shadowed, Shadowed{other.URL, missingKeys(other.ContextObj, e.ContextObj)})
	}
	return m, true
}

// insideSegment reports whether a prefix of a canonical feed ends in the middle of a path segment.
func insideSegment(feed string, length int) bool {
	const delimiters = "/?#" + authorityEnd
	return length < len(feed) && strings.IndexByte(delimiters, feed[length]) < 0 && strings.IndexByte(delimiters, feed[length-1]) < 0
}

// missingKeys returns the keys of items that are not among those of others, never nil.
func missingKeys(items, others []ContextItem) []string {
	missing := []string{}
	for _, item := range items {
		if !slices.ContainsFunc(others, func(o ContextItem) bool { return o.Key == item.Key }) {
			missing = append(missing, item.Key)
		}
	}
	return missing
}
