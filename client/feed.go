package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

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
	outline    outline
	cut        bool // the body was longer than the limit
	violations []Violation
	header     http.Header
}

// readFeed extracts what the checks of feeds need from a response.
func (c *checker) readFeed(answer *Answer) *feed {
	f := &feed{outline: readOutline(answer.Body, c.crawl.takes), cut: answer.Truncated, header: answer.Header}
	if c.opts.FeedSchema == nil || f.outline.kind != "an object" || f.outline.broken {
		return f
	}
	dec := json.NewDecoder(bytes.NewReader(answer.Body))
	dec.UseNumber()
	c.crawl.schema.Lock() // one at a time: a tree takes many times the memory of its text
	defer c.crawl.schema.Unlock()
	var tree any
	if dec.Decode(&tree) == nil {
		f.violations = c.opts.FeedSchema(tree)
	}
	return f
}

// skipFeeds adds a result if there are no feeds to check, and reports whether it did.
func (c *checker) skipFeeds(check string) bool {
	switch {
	case c.opts.SkipProbes:
		c.add(check, Skipped, "", "the endpoints are not called").Cause = causeNotCalled
	case len(c.crawl.feeds()) == 0:
		c.add(check, Skipped, "", "no endpoint returned a feed")
	default:
		return false
	}
	return true
}

// checkFeeds checks the shape of the responses.
func (c *checker) checkFeeds(context.Context) bool {
	if c.skipFeeds(feedCheck) {
		return true
	}
	before, judged, tooLarge := len(c.results), 0, 0
	for _, p := range c.crawl.feeds() {
		add := func(status Status, hint, format string, args ...any) {
			c.add(feedCheck, status, hint, "%s", p.at()+fmt.Sprintf(format, args...)).Endpoint = p.endpoint.URL
		}
		o := p.feed.outline
		switch {
		case p.feed.cut:
			tooLarge++
			add(Warned, "send it in pages", "the feed is larger than %d MiB, so it is not checked", maxFeed>>20)
		case o.broken: // reported by probe
		case o.kind != "an object":
			add(Failed, "send a JSON object, such as {\"entry\": []}", "the body is JSON, but %s, not an object", o.kind)
		case o.isError():
			add(Failed, "send errors with a status of 400 or above: apps take this for a feed", "the body is an error message, not a feed")
		case len(p.feed.violations) > 0:
			judged++
			for _, v := range p.feed.violations[:min(maxViolations, len(p.feed.violations))] {
				add(Failed, "correct the feed, or the schema", "%s", p.describeViolation(v))
			}
			if more := len(p.feed.violations) - maxViolations; more > 0 {
				add(Failed, "correct the feed, or the schema", "%s of the schema", spell.Count(more, "more violation"))
			}
		default:
			judged++
		}
	}
	switch {
	case len(c.results) > before:
	case c.opts.FeedSchema != nil:
		c.add(feedCheck, Passed, "", "%s, valid against the schema", spell.Count(judged, "feed"))
	case judged == 1:
		c.add(feedCheck, Passed, "", "1 feed, a JSON object")
	default:
		c.add(feedCheck, Passed, "", "%d feeds, each a JSON object", judged)
	}
	return true
}

// checkFeedCORS checks that apps in a browser engine can read the feeds.
func (c *checker) checkFeedCORS(context.Context) bool {
	if c.skipFeeds(feedCORSCheck) {
		return true
	}
	var none, several []*probe
	for _, p := range c.crawl.feeds() {
		allowed := strings.Join(p.feed.header.Values("Access-Control-Allow-Origin"), ", ")
		switch {
		case allowed == "*" || allowed == appOrigin:
		case strings.ContainsAny(allowed, ", "):
			several = append(several, p)
		default:
			none = append(none, p)
		}
	}
	all := len(c.crawl.feeds())
	if len(several) > 0 {
		c.add(feedCORSCheck, Failed, "make sure that the header is set by either the proxy or the service, not both",
			"Access-Control-Allow-Origin has more than one value, which browsers reject, in %d of %s: %s", len(several), spell.Count(all, "feed"), describeEndpoints(several))
	}
	if len(none) > 0 {
		c.add(feedCORSCheck, Warned, "send Access-Control-Allow-Origin: * if any of your apps runs in a browser engine, as on many television sets",
			"pages of other origins cannot read %d of %s: %s", len(none), spell.Count(all, "feed"), describeEndpoints(none))
	}
	if len(several)+len(none) == 0 {
		c.add(feedCORSCheck, Passed, "", "pages of every origin can read %s", spell.Count(all, "feed"))
	}
	return true
}

// checkFeedCache checks that shared caches do not store responses that required a context key.
func (c *checker) checkFeedCache(context.Context) bool {
	if c.skipFeeds(feedCacheCheck) {
		return true
	}
	personal := slices.DeleteFunc(c.crawl.feeds(), func(p *probe) bool { return !p.required })
	if len(personal) == 0 {
		c.add(feedCacheCheck, Skipped, "", "no feed was called with a required context key")
		return true
	}
	shared := slices.DeleteFunc(slices.Clone(personal), func(p *probe) bool { return !sharedCaching(p.feed.header) })
	if len(shared) > 0 {
		c.add(feedCacheCheck, Failed, "send Cache-Control: private, or no-store",
			"Cache-Control has public or s-maxage, so shared caches keep feeds that require a context key: %s", describeEndpoints(shared))
		return true
	}
	c.add(feedCacheCheck, Passed, "", "no feed that requires a context key is marked public or s-maxage")
	return true
}

// sharedCaching reports whether a response allows shared caches to store it.
func sharedCaching(h http.Header) bool {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(directive), "=")
		if name = strings.ToLower(strings.TrimSpace(name)); name == "public" || name == "s-maxage" {
			return true
		}
	}
	return false
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
