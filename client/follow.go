package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"signpost"
)

const (
	// DefaultFollow is the number of links to call: enough to reach the endpoints with placeholders of a typical
	// service, and to follow some pages.
	DefaultFollow = 20

	// maxKept limits the memory for the links of all feeds, in bytes.
	maxKept = 16 << 20

	// maxCalls is the number of concurrent requests: enough that a slow endpoint does not hold up the others, and few
	// enough for a small service.
	maxCalls = 8
)

// identity normalizes a URL so that it is called only once: without ctx and fragment.
func identity(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	pairs := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name == signpost.ContextCtx || pair == ""
	})
	u.Scheme, u.Host, u.Fragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), ""
	u.RawQuery, u.ForceQuery = strings.Join(pairs, "&"), false
	return u.String()
}

// follow calls the links of feeds, level by level.
func (c *checker) follow(ctx context.Context, level []*probe) {
	budget := max(0, cmp.Or(c.opts.Follow, DefaultFollow))
	for ctx.Err() == nil {
		for _, p := range level {
			c.sortLinks(p)
		}
		level = c.nextLevel(ctx, budget)
		if len(level) == 0 {
			return
		}
		budget -= len(level)
		c.call(level)
		c.followed = append(c.followed, level...)
	}
}

// sortLinks sorts the new links of a response into those with a problem and those that can be called.
func (c *checker) sortLinks(p *probe) {
	for _, l := range p.links {
		key := identity(l.text)
		if c.seen[key] {
			continue
		}
		c.seen[key] = true
		if l.problem != nil {
			c.bad = append(c.bad, l)
			continue
		}
		c.answered++
		if l.target != nil && !c.called[key] {
			c.links = append(c.links, l)
		}
	}
	p.links = nil
}

// nextLevel plans the calls of the links that have not been called: first one for each endpoint that has not been
// reached yet, then others.
func (c *checker) nextLevel(ctx context.Context, budget int) (level []*probe) {
	var first, others, left []*link
	for _, l := range c.links {
		if l.target.reached {
			others = append(others, l)
		} else {
			l.target.reached = true
			first = append(first, l)
		}
	}
	for _, l := range append(first, others...) {
		if len(level) < budget {
			if p := c.plan(ctx, l.target, l); p.req != nil {
				level = append(level, p)
				continue
			}
		}
		left = append(left, l)
	}
	c.links = left
	return level
}

// call sends requests concurrently, up to the limit, and judges each response as it arrives.
func (c *checker) call(calls []*probe) {
	progress := c.opts.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	c.total += len(calls)
	progress(c.done, c.total)
	var arrived sync.Mutex
	var group errgroup.Group
	group.SetLimit(maxCalls)
	for _, p := range calls {
		group.Go(func() error {
			answer, err := exchange(p.req, c.opts.Options, maxFeed)
			arrived.Lock()
			defer arrived.Unlock()
			c.judge(p, answer, err)
			c.done++
			progress(c.done, c.total)
			return nil
		})
	}
	group.Wait()
}

// probeResults returns the results of the endpoints, and of followed links whose response does not match their
// endpoint.
func (c *checker) probeResults() (results []Result) {
	told := make(map[*probe]bool)
	for _, p := range c.endpoints {
		r := p.result
		notFound := p.answer.Status == http.StatusNotFound && p.answer.signpost == nil && !p.named
		needsLink := p.req == nil && r.Cause == causeMissingValues && len(r.Params) > 0
		if !notFound && !needsLink {
			results = append(results, r)
			continue
		}
		links := slices.DeleteFunc(slices.Clone(c.followed), func(f *probe) bool { return f.target != p.target })
		alive := slices.IndexFunc(links, func(f *probe) bool { return !f.dead() })
		waiting := slices.ContainsFunc(c.links, func(l *link) bool { return l.target == p.target })
		switch {
		case alive >= 0:
			reached := links[alive]
			told[reached] = true
			r = reached.result
			r.Message += "; reached as " + reached.link.describe() + ", a link in " + reached.link.from.target.URL
			if notFound { // an endpoint is a prefix
				r.Message += "; its own URL is not a feed: 404 Not Found"
			}
		case notFound:
			r.Status, r.Message = Warned, r.Message+", and no feed below it was reached"
			if r.Cause != causeBasePath {
				r.Cause = causeNotFound
				r.Hint += "; an endpoint is a prefix: if its own URL is not meant to be a feed, name one below it"
			}
		case len(links) > 0:
			r.Message += ", and no link to it works"
		case waiting && len(r.ContextKeys) > 0: // a link provides the rest
			r.Params, r.Message = nil, "it needs a value for "+strings.Join(r.ContextKeys, ", ")
			r.Hint = "give a value for " + strings.Join(r.ContextKeys, " and ")
		case waiting:
			r.Cause, r.Hint = causeNotFollowed, "follow more links, or "+r.Hint
			r.Message += ", and no link to it was followed"
		case len(c.feeds) > 0:
			r.Message += ", and no link leads to it"
		}
		results = append(results, r)
	}
	for _, p := range c.followed {
		if !p.dead() && !told[p] && p.result.Status != Passed {
			p.result.Message = p.at() + p.result.Message
			results = append(results, p.result)
		}
	}
	return results
}
