package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/match"
)

// maxNearest is the maximum number of endpoints suggested if none matches.
const maxNearest = 3

// reportNoMatch reports that no endpoint answers for a feed. It suggests the endpoints that would match but for scheme,
// port, trailing slash or the case of letters or, if there are none, those on the same host with the most similar paths.
func (c *CLI) reportNoMatch(index *match.Index, versions []signpost.Version, feed string) {
	u := signpost.CutURL(feed)
	looseFeed := loosely(u)
	var near, close []string
	var loose signpost.Version // the endpoints on the host, without what people get wrong
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if other := signpost.CutURL(e.URL); strings.EqualFold(other.Hostname(), u.Hostname()) {
				near = append(near, e.URL)
				if url := loosely(other); strings.Count(url, "/") <= strings.Count(looseFeed, "/") { // a longer one cannot be a prefix
					loose.Manifest.Endpoints = append(loose.Manifest.Endpoints, signpost.Endpoint{URL: url})
				}
			}
		}
	}
	if m, ok := match.NewIndex(loose).Match(looseFeed); ok {
		for _, endpoint := range near {
			if other := signpost.CutURL(endpoint); loosely(other) == m.Endpoint {
				close = append(close, fmt.Sprintf("%s (%s)", endpoint, strings.Join(differences(index, u, other), "; ")))
			}
		}
	}
	why := "; close matches:"
	switch {
	case len(near) == 0:
		why = ": none is on host " + u.Hostname()
	case len(close) == 0:
		why = "; the nearest on host " + u.Hostname() + ":"
		common := func(url string) int { return commonPrefix(signpost.CutURL(url).Path(), u.Path()) }
		slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(common(b), common(a)) })
		close = near
	}
	printf(c.Stderr, "signpost: no endpoint answers for %q%s\n", feed, why)
	for _, line := range close[:min(maxNearest, len(close))] {
		printf(c.Stderr, "  %s\n", line)
	}
}

// loosely returns a URL without scheme and port, in lower case, and without a slash at the end.
func loosely(u signpost.URL) string {
	return strings.ToLower("https://" + u.Hostname() + strings.TrimSuffix(u.Path(), "/") + strings.TrimSuffix("?"+u.Query(), "?"))
}

// differences lists what to change in a feed so that an endpoint matches that does so loosely.
func differences(index *match.Index, feed, endpoint signpost.URL) []string {
	var all []string
	for _, part := range [][3]string{{"scheme", endpoint.Scheme(), feed.Scheme()}, {"port", endpoint.Port(), feed.Port()}} {
		if part[1] != part[2] {
			all = append(all, fmt.Sprintf("%s: %s, not %s", part[0], cmp.Or(part[1], "none"), cmp.Or(part[2], "none")))
		}
	}
	path := feed.Path()
	if strings.HasSuffix(endpoint.Path(), "/") && strings.Count(path, "/") < strings.Count(endpoint.Path(), "/") {
		path += "/"
		all = append(all, "trailing slash")
	}
	authority := feed.Hostname() + strings.TrimSuffix(":"+endpoint.Port(), ":")
	if _, ok := index.Match(endpoint.Scheme() + "://" + authority + path + strings.TrimSuffix("?"+feed.Query(), "?")); !ok {
		all = append(all, "upper and lower case")
	}
	return all
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
