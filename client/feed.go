package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost"
	"signpost/internal/routes"
	"signpost/internal/spell"
)

const (
	maxViolations = 10 // of the schema that are reported for a feed; the rest are counted
	maxListed     = 3  // URLs that a result lists
)

// Violation is a reason why a feed is not valid against its JSON Schema.
type Violation struct {
	Pointer string // location, as a JSON pointer (RFC 6901)
	Message string // explanation; it may quote the feed
}

// readFeed extracts what the checks of feeds need from a response, which is JSON unless it is truncated.
func (c *checker) readFeed(p *probe) {
	answer := p.answer
	p.isFeed = true
	add := func(status Status, hint, format string, args ...any) {
		p.problems = append(p.problems,
			Result{Status: status, Endpoint: p.target.URL, Message: p.at() + fmt.Sprintf(format, args...), Hint: hint})
	}
	const utf8Hint = "send UTF-8, as JSON requires"
	_, params, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	charset, isUTF8 := strings.ToLower(params["charset"]), utf8.Valid(answer.Body)
	tree, _ := decodeJSON(answer.Body)
	object, isObject := tree.(map[string]any)
	_, _, isManifestPath := routes.Parse(p.req.URL.Path)
	switch {
	case answer.Truncated:
		add(Warned, "send it in pages", "the feed is larger than %d MiB, so it is not checked", maxFeed>>20)
	case !isUTF8 && charset != "" && charset != "utf-8":
		add(Failed, utf8Hint, "the body is in %s, as its Content-Type says: "+
			"apps that read JSON as UTF-8 show wrong characters", p.shown(charset))
	case !isUTF8:
		add(Failed, utf8Hint, "the body is not UTF-8 text")
	case !isObject:
		add(Failed, `send a JSON object, such as {"entry": []}`,
			"the body is JSON, but %s, not an object", jsonKind(bytes.TrimSpace(answer.Body)))
	case !isManifestPath && bytes.Equal(answer.Body, c.answer.Body):
		add(Failed, "make the proxy send only paths that end in /endpoints-manifest to what publishes the manifest",
			"the body is the manifest, not a feed")
	case isError(object):
		add(Failed, "send errors with a status of 400 or above: apps take this for a feed",
			"the body is an error message, not a feed")
		return // its links are not those of a feed
	case c.opts.FeedSchema != nil:
		const hint = "correct the feed, or the schema"
		violations := c.opts.FeedSchema(tree)
		for _, v := range violations[:min(maxViolations, len(violations))] {
			add(Failed, hint, "%s: %s", p.shown(cmp.Or(v.Pointer, "the feed")), p.shown(v.Message))
		}
		if more := len(violations) - maxViolations; more > 0 {
			add(Failed, hint, "%s of the schema", spell.Count(more, "more violation"))
		}
	}
	eachText(tree, "", func(text, pointer string) {
		if isLink(text, pointer) {
			c.addLink(p, text, pointer)
		}
	})
}

func (c *checker) checkFeeds(context.Context) {
	before := len(c.results)
	for _, p := range c.feeds {
		c.results = append(c.results, p.problems...)
	}
	if len(c.results) == before {
		shape := "a JSON object"
		if c.opts.FeedSchema != nil {
			shape = "valid against the schema"
		}
		c.add(Passed, "", "every feed is %s: %s", shape, spell.Count(len(c.feeds), "feed"))
	}
}

func (c *checker) checkFeedCORS(context.Context) {
	var none, several []*probe
	for _, p := range c.feeds {
		allowed := strings.Join(p.answer.Header.Values("Access-Control-Allow-Origin"), ", ")
		switch {
		case allowed == "*" || allowed == appOrigin:
		case strings.ContainsAny(allowed, ", "):
			several = append(several, p)
		default:
			none = append(none, p)
		}
	}
	all := len(c.feeds)
	if len(several) > 0 {
		c.add(Failed, doubledHint,
			"Access-Control-Allow-Origin has more than one value, which browsers reject, in %d of %s: %s",
			len(several), spell.Count(all, "feed"), describeEndpoints(several))
	}
	if len(none) > 0 {
		c.add(Warned, "send Access-Control-Allow-Origin: * "+
			"if any of your apps runs in a browser engine, as on many television sets",
			"pages of other origins cannot read %d of %s: %s",
			len(none), spell.Count(all, "feed"), describeEndpoints(none))
	}
	if len(several)+len(none) == 0 {
		c.add(Passed, "", "pages of every origin can read %s", spell.Count(all, "feed"))
	}
}

func (c *checker) checkFeedCache(context.Context) {
	personal := 0
	var shared []*probe
	for _, p := range c.feeds {
		isSent := func(item signpost.ContextItem) bool { return item.Required && p.sent[item.Key] != nil }
		if !slices.ContainsFunc(p.target.ContextObj, isSent) {
			continue
		}
		personal++
		directives := listed(p.answer.Header, "Cache-Control")
		if slices.Contains(directives, "public") || slices.Contains(directives, "s-maxage") {
			shared = append(shared, p)
		}
	}
	switch {
	case personal == 0:
		c.add(Skipped, "", "no feed was called with a required context key")
	case len(shared) > 0:
		c.add(Failed, "send Cache-Control: private, or no-store",
			"Cache-Control has public or s-maxage, so shared caches keep feeds that require a context key: %s",
			describeEndpoints(shared))
	default:
		c.add(Passed, "", "no feed that requires a context key is marked public or s-maxage")
	}
}

// listed returns the names in a header that is a list, without their values, in lower case.
func listed(h http.Header, header string) (names []string) {
	for item := range strings.SplitSeq(strings.Join(h.Values(header), ","), ",") {
		name, _, _ := strings.Cut(item, "=")
		names = append(names, strings.ToLower(strings.TrimSpace(name)))
	}
	return names
}

// describeEndpoints lists the endpoints of probes, without duplicates.
func describeEndpoints(probes []*probe) string {
	var urls []string
	for _, p := range probes {
		if !slices.Contains(urls, p.target.URL) {
			urls = append(urls, p.target.URL)
		}
	}
	return spell.First(urls, maxListed)
}
