package match

import "signpost"

// Find returns the number of the endpoint that answers for a feed, or -1: its position among the endpoints of all
// versions. It is faster than [Index.Match].
func (x *Index) Find(feedURL string) int {
	u := signpost.CutURL(feedURL)
	words := split(u.Rest())
	best := hit{}
	for s, takesPart := range x.sitesOf(u) {
		if h := s.best(words, takesPart); h.node != nil && (best.node == nil || h.compare(best) < 0) {
			best = h
		}
	}
	if best.node == nil {
		return -1
	}
	return best.ends[0]
}
