package client

import (
	"bytes"
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

// checkLinks reports links without an endpoint, and links that do not work.
func (c *checker) checkLinks(context.Context) bool {
	if c.skipFeeds(linksCheck) {
		return true
	}
	x := c.crawl
	before := len(c.results)
	for _, bad := range x.bad[:min(maxLinkResults, len(x.bad))] {
		c.addBadLinks(bad)
	}
	if more := len(x.bad) - maxLinkResults; more > 0 {
		c.add(linksCheck, Failed, "correct the links, or declare endpoints for them", "%s that apps cannot call as they should", spell.Count(more, "more kind")+" of links")
	}
	dead := slices.DeleteFunc(slices.Clone(x.followed), func(p *probe) bool { return !p.dead || p.result.Cause == causeCanceled })
	for _, p := range dead[:min(maxLinkResults, len(dead))] {
		hint := "correct the link, or what it leads to; " + p.result.Hint
		switch {
		case p.status == http.StatusNotFound || p.status == http.StatusGone:
			hint = "correct the link, or publish what it leads to"
		case p.status/100 == 3:
			hint = "link to the URL that it redirects to: clients do not send context keys after a redirect"
		}
		r := c.add(linksCheck, Failed, hint, "%s, at %s, does not work: %s", p.link.describe(), p.link.at(p.link.pointer), p.result.Message)
		r.Endpoint, r.Cause, r.ContextKeys = p.link.from.endpoint.URL, p.result.Cause, p.result.ContextKeys
	}
	if more := len(dead) - maxLinkResults; more > 0 {
		c.add(linksCheck, Failed, "correct the links, or what they lead to", "%s not work", spell.Count(more, "more link")+map[bool]string{true: " does", false: " do"}[more == 1])
	}
	if len(c.results) == before {
		r := c.add(linksCheck, Passed, "", "%s", x.describeLinks())
		if len(x.links) > 0 && x.stopped == "" {
			r.Cause = causeNotFollowed
		}
	}
	return true
}

// addBadLinks adds the result for links of one kind.
func (c *checker) addBadLinks(bad *badLinks) {
	where, it, them := fmt.Sprintf("%s, at %s,", bad.describe(), bad.at(bad.pointer)), "it", "is"
	if bad.count > 1 {
		where, it, them = fmt.Sprintf("%s at %s, such as %s,", spell.Count(bad.count, "link"), bad.at(bad.pattern), bad.describe()), "them", "are"
	}
	var r *Result
	switch bad.kind {
	case localLink:
		lead := map[bool]string{false: "leads", true: "lead"}[bad.count > 1]
		r = c.add(linksCheck, Warned, "make the service write links with the host that it is called by", "%s %s to a single machine or a private network: no device elsewhere can call %s", where, lead, it)
	case relativeLink:
		r = c.add(linksCheck, Warned, "write the whole URL, with scheme and host", "%s %s relative: apps cannot call %s", where, them, it)
	default:
		where = strings.TrimSuffix(where, ",")
		r = c.add(linksCheck, Failed, "declare an endpoint whose URL is a prefix of it, or correct the link", "no endpoint answers for %s: apps call %s without context keys", where, it)
		if hint := c.orphanHint(bad); hint != "" {
			r.Hint = hint
		} else {
			r.Cause = causeNoEndpoint
		}
	}
	r.Endpoint = bad.from.endpoint.URL
}

// describeLinks summarizes links that all have an endpoint.
func (x *crawl) describeLinks() string {
	if x.answered == 0 {
		return "the feeds have no links to registered hosts"
	}
	text := fmt.Sprintf("%s, each with an endpoint that answers for it", spell.Count(x.answered, "link"))
	if x.answered == 1 {
		text = "1 link, with an endpoint that answers for it"
	}
	text += fmt.Sprintf("; %d followed", len(x.followed))
	switch {
	case x.stopped != "":
		text += ", and no more, because " + x.stopped
	case len(x.links) > 0:
		text += fmt.Sprintf(", %d not", len(x.links))
	}
	if x.crowded {
		text += "; further links were not checked, because there are too many"
	}
	return text
}

// orphanHint returns a hint for a link without an endpoint, or "" if there is nothing special about it. An endpoint that
// differs only in scheme or port gives the mistake away.
func (c *checker) orphanHint(o *badLinks) string {
	u, err := url.Parse(o.url)
	if err != nil {
		return "correct the link"
	}
	for _, e := range c.manifest.Endpoints {
		v := signpost.CutURL(e.URL)
		if !host.Equal(v.Hostname(), u.Host) || !strings.HasPrefix(u.Path, literalPath(v)) {
			continue
		}
		switch {
		case v.Scheme() != strings.ToLower(u.Scheme):
			return fmt.Sprintf("correct the link: its scheme is %s, and that of %q is %s", strings.ToLower(u.Scheme), e.URL, v.Scheme())
		case v.Port() != u.Port():
			return fmt.Sprintf("correct the link: its port is %s, and that of %q is %s", portOrNone(u.Port()), e.URL, portOrNone(v.Port()))
		case u.User != nil:
			return "remove the user info before the host of the link"
		}
	}
	return ""
}

// literalPath returns the path of an endpoint up to its first placeholder.
func literalPath(u signpost.URL) string {
	text, _, _ := strings.Cut(u.Path(), "{{")
	return text
}

func portOrNone(port string) string {
	if port == "" {
		return "the default one"
	}
	return port
}

// fileTypes lists the extensions of files that apps load directly: feeds also link to images and streams, which need no
// endpoint.
var fileTypes = []string{
	".apng", ".avif", ".bmp", ".gif", ".ico", ".jpe", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp",
	".aac", ".flac", ".m4a", ".m4v", ".mkv", ".mov", ".mp3", ".mp4", ".mpd", ".m3u8", ".oga", ".ogg", ".ogv", ".ts", ".wav", ".webm", ".ism",
	".srt", ".vtt", ".ttml", ".css", ".eot", ".htm", ".html", ".js", ".mjs", ".otf", ".pdf", ".ttf", ".woff", ".woff2", ".zip",
}

// isFile reports whether the extension of a link is that of a file.
func isFile(link string) bool {
	u, err := url.Parse(link)
	return err == nil && slices.Contains(fileTypes, strings.ToLower(path.Ext(u.Path)))
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
		return fmt.Sprintf("%q", l.url)
	}
	u, err := url.Parse(l.url)
	if err != nil {
		return "a link"
	}
	short := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	if l.from.repeats(short.String()) || u.User != nil {
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
	texts := []string{strings.ToLower(text)}
	if unescaped, err := url.PathUnescape(text); err == nil {
		texts = append(texts, strings.ToLower(unescaped))
	}
	for key, value := range p.sent {
		ctx, _ := contextkeys.Encode([]signpost.ContextItem{{Key: key, Type: signpost.ContextCtx}}, map[string]any{key: value})
		var forms []string
		for _, secret := range secrets(value) {
			if len(secret) < minSecret {
				continue
			}
			forms = append(forms, ctx, secret, url.QueryEscape(secret), url.PathEscape(secret),
				base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)))
		}
		for _, form := range forms {
			for _, text := range texts {
				if form != "" && strings.Contains(text, strings.ToLower(form)) {
					return true
				}
			}
		}
	}
	return false
}

// secrets returns the text of a context value: of a JSON value, the strings and numbers in it.
func secrets(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case json.Number:
		return []string{value.String()}
	case json.RawMessage:
		dec := json.NewDecoder(bytes.NewReader(value))
		dec.UseNumber()
		var parsed any
		if err := dec.Decode(&parsed); err != nil { // Encode has rejected it, so it was not sent
			return nil
		}
		return secrets(parsed)
	case []any:
		var all []string
		for _, element := range value {
			all = append(all, secrets(element)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, field := range value {
			all = append(all, secrets(field)...)
		}
		return all
	}
	return nil
}
