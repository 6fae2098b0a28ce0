// Package match tells which endpoint answers for a feed, and what feeds lose where endpoints overlap.
//
// A feed belongs to the endpoint whose URL is the longest prefix of the feed URL, among everything that is registered
// in the same studio. Only that endpoint supplies context keys. [NewIndex] indexes what is registered together, and
// [Index.Match] finds the endpoint of a feed. [Overlaps] reports where endpoints take context keys from each other.
package match

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"signpost"
	"signpost/host"
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
	sites     map[string]*site  // by origin
	open      []*site           // those whose origin contains {{host}}
	declared  map[string]bool   // hosts of all versions, and of their URLs
	alike     map[string]string // hosts without sites of their own; see [Alike]
}

// indexed is an endpoint of an index. Its number is its position: the order of registration.
type indexed struct {
	signpost.Endpoint
	url      signpost.URL
	in       int // its version, as an index
	position int // in that version
	parts    []segment
	words    []string // of a feed for which any value will do
	spots    []spot   // as written first; if it contains {{host}}, then for each of the hosts
}

// spot is where an endpoint is in the tree of a site.
type spot struct {
	*site
	*node
}

// site is the tree of the URLs with one origin.
type site struct {
	origin string
	url    signpost.URL // one of those with this origin
	root   node
	guests bool // there are services that have its host by a suffix alone
}

// isOpen reports whether the origin contains {{host}}.
func (s *site) isOpen() bool { return s.url.HasHostPlaceholder() }

// NewIndex indexes the endpoints of versions that are registered together, of one service or several. {{host}} stands
// for the hosts of the version and, if it declares none, for any host.
func NewIndex(versions ...signpost.Version) *Index {
	x := &Index{sites: make(map[string]*site), declared: make(map[string]bool)}
	total := 0
	for _, v := range versions {
		total += len(v.Manifest.Endpoints)
	}
	x.endpoints = make([]indexed, 0, total) // growing it would copy all of them several times
	for i, v := range versions {
		first, forms := len(x.endpoints), make(map[string]bool)
		for _, name := range v.Hosts {
			x.declared[name] = true
		}
		for u, e := range v.Manifest.All() {
			if form := u.Hostname(); u.HasHostPlaceholder() && form != signpost.HostPlaceholder && !forms[form] {
				forms[form] = true
				x.declareParts(u, v.Hosts)
			}
			position := len(x.endpoints) - first
			x.endpoints = append(x.endpoints, indexed{Endpoint: e.Clone(), url: u, in: i, position: position})
		}
		v.Manifest = signpost.Manifest{}
		x.versions = append(x.versions, v)
	}
	listed, covered := slices.Clone(versions), slices.Clone(versions)
	for i, v := range versions {
		covered[i].Hosts = x.covered(v.Hosts)
	}
	x.alike = Alike(slices.Concat(listed, covered)...)
	hasNoSite := func(name string) bool { return x.alike[name] != "" }
	for i := range versions {
		listed[i].Hosts = slices.DeleteFunc(slices.Clone(listed[i].Hosts), hasNoSite)
		covered[i].Hosts = slices.DeleteFunc(covered[i].Hosts, hasNoSite)
	}
	for number, e := range x.endpoints {
		x.add(number, listed[e.in].Hosts, covered[e.in].Hosts)
	}
	return x
}

// declareParts adds the hosts of a URL in which {{host}} is only a part of the host.
func (x *Index) declareParts(u signpost.URL, hosts signpost.Hosts) {
	for _, name := range hosts.Exact() {
		x.declared[strings.ToLower(u.Resolve(name).Hostname())] = true
	}
}

// covered returns what {{host}} stands for besides the listed hosts: the hosts and longer suffixes of other versions
// that a suffix of the list covers. The suffix itself stands for a host that no version lists.
func (x *Index) covered(listed signpost.Hosts) []string {
	var names []string
	if len(listed.Exact()) == len(listed) {
		return names
	}
	for _, name := range slices.Sorted(maps.Keys(x.declared)) {
		if !slices.Contains(listed, name) && listed.Covers(name) {
			names = append(names, name)
		}
	}
	return names
}

