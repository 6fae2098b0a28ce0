package client

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"signpost"
	"signpost/contextkeys"
	"signpost/host"
	"signpost/internal/spell"
)

// maxLinkResults limits the number of results about dead links, and about links without an endpoint. The rest are
// counted.
const maxLinkResults = 20

// Kinds of links that apps cannot call, or not with context keys.
const (
	noEndpoint = iota
	localLink
	relativeLink
)

// linkProblems holds the results for bad links, by kind: of a single link, and of several ones.
var linkProblems = []struct {
	status             Status
	single, many, hint string
}{
	noEndpoint: {Failed, "no endpoint answers for %s: apps call it without context keys",
		"no endpoint answers for %s: apps call them without context keys",
		"declare an endpoint whose URL is a prefix of it, or correct the link"},
	localLink: {Warned, "%s, leads to a single machine or a private network: no device elsewhere can call it",
		"%s, lead to a single machine or a private network: no device elsewhere can call them",
		"make the service write links with the host that it is called by"},
	relativeLink: {Warned, "%s, is relative: apps cannot call it", "%s, are relative: apps cannot call them",
		"write the whole URL, with scheme and host"},
}

// badLinks are links of one kind at similar places. The first one is the example.
type badLinks struct {
	link
	kind  int
	count int
}

func (x *crawl) addBad(l link, kind int) {
	key := badKey{l.from.endpoint.URL, l.pattern, kind}
	if x.badByKey[key] == nil {
		x.badByKey[key] = &badLinks{link: l, kind: kind}
		x.bad = append(x.bad, x.badByKey[key])
	}
	x.badByKey[key].count++
}

// badKey identifies badLinks.
type badKey struct {
	endpoint, pattern string
	kind              int
}

// checkLinks reports links without an endpoint, and links that do not work.
func (c *checker) checkLinks(context.Context) {
	before := len(c.results)
	for _, bad := range c.bad[:min(maxLinkResults, len(c.bad))] {
		c.addBadLinks(bad)
	}
	if more := len(c.bad) - maxLinkResults; more > 0 {
		c.add(Failed, "correct the links, or declare endpoints for them",
			"%s of links that apps cannot call as they should", spell.Count(more, "more kind"))
	}
	dead := slices.DeleteFunc(slices.Clone(c.followed), func(p *probe) bool { return !p.dead() || p.result.Cause == causeCanceled })
	for _, p := range dead[:min(maxLinkResults, len(dead))] {
		hint := "correct the link, or what it leads to; " + p.result.Hint
		switch {
		case p.status == http.StatusNotFound || p.status == http.StatusGone:
			hint = "correct the link, or publish what it leads to"
		case p.status/100 == 3:
			hint = "link to the URL that it redirects to: clients do not send context keys after a redirect"
		}
		r := c.add(Failed, hint, "%s, at %s, does not work: %s", p.link.describe(), p.link.at(p.link.pointer), p.result.Message)
		r.Endpoint, r.Cause, r.ContextKeys = p.link.from.endpoint.URL, p.result.Cause, p.result.ContextKeys
	}
	if more := len(dead) - maxLinkResults; more == 1 {
		c.add(Failed, "correct the links, or what they lead to", "1 more link does not work")
	} else if more > 1 {
		c.add(Failed, "correct the links, or what they lead to", "%d more links do not work", more)
	}
	if len(c.results) == before {
		r := c.add(Passed, "", "%s", c.describeLinks())
		if len(c.links) > 0 {
			r.Cause = causeNotFollowed
		}
	}
}

// addBadLinks adds the result for links of one kind.
func (c *checker) addBadLinks(bad *badLinks) {
	problem := linkProblems[bad.kind]
	message, where := problem.single, fmt.Sprintf("%s, at %s", bad.describe(), bad.at(bad.pointer))
	if bad.count > 1 {
		message, where = problem.many, fmt.Sprintf("%d links at %s, such as %s", bad.count, bad.at(bad.pattern), bad.describe())
	}
	r := c.add(problem.status, problem.hint, message, where)
	r.Endpoint = bad.from.endpoint.URL
	if bad.kind == noEndpoint {
		r.Cause = causeNoEndpoint
		if near := c.nearEndpoint(bad.url); near != "" {
			r.Cause, r.Hint = "", fmt.Sprintf("correct the link: its scheme, port or user info is not that of %q", near)
		}
	}
}

