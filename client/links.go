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

// maxLinkResults limits the number of results about links that apps cannot call. The rest are counted.
const maxLinkResults = 20

// link is an http(s) URL, or the path of one, in a feed.
type link struct {
	text string
	url  *url.URL

	from    *probe       // the feed that contains it
	pointer string       // in that feed
	problem *linkProblem // nil if an endpoint answers for it
	target  *target      // that endpoint, if it can be called
}

// linkProblem is a reason why apps cannot call links, or not with context keys. The message has the links.
type linkProblem struct {
	status        Status
	message, hint string
}

var (
	noEndpoint = &linkProblem{Failed, "no endpoint answers for %s: apps send no context keys",
		"declare an endpoint whose URL is a prefix of it, or correct the link"}
	localLink = &linkProblem{Warned,
		"no device elsewhere can call %s: the host is a single machine or in a private network",
		"make the service write links with the host that it is called by, " +
			"and the proxy in front of it pass the Host header on"}
	relativeLink = &linkProblem{Warned, "apps cannot call %s: the URL is relative",
		"write the whole URL, with scheme and host"}
)

// isLink reports whether text is an http(s) URL and nothing else, or looks like the path of one. The field id is for
// identifiers, which may as well.
func isLink(text, pointer string) bool {
	scheme, _, absolute := strings.Cut(text, "://")
	absolute = absolute && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
	isID := strings.HasSuffix(pointer, "/id")
	relative := strings.HasPrefix(text, "/") && len(text) > 1 && !isID
	return (absolute || relative) && !strings.ContainsAny(text, " \t\r\n\"<>\\")
}

// addLink adds a link to the response that contains it, if it leads to a registered host, or if no device can call it.
func (c *checker) addLink(p *probe, text, pointer string) {
	u, err := url.Parse(text)
	if err != nil {
		return
	}
	l := &link{text: text, url: u, from: p, pointer: pointer}
	name, err := host.Parse(u.Host)
	owner := c.owner(text)
	switch {
	case u.Scheme != "" && isPrivate(u.Host) && !isPrivate(c.address.Host):
		l.problem = localLink
	case owner == nil && slices.Contains(fileTypes, strings.ToLower(path.Ext(u.Path))):
		return
	case u.Scheme == "" && (c.hosts[name] || u.Host == "" && c.isRelative(p, u)):
		l.problem = relativeLink
	case err != nil || !c.hosts[name]:
		return
	case owner == nil:
		l.problem = noEndpoint
	case owner.published && owner.Method == signpost.MethodGet && !strings.Contains(text, "{{"):
		l.target = owner
	}
	c.kept += len(text) + 2*maxPointer
	if c.kept <= cmp.Or(c.opts.limit, maxKept) {
		p.links = append(p.links, l)
	}
}

// isPrivate reports whether no device elsewhere can call a host. Names without a dot are those of containers and
// machines.
func isPrivate(authority string) bool {
	name, err := host.Parse(authority)
	return err == nil && (host.IsLocal(name) || !strings.ContainsAny(name, ".:") || strings.HasSuffix(name, ".internal"))
}

// isRelative reports whether a link without a host is meant to be one on the host of its feed, where an endpoint would
// answer for it.
func (c *checker) isRelative(p *probe, u *url.URL) bool {
	owner := c.owner(p.target.url.Origin() + u.EscapedPath())
	if owner == nil {
		return false
	}
	path := strings.TrimPrefix(owner.url.Path(), "/")
	return path != "" && !strings.HasPrefix(path, "{{")
}

// fileTypes lists the extensions of files that apps load directly: feeds also link to images and streams, which need no
// endpoint.
var fileTypes = []string{
	".apng", ".avif", ".bmp", ".gif", ".ico", ".jpe", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp",
	".aac", ".flac", ".ism", ".m3u8", ".m4a", ".m4v", ".mkv", ".mov", ".mp3", ".mp4", ".mpd", ".oga", ".ogg", ".ogv", ".ts",
	".wav", ".webm", ".srt", ".ttml", ".vtt",
	".css", ".eot", ".htm", ".html", ".js", ".mjs", ".otf", ".pdf", ".ttf", ".woff", ".woff2", ".zip",
}

func (c *checker) checkLinks(context.Context) {
	before := len(c.results)
	c.addBadLinks()
	const hint = "correct the link, or what it leads to"
	for _, p := range c.followed {
		if !p.dead() || p.result.Cause == causeCanceled {
			continue
		}
		r := c.add(Failed, hint, "%s, does not work: %s", p.link.located(), p.result.Message)
		r.Endpoint, r.Cause, r.ContextKeys = p.link.from.target.URL, p.result.Cause, p.result.ContextKeys
		if p.answer.Status != http.StatusNotFound && p.answer.Status != http.StatusGone {
			r.Hint += "; " + p.result.Hint
		}
	}
	if len(c.results) > before {
		return
	}
	if c.answered == 0 {
		c.add(Passed, "", "the feeds have no links to registered hosts")
		return
	}
	r := c.add(Passed, "", "every link has an endpoint that answers for it: %s, %d followed",
		spell.Count(c.answered, "link"), len(c.followed))
	if len(c.links) > 0 {
		r.Cause, r.Message = causeNotFollowed, fmt.Sprintf("%s, %d not", r.Message, len(c.links))
	}
	if c.kept > cmp.Or(c.opts.limit, maxKept) {
		r.Message += "; further links were not checked, because there are too many"
	}
}

