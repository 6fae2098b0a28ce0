package studio

import (
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/match"
)

// place is where an endpoint is declared.
type place struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	Key     string `json:"key"`
	Name    string `json:"name"`
	URL     string `json:"url"`
}

// id names an endpoint as package match does. A source may have the same URL in several versions.
func (p place) id() [2]string { return [2]string{p.Source, p.URL} }

// overlap is an index of everything registered together.
type overlap struct {
	index  *match.Index
	places map[[2]string]place // by id, the first version of each
	nested []nesting
}

// nesting lists the other endpoints that match the URL of an endpoint: but for it, they would answer for its feeds.
type nesting struct {
	place
	Under []loser `json:"under"` // longest first
}

// loser is an endpoint whose URL is a prefix of a feed, but which does not answer for it.
type loser struct {
	place
	LostKeys []string         `json:"lost_keys"` // context keys that the feed loses as a result
	Reason   match.Precedence `json:"reason"`    // why the other endpoint wins
	Inside   bool             `json:"inside"`    // it ends in the middle of a path segment
}

// newOverlap returns the index of sources, without what is nested, and all places.
func newOverlap(sources []*source) (x *overlap, all []place) {
	x = &overlap{places: make(map[[2]string]place), nested: []nesting{}}
	var versions []signpost.Version
	for _, src := range sources {
		for _, v := range src.Versions {
			versions = append(versions, signpost.Version{Name: v.Name, Source: src.ID, Manifest: v.manifest})
			for _, e := range v.Endpoints {
				at := place{src.ID, v.Name, e.Key, e.Name, e.URL}
				all = append(all, at)
				if _, known := x.places[at.id()]; !known {
					x.places[at.id()] = at
				}
			}
		}
	}
	x.index = match.NewIndex(versions...)
	return x, all
}

// newNesting returns the index of sources with what is nested.
func newNesting(sources []*source) *overlap {
	x, all := newOverlap(sources)
	for _, at := range all {
		m := x.match(at.URL) // the URL, placeholders included, is a feed like any other
		// The same URL in another service, such as that of a file at its live address, is no overlap of two URLs.
		under := slices.DeleteFunc(m.Losers, func(other loser) bool { return other.URL == at.URL })
		if m.Found && m.Winner.URL != at.URL { // which covers as much, and is declared earlier
			under = slices.Insert(under, 0, loser{place: m.Winner, LostKeys: []string{}, Reason: match.ByOrder})
		}
		if len(under) > 0 {
			x.nested = append(x.nested, nesting{at, under})
		}
	}
	return x
}

// matched is the endpoint that answers for a feed.
type matched struct {
	Feed    string                 `json:"feed"`
	Found   bool                   `json:"found"`
	Problem string                 `json:"problem"` // why it is not a feed URL
	Winner  place                  `json:"winner"`
	Context []signpost.ContextItem `json:"context_obj"`
	Inside  bool                   `json:"inside_segment"`
	Losers  []loser                `json:"losers"`
}

// match finds the endpoint of a feed.
func (x *overlap) match(feed string) matched {
	m, ok := x.index.Match(feed)
	found := matched{Feed: feed, Found: ok, Context: m.ContextObj, Inside: m.InsideSegment, Losers: []loser{}}
	found.Winner = x.places[[2]string{m.Source, m.Endpoint}]
	for _, other := range m.Shadowed {
		at := x.places[[2]string{other.Source, other.Endpoint}]
		found.Losers = append(found.Losers, loser{at, other.LostKeys, other.By, other.InsideSegment})
	}
	return found
}

// matching is the body of match.
type matching struct {
	Feed string `json:"feed"`
}

// on returns the index for a feed. {{host}} stands for the host that signpost match takes, unless the deployment names
// one.
func (v *view) on(feed signpost.URL) *overlap {
	name, err := host.Parse(feed.Hostname())
	if v.asked != "" || err != nil {
		return v.overlap
	}
	moved := false
	sources := slices.Clone(v.sources)
	for i, src := range sources {
		if !src.HostOpen || src.Kind == KindAddress {
			continue
		}
		name := src.service(src.shown).HostFor(name, feed)
		if name == src.Host || name == signpost.HostPlaceholder {
			continue
		}
		there := src.record.build(name, src.enabled)
		if len(there.Versions) > 0 { // otherwise it has no manifest for the host, and is registered on another one
			sources[i], moved = there, true
		}
	}
	if !moved {
		return v.overlap
	}
	x, _ := newOverlap(sources)
	return x
}

// match finds the endpoint that answers for a feed, among everything registered.
func (s *Studio) match(c call, in matching) (any, error) {
	feed := strings.TrimSpace(in.Feed)
	u := signpost.CutURL(feed)
	found := c.view.on(u).match(feed)
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		found.Problem = "A feed URL starts with https:// or http://."
	}
	return found, nil
}