// nearEndpoint returns the endpoint that differs from a link without an endpoint only in scheme, port or user info, which
// gives the mistake away, or "".
func (c *checker) nearEndpoint(u *url.URL) string {
	for _, e := range c.manifest.Endpoints {
		v := signpost.CutURL(e.URL)
		path, _, _ := strings.Cut(v.Path(), "{{")
		differs := v.Scheme() != strings.ToLower(u.Scheme) || v.Port() != u.Port() || u.User != nil
		if differs && host.Equal(v.Hostname(), u.Host) && strings.HasPrefix(u.Path, path) {
			return e.URL
		}
	}
	return ""
}

// describeLinks summarizes links that all have an endpoint.
func (c *checker) describeLinks() string {
	text := fmt.Sprintf("%d links, each with an endpoint that answers for it", c.answered)
	switch c.answered {
	case 0:
		return "the feeds have no links to registered hosts"
	case 1:
		text = "1 link, with an endpoint that answers for it"
	}
	text += fmt.Sprintf("; %d followed", len(c.followed))
	if len(c.links) > 0 {
		text += fmt.Sprintf(", %d not", len(c.links))
	}
	if c.kept > cmp.Or(c.opts.limit, maxKept) {
		text += "; further links were not checked, because there are too many"
	}
	return text
}

// fileTypes lists the extensions of files that apps load directly: feeds also link to images and streams, which need no
// endpoint.
var fileTypes = []string{
	".apng", ".avif", ".bmp", ".gif", ".ico", ".jpe", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp",
	".aac", ".flac", ".m4a", ".m4v", ".mkv", ".mov", ".mp3", ".mp4", ".mpd", ".m3u8", ".oga", ".ogg", ".ogv", ".ts", ".wav", ".webm", ".ism",
	".srt", ".vtt", ".ttml", ".css", ".eot", ".htm", ".html", ".js", ".mjs", ".otf", ".pdf", ".ttf", ".woff", ".woff2", ".zip",
}

// isFile reports whether the extension of a link is that of a file.
func isFile(link *url.URL) bool {
	return slices.Contains(fileTypes, strings.ToLower(path.Ext(link.Path)))
}

// at returns the prefix for messages about a followed link.
func (p *probe) at() string {
	if p.link == nil {
		return ""
	}
	return fmt.Sprintf("as %s: ", p.link.describe())
}

// describe returns the URL of a link for a result. If the response depends on context values, the query is removed; if the
// URL repeats one of them, it is not shown at all.
func (l *link) describe() string {
	if len(l.from.sent) == 0 {
		return fmt.Sprintf("%q", l.text)
	}
	short := url.URL{Scheme: l.url.Scheme, Host: l.url.Host, Path: l.url.Path, RawPath: l.url.RawPath}
	if l.from.repeats(short.String()) || l.url.User != nil {
		return "a link that repeats a context value"
	}
	return fmt.Sprintf("%q", short.String())
}

// at returns a location in the feed of the link for a result.
func (l *link) at(pointer string) string {
	if l.from.repeats(pointer) {
		return "a place that repeats a context value"
	}
	return pointer
}

// minSecret is the minimum length of context values that are searched for in results. Shorter ones, such as the number
// of a profile, are not secret and occur everywhere.
const minSecret = 4

// repeats reports whether text contains one of the context values sent, in any form that services send back.
func (p *probe) repeats(text string) bool {
	unescaped, err := url.PathUnescape(text)
	if err != nil {
		unescaped = text
	}
	text = strings.ToLower(text + " " + unescaped)
	found := false
	for key, value := range p.sent {
		ctx, _ := contextkeys.Encode([]signpost.ContextItem{{Key: key, Type: signpost.ContextCtx}}, map[string]any{key: value})
		encoded, _ := json.Marshal(value) // what cannot be encoded is not sent
		eachText(encoded, func(secret string, _ []step) {
			for _, form := range []string{ctx, secret, url.QueryEscape(secret),
				base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))} {
				found = found || len(secret) >= minSecret && form != "" && strings.Contains(text, strings.ToLower(form))
			}
		})
	}
	return found
}
