package match

// Find returns the number of the endpoint that answers for a feed, or -1: its position among the endpoints of all versions.
// It is faster than [Index.Match].
func (x *Index) Find(feedURL string) int {
	origin, rest := cut(feedURL)
	return x.answers(feed{origin, anyHost, split(rest)})
}
