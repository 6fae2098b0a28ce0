package studio

import (
	"slices"
	"strings"

	"signpost"
	"signpost/host"
	"signpost/match"
)

// reference names an endpoint, and where it is declared.
type reference struct {
	Source  string `json:"source"`
	Version string `json:"version"`
	Key     string `json:"key"`
	Name    string `json:"name"`
	URL     string `json:"url"`
}

// isSame reports whether a loser is an endpoint.
func (r reference) isSame(l loser) bool { return l.Source == r.Source && l.Key == r.Key }

// overlap is an index of endpoints that are registered together. Package match names an endpoint by its source and URL,
// which several versions of a source may have.
type overlap struct {
	index      *match.Index
	references map[[2]string]reference // by source and URL, with and without {{host}}; the first version of each
	hosts      map[string][]string     // of each source, those that it lists or is shown on
}

// nesting lists the other endpoints that match the URL of an endpoint: but for it, they would answer for its feeds.
type nesting struct {
	reference
	Under []loser `json:"under"` // longest first
}

// loser is an endpoint whose URL is a prefix of a feed, but which does not answer for it.
type loser struct {
	reference
	LostKeys []string         `json:"lost_keys"` // context keys that the feed loses as a result
	Reason   match.Precedence `json:"reason"`    // why the other endpoint wins
	Inside   bool             `json:"inside"`    // it ends in the middle of a path segment
}

// newOverlap returns the index of sources: as the page shows them, or with {{host}} for every host that they can have.
func newOverlap(sources []*source, asShown bool) *overlap {
	x := &overlap{references: make(map[[2]string]reference), hosts: make(map[string][]string)}
	var versions []signpost.Version
	for _, src := range sources {
		x.hosts[src.ID] = []string{src.Host}
		if src.shown != nil {
			x.hosts[src.ID] = append(src.shown.Definition.Hosts.Exact(), src.Host)
		}
		for _, v := range src.Versions {
			one := v.declared
			if asShown {
				one.Manifest, one.Hosts = v.manifest, nil
			}
			versions = append(versions, one)
		}
		for _, one := range src.references() {
			for _, id := range [][2]string{{src.ID, one.Key}, {src.ID, one.URL}} {
				if _, known := x.references[id]; !known {
					x.references[id] = one
				}
			}
		}
	}
	x.index = match.NewIndex(versions...)
	return x
}

func (src *source) references() []reference {
	var all []reference
	for _, v := range src.Versions {
		for _, e := range v.Endpoints {
			all = append(all, reference{src.ID, v.Name, e.Key, e.Name, e.URL})
		}
	}
	return all
}

// findOverlap finds out which endpoints match the URLs of others. The page shows a service on one host, but unless the
// deployment names one, services meet on each host that they can have, as signpost lint has it.
func (v *view) findOverlap() {
	v.overlap, v.nested = newOverlap(v.sources, v.asked != ""), []nesting{}
	hosts := v.hosts()
	for _, src := range v.sources {
		for _, one := range src.references() {
			var under []loser
			url := signpost.CutURL(one.Key)
			if v.asked != "" || !url.HasHostPlaceholder() {
				under = v.overlap.under(one, one.URL)
			} else {
				for _, name := range hosts {
					if own := src.shown.Definition.Hosts; len(own) == 0 || own.Has(name) {
						under = withOthers(under, v.overlap.under(one, url.Resolve(name).String()))
					}
				}
			}
			if len(under) > 0 {
				v.nested = append(v.nested, nesting{one, under})
			}
		}
	}
}

// hosts returns the hosts of all services. Of hosts with the same services, there is one.
func (v *view) hosts() []string {
	var names []string
	var versions []signpost.Version
	for _, src := range v.sources {
		for _, v := range src.Versions {
			versions = append(versions, v.declared)
		}
		if src.shown != nil {
			names = append(names, src.Host)
			for _, name := range src.shown.Definition.Hosts {
				names = append(names, strings.Replace(name, "*", "any", 1)) // a host that nobody lists stands for a suffix
			}
		}
	}
	slices.Sort(names)
	alike := match.Alike(versions...)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return alike[name] != "" })
}