// addBadLinks adds a result for all links with the same problem, in the same endpoint, at pointers of one pattern.
func (c *checker) addBadLinks() {
	type kind struct {
		problem           *linkProblem
		endpoint, pattern string
	}
	var kinds []kind
	similar := make(map[kind][]*link)
	for _, l := range c.bad {
		k := kind{l.problem, l.from.target.URL, pattern(l.pointer)}
		if similar[k] == nil {
			kinds = append(kinds, k)
		}
		similar[k] = append(similar[k], l)
	}
	for _, k := range kinds[:min(maxLinkResults, len(kinds))] {
		c.addSimilarLinks(similar[k])
	}
	if more := len(kinds) - maxLinkResults; more > 0 {
		c.add(Failed, "correct the links, or declare endpoints for them",
			"%s of links that apps cannot call as they should", spell.Count(more, "more kind"))
	}
}

// addSimilarLinks adds the result for similar links. The first one is the example.
func (c *checker) addSimilarLinks(links []*link) {
	first := links[0]
	example := first.located()
	if len(links) > 1 {
		common := first.from.shown(pattern(first.pointer))
		example = fmt.Sprintf("%d links at %s, such as %s", len(links), common, first.describe())
	}
	r := c.add(first.problem.status, first.problem.hint, first.problem.message, example)
	r.Endpoint = first.from.target.URL
	near := c.nearEndpoint(first.url)
	switch {
	case first.problem != noEndpoint:
	case near == "":
		r.Cause = causeNoEndpoint
	case first.url.Scheme == "http" && strings.HasPrefix(near, "https:"):
		r.Hint = fmt.Sprintf("correct the link: it is plain http, and %q is not; if TLS ends in front of the service, ", near) +
			protoHint
	default:
		r.Hint = fmt.Sprintf("correct the link: its scheme, port or user info is not that of %q", near)
	}
}

// nearEndpoint returns the endpoint that differs from a link without an endpoint only in scheme, port or user info,
// which gives the mistake away, or "".
func (c *checker) nearEndpoint(u *url.URL) string {
	for _, t := range c.targets {
		path, _, _ := strings.Cut(t.url.Path(), "{{")
		differs := t.url.Scheme() != strings.ToLower(u.Scheme) || t.url.Port() != u.Port() || u.User != nil
		if differs && host.Equal(t.host, u.Host) && strings.HasPrefix(u.Path, path) {
			return t.URL
		}
	}
	return ""
}

// at returns the prefix for messages about a followed link.
func (p *probe) at() string {
	if p.link == nil {
		return ""
	}
	return "as " + p.link.describe() + ": "
}

// describe returns the URL of a link for a result.
func (l *link) describe() string { return l.from.quoteURL(l.text) }

// located returns the URL of a link and its location for a result.
func (l *link) located() string { return l.describe() + ", at " + l.from.shown(l.pointer) }

// A service may repeat what it gets in any part of its response. No result of a call with context values contains one
// of them: quoteURL and shown return what a result may quote.

// quoteURL returns a URL in a response, without a password, and without its query if there are context values: services
// repeat ctx in links.
func (p *probe) quoteURL(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		text = u.Redacted()
	}
	if len(p.sent) > 0 {
		text, _, _ = strings.Cut(text, "#")
		text, _, _ = strings.Cut(text, "?")
	}
	return fmt.Sprintf("%q", p.shown(text))
}

// shown returns text from a response, or that it repeats a context value, in any form that services send back.
func (p *probe) shown(text string) string {
	unescaped, err := url.PathUnescape(text)
	if err != nil {
		unescaped = text
	}
	all := strings.ToLower(text + " " + unescaped)
	for key, value := range p.sent {
		item := signpost.ContextItem{Key: key, Type: signpost.ContextCtx}
		ctx, _ := contextkeys.Encode([]signpost.ContextItem{item}, map[string]any{key: value})
		encoded, _ := json.Marshal(value) // what cannot be encoded is not sent
		tree, _ := decodeJSON(encoded)
		eachText(tree, "", func(secret, _ string) {
			raw := []byte(secret)
			for _, form := range []string{ctx, secret, url.QueryEscape(secret), pointerEscapes.Replace(secret),
				base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw)} {
				if len(secret) >= minSecret && form != "" && strings.Contains(all, strings.ToLower(form)) {
					text = "(hidden: it repeats a context value)"
				}
			}
		})
	}
	return text
}

// minSecret is the minimum length of context values that are searched for in results. Shorter ones, such as the number
// of a profile, are not secret and occur everywhere.
const minSecret = 4
