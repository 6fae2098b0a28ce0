package client

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"signpost"
	"signpost/host"
	"signpost/match"
)

const (
	// DefaultFollow is the number of links to call: enough to reach the endpoints with placeholders of a typical
	// service, and to follow some pages.
	DefaultFollow = 20

	// maxKept limits the memory for the links of all feeds, in bytes.
	maxKept = 16 << 20
)

// crawl holds the responses of the endpoints, and where their links lead.
type crawl struct {
	own   map[string]signpost.Endpoint // by URL
	index *match.Index
	hosts map[string]bool // of the registered set
	roots map[string]bool // first path segments of the endpoints

	endpoints []*probe        // of the manifest, in order
	followed  []*probe        // links that were called
	links     []*link         // links to get endpoints of the manifest that were not called
	called    map[string]bool // the identities of the endpoints' own calls
	reached   map[string]bool // the URLs of endpoints that were called, by their own URL or through a link
	seen      map[string]bool // the identities of links that have been looked at

	answered int // number of links that have an endpoint
	bad      []*badLinks
	badByKey map[badKey]*badLinks

	done, total int // calls, for progress reports
	kept        int // bytes of links
}

// link is an http(s) URL, or the path of one, in a feed.
type link struct {
	text    string
	url     *url.URL
	pointer string // location, as a JSON pointer
	pattern string // the pointer with * for every index, to group similar links

	from     *probe // the feed that contains it
	endpoint string // URL of the endpoint that answers for it
}

func newCrawl(own signpost.Manifest, registered []signpost.Manifest) crawl {
	x := crawl{
		own: make(map[string]signpost.Endpoint), hosts: make(map[string]bool), roots: make(map[string]bool),
		called: make(map[string]bool), reached: make(map[string]bool), seen: make(map[string]bool), badByKey: make(map[badKey]*badLinks),
	}
	for _, e := range own.Endpoints {
		x.own[e.URL] = e
		if root := firstSegment(signpost.CutURL(e.URL).Path()); !strings.Contains(root, "{{") {
			x.roots[root] = root != ""
		}
	}
	var versions []signpost.Version
	for _, m := range append([]signpost.Manifest{own}, registered...) { // the own one first, so that it wins ties
		versions = append(versions, signpost.Version{Manifest: m})
		for _, e := range m.Endpoints {
			if name, err := host.Parse(signpost.CutURL(e.URL).Hostname()); err == nil {
				x.hosts[name] = true
			}
		}
	}
	x.index = match.NewIndex(versions...)
	return x
}

// takeLink adds a link to its feed if it leads to a registered host, or if no device can call it.
func (c *checker) takeLink(f *feed, text string, way []step) {
	u, err := url.Parse(text)
	if err != nil {
		return
	}
	name, err := host.Parse(u.Host)
	if (err != nil || !c.hosts[name]) && !c.isLocal(u) && !c.isRelative(u) {
		return
	}
	if c.kept += len(text) + 2*maxPointer; c.kept <= cmp.Or(c.opts.limit, maxKept) {
		l := link{text: text, url: u}
		l.pointer, l.pattern = pointer(way)
		f.links = append(f.links, l)
	}
}

// isLocal reports whether a link of a public service leads to one machine or network.
func (c *checker) isLocal(u *url.URL) bool {
	return u.Host != "" && host.IsLocal(u.Host) && !host.IsLocal(c.address.Host)
}

// isRelative reports whether a link lacks scheme and host: it begins like the path of an endpoint of this service.
func (c *checker) isRelative(u *url.URL) bool {
	return u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") && c.roots[firstSegment(u.Path)]
}

func firstSegment(path string) string {
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return segment
}

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

// feeds returns the calls that returned a feed.
func (x *crawl) feeds() []*probe {
	return slices.DeleteFunc(slices.Concat(x.endpoints, x.followed), func(p *probe) bool { return p.feed == nil })
}