// add inserts an endpoint into the sites that it is on.
func (x *Index) add(number int, listed, covered []string) {
	added := &x.endpoints[number]
	u := added.url
	added.words = generalWords(u.Rest())
	insert := func(s *site) {
		n := s.root.insert(added.words)
		n.ends = append(n.ends, number)
		added.spots = append(added.spots, spot{s, n})
	}
	insert(x.site(u))
	added.parts = added.spots[0].path()
	if !u.HasHostPlaceholder() {
		return
	}
	isWhole := u.Hostname() == signpost.HostPlaceholder
	for i, name := range slices.Concat(listed, covered) {
		if isWhole || !host.IsIP(name) { // which is never a part of a name
			s := x.site(u.Resolve(name))
			s.guests = s.guests || i >= len(listed)
			insert(s)
		}
	}
}

// site returns the site of a URL, creating it if needed.
func (x *Index) site(u signpost.URL) *site {
	origin := u.Origin()
	s := x.sites[origin]
	if s == nil {
		s = &site{origin: origin, url: u}
		x.sites[origin] = s
		if s.isOpen() {
			x.open = append(x.open, s)
		}
	}
	return s
}

// isDeclared reports whether the service of an endpoint declares its hosts.
func (x *Index) isDeclared(number int) bool { return len(x.versions[x.endpoints[number].in].Hosts) > 0 }

// hit is an endpoint URL that is a prefix of a feed URL.
type hit struct {
	*node
	length int   // of the match, in bytes after the origin
	ends   []int // the endpoints that take part, in order of registration
}

// compare returns a negative number if h answers rather than other.
func (h hit) compare(other hit) int {
	return cmp.Or(other.length-h.length, other.literals-h.literals, h.ends[0]-other.ends[0])
}

// or returns the one of two hits that answers. Those without a node are none.
func (h hit) or(other hit) hit {
	if h.node == nil || other.node != nil && other.compare(h) < 0 {
		return other
	}
	return h
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
	u := signpost.CutURL(feedURL)
	rest := u.Rest()
	hits := x.hits(u, split(rest))
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
					Endpoint: other.URL, Source: x.versions[other.in].Source, LostKeys: missingKeys(other.ContextObj, kept),
					By: hits[0].precedence(h), InsideSegment: insideSegment(rest, h.length),
				})
			}
		}
	}
	return m, true
}

// Find returns the number of the endpoint that answers for a feed, or -1: its position among the endpoints of all
// versions. It is faster than [Index.Match].
func (x *Index) Find(feedURL string) int {
	u := signpost.CutURL(feedURL)
	words := split(u.Rest())
	best := hit{}
	for s, takesPart := range x.sitesOf(u) {
		best = best.or(s.best(words, takesPart))
	}
	if best.node == nil {
		return -1
	}
	return best.ends[0]
}

// hits returns the URLs that are prefixes of a feed, which the words are the rest of. The one that answers comes first.
func (x *Index) hits(u signpost.URL, words []string) []hit {
	var hits []hit
	for s, takesPart := range x.sitesOf(u) {
		s.root.prefixes(words, 0, func(n *node, length int) {
			ends := n.ends
			if takesPart != nil {
				isAbsent := func(number int) bool { return !takesPart(number) }
				ends = slices.DeleteFunc(slices.Clone(ends), isAbsent)
			}
			if len(ends) > 0 {
				hits = append(hits, hit{n, length, ends})
			}
		})
	}
	slices.SortFunc(hits, hit.compare)
	return hits
}

// sitesOf returns the sites that have endpoints for a feed, and which of their endpoints take part. Nil means all.
func (x *Index) sitesOf(u signpost.URL) iter.Seq2[*site, func(number int) bool] {
	return func(yield func(*site, func(int) bool) bool) {
		if s := x.sites[x.origin(u)]; s != nil && !yield(s, nil) {
			return
		}
		for _, s := range x.open {
			name := s.url.HostFor(u)
			takesPart := func(number int) bool { // unless it is in the tree of that host
				hosts := x.versions[x.endpoints[number].in].Hosts
				return len(hosts) == 0 || !x.declared[name] && hosts.Has(name)
			}
			if name != "" && !yield(s, takesPart) {
				return
			}
		}
	}
}

// origin returns the origin of the site for the feeds of an origin.
func (x *Index) origin(u signpost.URL) string {
	name := strings.ToLower(u.Hostname())
	if other := x.alike[name]; other != "" {
		return strings.Replace(u.Origin(), "://"+name, "://"+other, 1)
	}
	return u.Origin()
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
