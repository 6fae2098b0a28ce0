package studio

import (
	"fmt"
	"net/http"
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
	Source  string   `json:"source"`
	Version string   `json:"version"`
	Key     string   `json:"key"`
	Under   []loser  `json:"under"`  // longest first
	Twins   []string `json:"twins"`  // other sources that declare the same URL
	Differ  bool     `json:"differ"` // a twin has a different method, type or context keys
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
	var versions []signpost.Version
	for _, src := range sources {
		for _, v := range src.Versions {
			registered := signpost.Version{Name: v.Name}
			for i, e := range v.manifest.Endpoints {
				at := place{src.ID, v.Name, v.Endpoints[i].Key, e.Name, e.URL, e}
				if len(x.places[e.URL]) == 0 { // the index has each URL once
					registered.Manifest.Endpoints = append(registered.Manifest.Endpoints, e)
				}
				x.places[e.URL] = append(x.places[e.URL], at)
			}
			versions = append(versions, registered)
		}
	}
	x.index = match.NewIndex(versions...)
	for _, src := range sources {
		for _, v := range src.Versions {
			for _, e := range v.Endpoints {
				x.nest(src.ID, v.Name, e)
			}
		}
	}
	return x
}

// nest records what an endpoint is nested in. Its own URL, placeholders included, is used as the feed.
func (x *overlap) nest(sourceID, version string, e endpoint) {
	n := nesting{Source: sourceID, Version: version, Key: e.Key, Under: []loser{}, Twins: []string{}}
	own := x.places[e.URL]
	for _, twin := range own {
		if twin.Source != sourceID {
			n.Twins = append(n.Twins, twin.Source)
			n.Differ = n.Differ || !alike(twin.endpoint, own[0].endpoint)
		}
	}
	if m, ok := x.index.Match(e.URL); ok {
		winner := match.Shadowed{Endpoint: m.Endpoint, By: match.ByOrder} // if it is another one, it covers as much
		for _, other := range append([]match.Shadowed{winner}, m.Shadowed...) {
			if other.Endpoint != e.URL {
				n.Under = append(n.Under, x.lose(other, own[0]))
			}
		}
	}
	if len(n.Under) > 0 || len(n.Twins) > 0 {
		x.nested = append(x.nested, n)
	}
}

func alike(a, b signpost.Endpoint) bool {
	return a.Method == b.Method && a.MIMEType == b.MIMEType && slices.Equal(a.ContextObj, b.ContextObj)
}

// lose returns an endpoint that does not answer for a feed because winner does.
func (x *overlap) lose(shadowed match.Shadowed, winner place) loser {
	other := x.places[shadowed.Endpoint][0]
	l := loser{place: other, LostKeys: []string{}, Reason: shadowed.By, Inside: shadowed.InsideSegment}
	for _, item := range other.endpoint.ContextObj { // shadowed has the keys lost to the first of equals
		if !slices.ContainsFunc(winner.endpoint.ContextObj, func(c signpost.ContextItem) bool { return c.Key == item.Key }) {
			l.LostKeys = append(l.LostKeys, item.Key)
		}
	}
	return l
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
	Twins   []place                `json:"twins"` // other sources that declare the same URL
}

// match finds the endpoint of a feed. If several sources declare the same URL, the preferred source wins.
func (x *overlap) match(feed, preferred string) matched {
	out := matched{Feed: feed, Context: []signpost.ContextItem{}, Losers: []loser{}, Twins: []place{}}
	m, ok := x.index.Match(feed)
	if !ok {
		return out
	}
	all := x.places[m.Endpoint]
	out.Found, out.Winner, out.Inside = true, all[0], m.InsideSegment
	for _, p := range all {
		if p.Source == preferred {
			out.Winner = p
		}
	}
	for _, p := range all {
		if p.Source != out.Winner.Source {
			out.Twins = append(out.Twins, p)
		}
	}
	out.Context = append(out.Context, out.Winner.endpoint.ContextObj...)
	for _, other := range m.Shadowed {
		out.Losers = append(out.Losers, x.lose(other, out.Winner))
	}
	return out
}

// maxFeeds limits the feeds in one request: a screenful of pasted URLs.
const maxFeeds = 500

// feeds asks which endpoints answer for feeds.
type feeds struct {
	Source string   `json:"source"` // preferred
	Feeds  []string `json:"feeds"`
}

// match finds the endpoints that answer for the given feeds, among everything registered.
func (s *Studio) match(r *http.Request, in feeds) (any, *problem) {
	v, why := s.view(r)
	if why != nil {
		return nil, why
	}
	if len(in.Feeds) > maxFeeds {
		return nil, failed(http.StatusUnprocessableEntity, fmt.Sprintf("Paste at most %d feed URLs.", maxFeeds), "")
	}
	x := v.overlaps()
	out := []matched{}
	for _, feed := range in.Feeds {
		found := x.match(strings.TrimSpace(feed), in.Source)
		if scheme := signpost.CutURL(found.Feed).Scheme(); scheme != "https" && scheme != "http" {
			found.Problem = "A feed URL starts with https:// or http://."
		}
		out = append(out, found)
	}
	return struct {
		Matches []matched `json:"matches"`
	}{out}, nil
}

// why explains why the winner answers for a feed and another endpoint does not.
func (l loser) why(winner place) string {
	switch l.Reason {
	case match.ByLiterals:
		return fmt.Sprintf("both cover the same part of the feed URL, and %q spells more of it out", winner.Name)
	case match.ByOrder:
		return "both cover the same part of the feed URL in the same way, and the one declared first answers"
	}
	return fmt.Sprintf("%q covers more of the feed URL", winner.Name)
}
