package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"signpost"
	"signpost/internal/spell"
)

const (
	// maxViolations limits the number of reported schema violations per feed. The rest are counted.
	maxViolations = 10

	// maxListed limits how many URLs a result lists.
	maxListed = 3
)

// Violation is a place where a feed violates its JSON Schema.
type Violation struct {
	Pointer string // location, as a JSON pointer (RFC 6901)
	Keyword string // the keyword of the schema, such as "required"
	Message string // explanation; it may quote the feed
}

// feed summarizes the response of a JSON endpoint. The body itself is not kept.
type feed struct {
	kind       string // "an object", "an array", …; empty if it is not JSON
	isError    bool   // it is an error message
	cut        bool   // the body was longer than the limit
	violations []Violation
	links      []link // until they have been classified
	header     http.Header
}

// readFeed extracts what the checks of feeds need from a response.
func (c *checker) readFeed(answer *Answer) *feed {
	f := &feed{cut: answer.Truncated, header: answer.Header}
	body := bytes.Trim(answer.Body, jsonSpace)
	eachText(body, func(text string, way []step) {
		if isLink(text, way) {
			c.takeLink(f, text, way)
		}
	})
	if !json.Valid(body) {
		return f
	}
	if f.kind = jsonKind(body); f.kind != "an object" {
		return f
	}
	f.isError = isError(body)
	if c.opts.FeedSchema != nil {
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		var tree any
		if dec.Decode(&tree) == nil {
			f.violations = c.opts.FeedSchema(tree)
		}
	}
	return f
}

// checkFeeds checks the shape of the responses.
func (c *checker) checkFeeds(context.Context) {
	before, judged := len(c.results), 0
	for _, p := range c.feeds() {
		add := func(status Status, hint, format string, args ...any) {
			c.add(status, hint, "%s", p.at()+fmt.Sprintf(format, args...)).Endpoint = p.endpoint.URL
		}
		const schemaHint = "correct the feed, or the schema"
		f := p.feed
		switch {
		case f.cut:
			add(Warned, "send it in pages", "the feed is larger than %d MiB, so it is not checked", maxFeed>>20)
		case f.kind == "": // reported by probe
		case f.kind != "an object":
			add(Failed, "send a JSON object, such as {\"entry\": []}", "the body is JSON, but %s, not an object", f.kind)
		case f.isError:
			add(Failed, "send errors with a status of 400 or above: apps take this for a feed", "the body is an error message, not a feed")
		default:
			judged++
			for _, v := range f.violations[:min(maxViolations, len(f.violations))] {
				add(Failed, schemaHint, "%s", p.describeViolation(v))
			}
			if more := len(f.violations) - maxViolations; more > 0 {
				add(Failed, schemaHint, "%s of the schema", spell.Count(more, "more violation"))
			}
		}
	}
	switch {
	case len(c.results) > before:
	case c.opts.FeedSchema != nil:
		c.add(Passed, "", "%s, valid against the schema", spell.Count(judged, "feed"))
	case judged == 1:
		c.add(Passed, "", "1 feed, a JSON object")
	default:
		c.add(Passed, "", "%d feeds, each a JSON object", judged)
	}
}

// checkFeedCORS checks that apps in a browser engine can read the feeds.
func (c *checker) checkFeedCORS(context.Context) {
	var none, several []*probe
	for _, p := range c.feeds() {
		allowed := strings.Join(p.feed.header.Values("Access-Control-Allow-Origin"), ", ")
		switch {
		case allowed == "*" || allowed == appOrigin:
		case strings.ContainsAny(allowed, ", "):
			several = append(several, p)
		default:
			none = append(none, p)
		}
	}
	all := len(c.feeds())
	if len(several) > 0 {
		c.add(Failed, "make sure that the header is set by either the proxy or the service, not both",
			"Access-Control-Allow-Origin has more than one value, which browsers reject, in %d of %s: %s",
			len(several), spell.Count(all, "feed"), describeEndpoints(several))
	}
	if len(none) > 0 {
		c.add(Warned, "send Access-Control-Allow-Origin: * if any of your apps runs in a browser engine, as on many television sets",
			"pages of other origins cannot read %d of %s: %s", len(none), spell.Count(all, "feed"), describeEndpoints(none))
	}
	if len(several)+len(none) == 0 {
		c.add(Passed, "", "pages of every origin can read %s", spell.Count(all, "feed"))
	}
}

// checkFeedCache checks that shared caches do not store responses that required a context key.
func (c *checker) checkFeedCache(context.Context) {
	personal := slices.DeleteFunc(c.feeds(), func(p *probe) bool {
		return !slices.ContainsFunc(p.endpoint.ContextObj, func(i signpost.ContextItem) bool { return i.Required && p.sent[i.Key] != nil })
	})
	if len(personal) == 0 {
		c.add(Skipped, "", "no feed was called with a required context key")
		return
	}
	shared := slices.DeleteFunc(slices.Clone(personal), func(p *probe) bool { return !sharedCaching(p.feed.header) })
	if len(shared) > 0 {
		c.add(Failed, "send Cache-Control: private, or no-store",
			"Cache-Control has public or s-maxage, so shared caches keep feeds that require a context key: %s", describeEndpoints(shared))
		return
	}
	c.add(Passed, "", "no feed that requires a context key is marked public or s-maxage")
}

// sharedCaching reports whether a response allows shared caches to store it.
func sharedCaching(h http.Header) bool {
	directives := listed(h, "Cache-Control")
	return slices.Contains(directives, "public") || slices.Contains(directives, "s-maxage")
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
		if !slices.Contains(urls, p.endpoint.URL) {
			urls = append(urls, p.endpoint.URL)
		}
	}
	text := strings.Join(urls[:min(maxListed, len(urls))], ", ")
	if more := len(urls) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// describeViolation describes a violation for a result. The feed may repeat a context value.
func (p *probe) describeViolation(v Violation) string {
	pointer := v.Pointer
	if pointer == "" {
		pointer = "the feed"
	}
	if len(p.sent) == 0 {
		return fmt.Sprintf("%s: %s", pointer, v.Message)
	}
	if p.repeats(pointer) {
		pointer = "a place that repeats a context value"
	}
	return fmt.Sprintf("%s violates %q of the schema", pointer, v.Keyword)
}
