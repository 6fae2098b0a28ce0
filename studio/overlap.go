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

// overlap is an index of endpoints that are registered together. Package match names an endpoint by its source and URL,
// which several versions of a source may have.
type overlap struct {
	index      *match.Index
	references map[[2]string]reference // by source and URL, the first version of each
	anywhere   map[string]bool         // sources whose {{host}} may be any host
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

// newOverlap returns the index of sources as the page shows them.
func newOverlap(sources []*source) *overlap {
	x := &overlap{references: make(map[[2]string]reference)}
	var versions []signpost.Version
	for _, src := range sources {
		for _, v := range src.Versions {
			versions = append(versions, signpost.Version{Name: v.Name, Source: src.ID, Manifest: v.manifest})
			for _, one := range src.references(v) {
				x.add(one.URL, one)
			}
		}
	}
	x.index = match.NewIndex(versions...)
	return x
}

// newDeclared returns the index of sources as they are declared: with {{host}}, and the hosts that it stands for.
func newDeclared(sources []*source) *overlap {
	x := &overlap{references: make(map[[2]string]reference), anywhere: make(map[string]bool)}
	for _, src := range sources {
		if src.shown != nil {
			x.anywhere[src.ID] = len(src.shown.Definition.Hosts) == 0
		}
		for _, v := range src.Versions {
			for _, one := range src.references(v) {
				x.add(one.Key, one)
			}
		}
	}
	x.index = match.NewIndex(declaredVersions(sources)...)
	return x
}

// references returns the endpoints of a version.
func (src *source) references(v *version) []reference {
	var all []reference
	for _, e := range v.Endpoints {
		all = append(all, reference{src.ID, v.Name, e.Key, e.Name, e.URL})
	}
	return all
}

func (x *overlap) add(url string, one reference) {
	id := [2]string{one.Source, url}
	if _, known := x.references[id]; !known {
		x.references[id] = one
	}
}

// under returns the other endpoints that match the URL of an endpoint.
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

// isKnown reports whether two endpoints on one host are known to meet. {{host}} of a service without hosts does not stand
// for a host that is written out, as signpost lint has it.
func (x *overlap) isKnown(a, b reference) bool {
	isOpen := func(one reference) bool { return strings.Contains(one.Key, signpost.HostPlaceholder) }
	return isOpen(a) == isOpen(b) || !x.anywhere[a.Source] && !x.anywhere[b.Source]
}

// findOverlap finds out which endpoints match the URLs of others. The page shows a service on one host, but services meet
// on each host that they can have.
func (v *view) findOverlap() {
	v.overlap, v.nested = newOverlap(v.sources), []nesting{}
	hosts := v.meetings()
	if len(hosts) > 0 {
		v.declared = newDeclared(v.sources)
	}
	for _, src := range v.sources {
		for _, version := range src.Versions {
			for _, one := range src.references(version) {
				under := v.overlap.under(one, one.URL)
				for _, name := range hosts {
					if url := signpost.CutURL(one.Key); url.HasHostPlaceholder() && src.mayBeOn(name) {
						under = withOthers(under, v.declared.under(one, url.Resolve(name).String()))
					}
				}
				if len(under) > 0 {
					v.nested = append(v.nested, nesting{one, under})
				}
			}
		}
	}
}

// withOthers returns losers, and those others that are not among them.
func withOthers(losers, others []loser) []loser {
	for _, other := range others {
		isSame := func(l loser) bool {
			return l.Source == other.Source && l.Version == other.Version && l.Key == other.Key
		}
		if !slices.ContainsFunc(losers, isSame) {
			losers = append(losers, other)
		}
	}
	return losers
}

// meetings returns the hosts on which there may be services that the page shows on another one. Of hosts with the same
// services, one will do.
func (v *view) meetings() []string {
	if v.asked != "" {
		return nil
	}
	var names []string
	shown := make(map[string]bool)
	for _, src := range v.sources {
		if src.isOpen() {
			names, shown[src.Host] = append(names, src.Host), true
			names = append(names, src.shown.Definition.Hosts.Exact()...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > len(shown) {
		alike := match.Alike(declaredVersions(v.sources)...)
		names = slices.DeleteFunc(names, func(name string) bool { return alike[name] != "" && !shown[name] })
	}
	return slices.DeleteFunc(names, func(name string) bool {
		isElsewhere := func(src *source) bool { return src.isOpen() && src.Host != name && src.mayBeOn(name) }
		return !slices.ContainsFunc(v.sources, isElsewhere)
	})
}

// declaredVersions returns the versions of sources with {{host}} as it is written.
func declaredVersions(sources []*source) []signpost.Version {
	var versions []signpost.Version
	for _, src := range sources {
		if src.shown != nil {
			versions = append(versions, src.service(src.shown).Versions...)
		}
	}
	return versions
}

// isOpen reports whether the host of a source is that of the deployment.
func (src *source) isOpen() bool { return src.HostOpen && src.Kind != KindAddress }

// mayBeOn reports whether {{host}} of a source may stand for a host.
func (src *source) mayBeOn(name string) bool {
	hosts := src.shown.Definition.Hosts
	return len(hosts) == 0 || hosts.Has(name)
}

// answering returns what answers for a feed of an endpoint, if that is another endpoint.
func (v *view) answering(feed string, one reference) *matched {
	if m := v.overlap.match(feed); m.Found && m.Winner.URL != one.URL {
		return &m
	}
	if v.declared == nil {
		return nil
	}
	m := v.declared.match(feed)
	if m.Found && m.Winner.URL != one.URL && v.declared.isKnown(one, m.Winner) {
		return &m
	}
	return nil
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

// match finds the endpoint of a feed.
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
		if !src.isOpen() {
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
	return newOverlap(sources)
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