// follow calls the links of feeds, level by level.
func (c *checker) follow(ctx context.Context, level []*probe) {
	budget := max(0, cmp.Or(c.opts.Follow, DefaultFollow))
	for ctx.Err() == nil {
		for _, p := range level {
			c.classifyLinks(p)
		}
		if level = c.nextLevel(ctx, budget); len(level) == 0 {
			return
		}
		budget -= len(level)
		c.call(level)
		c.followed = append(c.followed, level...)
	}
}

// classifyLinks examines the new links of a feed: which have an endpoint, and which can be called.
func (c *checker) classifyLinks(p *probe) {
	if p.feed == nil {
		return
	}
	for _, l := range p.feed.links {
		l.from = p
		key := identity(l.text)
		if c.seen[key] {
			continue
		}
		c.seen[key] = true
		match, ok := c.index.Match(l.text)
		switch {
		case c.isLocal(l.url):
			c.addBad(l, localLink)
		case isFile(l.url) && (!ok || c.isRelative(l.url)):
		case c.isRelative(l.url):
			c.addBad(l, relativeLink)
		case !ok:
			c.addBad(l, noEndpoint)
		default:
			c.answered++
			e, own := c.own[match.Endpoint]
			if own && e.Method == signpost.MethodGet && !strings.Contains(l.text, "{{") && !c.called[key] {
				l.endpoint = e.URL
				c.links = append(c.links, &l)
			}
		}
	}
	p.feed.links = nil
}

// nextLevel plans the calls of the links that have not been called: first one for each endpoint that has not been
// reached yet, then others.
func (c *checker) nextLevel(ctx context.Context, budget int) (level []*probe) {
	var first, others, left []*link
	for _, l := range c.links {
		if c.reached[l.endpoint] {
			others = append(others, l)
		} else {
			c.reached[l.endpoint] = true
			first = append(first, l)
		}
	}
	for _, l := range append(first, others...) {
		if len(level) < budget {
			if p := c.plan(ctx, c.own[l.endpoint], l); p.req != nil {
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

// probeResults returns the results of the endpoints, and of followed links whose response does not match their endpoint.
func (x *crawl) probeResults() (results []Result) {
	feeds := len(x.feeds()) > 0
	told := make(map[*probe]bool)
	for _, p := range x.endpoints {
		r := p.result
		notFound := p.status == http.StatusNotFound && !p.proxy
		needsLink := p.req == nil && r.Cause == causeMissingValues && len(r.Params) > 0
		if !notFound && !needsLink {
			results = append(results, r)
			continue
		}
		links := slices.DeleteFunc(slices.Clone(x.followed), func(f *probe) bool { return f.endpoint.URL != p.endpoint.URL })
		alive := slices.IndexFunc(links, func(f *probe) bool { return !f.dead() })
		waiting := func() bool {
			return slices.ContainsFunc(x.links, func(l *link) bool { return l.endpoint == p.endpoint.URL })
		}
		switch {
		case alive >= 0:
			reached := links[alive]
			told[reached] = true
			r = reached.result
			r.Message += fmt.Sprintf("; reached as %s, a link in %s", reached.link.describe(), reached.link.from.endpoint.URL)
			if notFound { // an endpoint is a prefix
				r.Message += "; its own URL is not a feed: 404 Not Found"
			}
		case notFound:
			r.Status, r.Cause, r.Message = Warned, causeNotFound, r.Message+", and no feed below it was reached"
			r.Hint += "; an endpoint is a prefix: if its own URL is not meant to be a feed, name one below it"
		case len(links) > 0:
			r.Message += ", and no link to it works"
		case waiting() && len(r.ContextKeys) > 0: // a link provides the rest
			r.Params, r.Message = nil, "it needs a value for "+strings.Join(r.ContextKeys, ", ")
			r.Hint = "give a value for " + strings.Join(r.ContextKeys, " and ")
		case waiting():
			r.Cause, r.Hint = causeNotFollowed, "follow more links, or "+r.Hint
			r.Message += ", and no link to it was followed"
		case feeds:
			r.Message += ", and no link leads to it"
		}
		results = append(results, r)
	}
	for _, p := range x.followed {
		if !p.dead() && !told[p] && p.result.Status != Passed {
			p.result.Message = p.at() + p.result.Message
			results = append(results, p.result)
		}
	}
	return results
}