// under returns the other endpoints that match the URL that an endpoint has on a host.
func (x *overlap) under(one reference, url string) []loser {
	m := x.match(url) // the URL, placeholders included, is a feed like any other
	// The same URL in another service, such as that of a file at its live address, is no overlap of two URLs.
	isNone := func(other loser) bool { return other.URL == url || !x.isKnown(one, other.reference) }
	under := slices.DeleteFunc(m.Losers, isNone)
	if m.Found && m.Winner.URL != url && x.isKnown(one, m.Winner) { // which covers as much, and is declared earlier
		under = slices.Insert(under, 0, loser{reference: m.Winner, LostKeys: []string{}, Reason: match.ByOrder})
	}
	return under
}

// isKnown reports whether two endpoints on one host are known to meet. {{host}} stands for a host that is written out if
// the service lists that host, or the page shows the service there.
func (x *overlap) isKnown(a, b reference) bool {
	if !strings.Contains(a.Key, signpost.HostPlaceholder) {
		a, b = b, a
	}
	return strings.Contains(a.Key, signpost.HostPlaceholder) == strings.Contains(b.Key, signpost.HostPlaceholder) ||
		slices.Contains(x.hosts[a.Source], signpost.CutURL(b.URL).Hostname())
}

// withOthers returns losers, and those others that are not among them.
func withOthers(losers, others []loser) []loser {
	for _, other := range others {
		if !slices.ContainsFunc(losers, other.isSame) {
			losers = append(losers, other)
		}
	}
	return losers
}

// matched is the endpoint that answers for a feed.
type matched struct {
	Feed    string                 `json:"feed"`
	Found   bool                   `json:"found"`
	Problem string                 `json:"problem"` // why it is not a feed URL
	Winner  reference              `json:"winner"`
	Context []signpost.ContextItem `json:"context_obj"`
	Inside  bool                   `json:"inside_segment"`
	Losers  []loser                `json:"losers"`
}

func (x *overlap) match(feed string) matched {
	m, ok := x.index.Match(feed)
	found := matched{Feed: feed, Found: ok, Context: m.ContextObj, Inside: m.InsideSegment, Losers: []loser{}}
	of := signpost.CutURL(feed)
	reference := func(source, url string) reference {
		one := x.references[[2]string{source, url}]
		if u := signpost.CutURL(url); u.HasHostPlaceholder() {
			one.URL = u.Resolve(u.HostFor(of)).String()
		}
		return one
	}
	found.Winner = reference(m.Source, m.Endpoint)
	for _, other := range m.Shadowed {
		one := reference(other.Source, other.Endpoint)
		found.Losers = append(found.Losers, loser{one, other.LostKeys, other.By, other.InsideSegment})
	}
	return found
}

type matchBody struct {
	Feed string `json:"feed"`
}

// on returns the index for a feed that may be of any service. {{host}} stands for the host that signpost match takes,
// unless the deployment names one.
func (v *view) on(feed signpost.URL) *overlap {
	name, err := host.Parse(feed.Hostname())
	if v.asked != "" || err != nil {
		return v.overlap
	}
	sources := slices.Clone(v.sources)
	for i, src := range sources {
		if !src.HostOpen || src.Kind == KindAddress || src.Host == name {
			continue
		}
		name := src.service(src.shown).HostFor(name, feed)
		if name == src.Host || name == signpost.HostPlaceholder {
			continue
		}
		there := src.record.build(name, src.enabled)
		if len(there.Versions) > 0 { // otherwise it has no manifest for the host, and is registered on another one
			sources[i] = there
		}
	}
	return newOverlap(sources, true)
}

func (s *Studio) match(c call, in matchBody) (any, error) {
	feed := strings.TrimSpace(in.Feed)
	u := signpost.CutURL(feed)
	found := c.view.on(u).match(feed)
	if scheme := u.Scheme(); scheme != "https" && scheme != "http" {
		found.Problem = "A feed URL starts with https:// or http://."
	}
	return found, nil
}
