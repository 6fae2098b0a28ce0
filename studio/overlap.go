package studio

import (
	"slices"
	"strings"

	"signpost"
	"signpost/match"
)

// place is where an endpoint is declared.
type place struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	Key     string `json:"key"`
	Name    string `json:"name"`
	URL     string `json:"url"`

	endpoint signpost.Endpoint
}

// overlap is an index of everything registered together.
type overlap struct {
	index  *match.Index
	places map[string][]place // by URL, in source order
	nested []nesting
}

// nesting lists the other endpoints that would answer for the feeds of an endpoint if it did not exist.
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

func newOverlap(sources []*source) *overlap {
	x := &overlap{places: make(map[string][]place), nested: []nesting{}}
	var all []place
	var indexed signpost.Version // with each URL once
	for _, src := range sources {
		for _, v := range src.Versions {
			for i, e := range v.manifest.Endpoints {
				at := place{src.ID, v.Name, v.Endpoints[i].Key, e.Name, e.URL, e}
				all = append(all, at)
				if len(x.places[e.URL]) == 0 {
					indexed.Manifest.Endpoints = append(indexed.Manifest.Endpoints, e)
				}
				x.places[e.URL] = append(x.places[e.URL], at)
			}
		}
	}
	x.index = match.NewIndex(indexed)
	for _, at := range all {
		m, ok := x.index.Match(at.URL) // the URL, placeholders included, is a feed like any other
		if !ok {
			continue
		}
		if under := x.losers(m, at); len(under) > 0 {
			x.nested = append(x.nested, nesting{at, under})
		}
	}
	return x
}

// losers returns the endpoints that match a feed and do not answer for it because winner does.
func (x *overlap) losers(m match.Match, winner place) []loser {
	losers := []loser{}
	first := match.Shadowed{Endpoint: m.Endpoint, By: match.ByOrder} // if it is not the winner, it covers as much
	for _, shadowed := range append([]match.Shadowed{first}, m.Shadowed...) {
		if shadowed.Endpoint == winner.URL {
			continue
		}
		other := x.places[shadowed.Endpoint][0]
		l := loser{place: other, LostKeys: []string{}, Reason: shadowed.By, Inside: shadowed.InsideSegment}
		for _, item := range other.endpoint.ContextObj { // shadowed has the keys lost to the first of equals
			if !slices.ContainsFunc(winner.endpoint.ContextObj, func(c signpost.ContextItem) bool { return c.Key == item.Key }) {
				l.LostKeys = append(l.LostKeys, item.Key)
			}
		}
		losers = append(losers, l)
	}
	return losers
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

// match finds the endpoint of a feed. If several sources declare the same URL, the preferred source wins.
func (x *overlap) match(feed, preferred string) matched {
	m, ok := x.index.Match(feed)
	if !ok {
		return matched{Feed: feed, Context: []signpost.ContextItem{}, Losers: []loser{}}
	}
	all := x.places[m.Endpoint]
	winner := all[max(0, slices.IndexFunc(all, func(p place) bool { return p.Source == preferred }))]
	return matched{
		Feed: feed, Found: true, Winner: winner, Context: append([]signpost.ContextItem{}, winner.endpoint.ContextObj...),
		Inside: m.InsideSegment, Losers: x.losers(m, winner),
	}
}

// matching is the body of match.
type matching struct {
	Source string   `json:"source"` // preferred where several declare the same URL
	Feeds  []string `json:"feeds"`
}

// match finds the endpoints that answer for the given feeds, among everything registered.
func (s *Studio) match(c call, in matching) (any, error) {
	out := []matched{}
	for _, feed := range in.Feeds {
		found := c.view.overlap.match(strings.TrimSpace(feed), in.Source)
		if scheme := signpost.CutURL(found.Feed).Scheme(); scheme != "https" && scheme != "http" {
			found.Problem = "A feed URL starts with https:// or http://."
		}
		out = append(out, found)
	}
	return object{"matches": out}, nil
}
