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

// noMatch returns the error for a feed that no endpoint answers for. It suggests endpoints that would match with
// another scheme, port or trailing slash or, if there are none, those on the same host with the most similar paths.
func noMatch(index *match.Index, versions []signpost.Version, feed string) *exitError {
	none := func(lines []string, format string, args ...any) *exitError {
		return &exitError{exitFindings, fmt.Errorf("no endpoint answers for %q"+format, append([]any{feed}, args...)...), lines[:min(maxNearest, len(lines))]}
	}
	u := signpost.CutURL(feed)
	var near []string
	ports := make(map[string]bool)
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if other := signpost.CutURL(e.URL); strings.EqualFold(other.Hostname(), u.Hostname()) {
				near = append(near, e.URL)
				ports[other.Port()] = true
			}
		}
	}
	if len(near) == 0 {
		return none(nil, ": none is on host %s", u.Hostname())
	}
	if misses := nearMisses(index, u, ports); len(misses) > 0 {
		return none(misses, "; close matches:")
	}
	if other := inLowerCase(versions, feed); other != "" {
		return none([]string{other + " (upper and lower case)"}, "; close matches:")
	}
	slices.SortStableFunc(near, func(a, b string) int {
		common := func(url string) int { return commonPrefix(signpost.CutURL(url).Path(), u.Path()) }
		return cmp.Compare(common(b), common(a))
	})
	return none(near, "; the nearest on host %s:", u.Hostname())
}

// inLowerCase returns the endpoint that would answer for a feed if letters were the same in upper and lower case, or "".
func inLowerCase(versions []signpost.Version, feed string) string {
	var folded signpost.Version
	written := make(map[string]string) // by the URL in lower case
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			lower := strings.ToLower(e.URL)
			written[lower] = e.URL
			folded.Manifest.Endpoints = append(folded.Manifest.Endpoints, signpost.Endpoint{URL: lower})
		}
	}
	m, _ := match.NewIndex(folded).Match(strings.ToLower(feed))
	return written[m.Endpoint]
}

// nearMisses returns the endpoints that would match with another scheme, port or trailing slash, each with the
// differences, fewest first.
func nearMisses(index *match.Index, feed signpost.URL, ports map[string]bool) []string {
	type miss struct {
		endpoint    string
		differences []string
	}
	var misses []miss
	for _, scheme := range []string{feed.Scheme(), "https", "http"} {
		for port := range ports {
			for _, slash := range []bool{false, true} {
				var differences []string
				differ := func(what, is, would string) {
					if is != would {
						differences = append(differences, fmt.Sprintf("%s: %s, not %s", what, orNone(would), orNone(is)))
					}
				}
				differ("scheme", feed.Scheme(), scheme)
				differ("port", feed.Port(), port)
				path := feed.Path()
				if slash {
					path += "/"
					differences = append(differences, "trailing slash")
				}
				other := scheme + "://" + feed.Hostname()
				if port != "" {
					other += ":" + port
				}
				if m, ok := index.Match(other + path + strings.TrimSuffix("?"+feed.Query(), "?")); ok {
					misses = append(misses, miss{m.Endpoint, differences})
				}
			}
		}
	}
	slices.SortFunc(misses, func(a, b miss) int {
		return cmp.Or(len(a.differences)-len(b.differences), strings.Compare(a.endpoint, b.endpoint), slices.Compare(a.differences, b.differences))
	})
	var texts []string
	seen := make(map[string]bool)
	for _, m := range misses {
		if !seen[m.endpoint] {
			seen[m.endpoint] = true
			texts = append(texts, fmt.Sprintf("%s (%s)", m.endpoint, strings.Join(m.differences, "; ")))
		}
	}
	return texts
}

func orNone(text string) string { return cmp.Or(text, "none") }

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
