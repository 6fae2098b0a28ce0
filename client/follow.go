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
	"sync/atomic"
	"time"

	"signpost"
	"signpost/host"
	"signpost/match"
)

const (
	// DefaultFollow is the number of links to call: enough to reach the endpoints with placeholders of a typical
	// service, and to follow some pages.
	DefaultFollow = 20

	// maxFollowBytes limits the total number of bytes read. Beyond it, no further link is called.
	maxFollowBytes = 64 << 20

	// maxFollowTime limits how long links are followed. Calls in progress are completed.
	maxFollowTime = 2 * time.Minute

	// maxKept limits the memory for the links of all feeds, in bytes.
	maxKept = 16 << 20
)

// limits of a check. Tests use lower ones.
type limits struct {
	bytes  int64
	time   time.Duration
	probes int
}

// crawl holds the responses of the endpoints, and where their links lead.
type crawl struct {
	own   map[string]signpost.Endpoint // by URL
	index *match.Index
	hosts map[string]bool // of the registered set
	roots map[string]bool // first path segments of the endpoints

	public bool // devices elsewhere can reach the service

	endpoints []*probe // of the manifest, in order
	followed  []*probe // links that were called
	links     []*link  // links to get endpoints of the manifest that were not called
	visited   map[string]bool
	seen      map[string]bool // links that have been looked at
	stopped   string          // why not all links were followed
	crowded   bool            // feeds have more links than the limit

	answered  int // number of links that have an endpoint
	bad       []*badLinks
	badByKind map[[3]string]*badLinks // by endpoint URL, pattern and kind

	called, total int // for progress reports
	bytes, kept   atomic.Int64
	schema        sync.Mutex
}

// Kinds of links that apps cannot call, or not with context keys.
const (
	noEndpoint   = "no-endpoint"
	localLink    = "local"
	relativeLink = "relative"
)

// badLinks are links of one kind at similar places. The first one is the example.
type badLinks struct {
	link
	kind  string
	count int
}

func newCrawl(own signpost.Manifest, registered []signpost.Manifest, public bool) *crawl {
	x := &crawl{
		own: make(map[string]signpost.Endpoint), hosts: make(map[string]bool), roots: make(map[string]bool), public: public,
		visited: make(map[string]bool), seen: make(map[string]bool), badByKind: make(map[[3]string]*badLinks),
	}
	versions := []signpost.Version{{Manifest: own}} // first, so that it wins ties
	for _, e := range own.Endpoints {
		x.own[e.URL] = e
		if root := firstSegment(signpost.CutURL(e.URL).Path()); !strings.Contains(root, "{{") {
			x.roots[root] = root != ""
		}
	}
	for _, m := range registered {
		versions = append(versions, signpost.Version{Manifest: m})
	}
	for _, v := range versions {
		for _, e := range v.Manifest.Endpoints {
			if name, err := host.Parse(signpost.CutURL(e.URL).Hostname()); err == nil {
				x.hosts[name] = true
			}
		}
	}
	x.index = match.NewIndex(versions...)
	return x
}

// owner names the endpoint that answers for the feed of a call, if it is another one: an app would call that one instead,
// with its context keys. It returns "" if it is this one, or if the call has no feed URL.
func (x *crawl) owner(e signpost.Endpoint, call Call) string {
	feed, err := feedURL(e, call)
	if err != nil || len(call.Params) == 0 && call.Feed == "" {
		return ""
	}
	match, ok := x.index.Match(feed)
	switch {
	case !ok:
		return "no endpoint"
	case match.Endpoint != e.URL:
		return fmt.Sprintf("%q", match.Name)
	}
	return ""
}

// takes reports whether to take a link of a feed, for which there must be room: one to a registered host, or one that no
// device can call.
func (x *crawl) takes(link string) bool {
	u, err := url.Parse(link)
	if err != nil {
		return false
	}
	name, err := host.Parse(u.Host)
	wanted := err == nil && x.hosts[name] || x.isLocal(u) || x.isRelative(u)
	return wanted && x.kept.Add(int64(len(link)+2*maxPointer)) <= maxKept
}

// isLocal reports whether a link of a public service leads to one machine or network.
func (x *crawl) isLocal(u *url.URL) bool { return x.public && u.Host != "" && host.IsLocal(u.Host) }

// isRelative reports whether text is the path of a feed: it begins like the path of an endpoint of this service.
func (x *crawl) isRelative(u *url.URL) bool {
	return u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") && x.roots[firstSegment(u.Path)]
}

// firstSegment returns a path up to its second slash.
func firstSegment(path string) string {
	segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return segment
}

// visit records that a URL is called. A different ctx does not make it a different URL.
func (x *crawl) visit(p *probe) {
	if p.link != nil {
		x.visited[identity(p.link.url)] = true
		return
	}
	x.visited[identity(p.url)] = true
	if len(signpost.CutURL(p.endpoint.URL).Placeholders()) == 0 { // the same feed without its modifiers
		x.visited[identity(p.endpoint.URL)] = true
	}
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

// follow calls the links of feeds, level by level, within the limits.
func (c *checker) follow(ctx context.Context, level []*probe) {
	x := c.crawl
	budget := max(0, cmp.Or(c.opts.Follow, DefaultFollow))
	deadline := time.Now().Add(c.limits.time)
	for {
		for _, p := range level {
			x.classifyLinks(p)
		}
		x.links = x.unreachedFirst()
		level = nil
		var left []*link
		for _, l := range x.links {
			if x.visited[identity(l.url)] {
				continue
			}
			if len(level) < budget && !l.unable {
				if p := c.plan(ctx, x.own[l.endpoint], l); p.req != nil {
					x.visit(p)
					level = append(level, p)
					continue
				}
				l.unable = true
			}
			left = append(left, l)
		}
		x.links = left
		switch {
		case len(level) == 0:
			return
		case ctx.Err() != nil:
			x.stopped = "the check was canceled"
		case time.Now().After(deadline):
			x.stopped = fmt.Sprintf("it took more than %v", c.limits.time)
		case x.bytes.Load() > c.limits.bytes:
			x.stopped = fmt.Sprintf("the feeds have more than %d MiB", c.limits.bytes>>20)
		}
		if x.stopped != "" {
			return
		}
		budget -= len(level)
		c.call(level)
		x.followed = append(x.followed, level...)
	}
}

// classifyLinks examines the new links of a feed: which have an endpoint, and which can be called.
func (x *crawl) classifyLinks(p *probe) {
	if p.feed == nil {
		return
	}
	for _, l := range p.feed.outline.links {
		l.from = p
		key := identity(l.url)
		if x.seen[key] {
			continue
		}
		x.seen[key] = true
		match, ok := x.index.Match(l.url)
		u, _ := url.Parse(l.url) // takes has parsed it
		switch {
		case x.isLocal(u):
			x.addBad(l, localLink)
		case isFile(l.url) && (!ok || x.isRelative(u)):
		case x.isRelative(u):
			x.addBad(l, relativeLink)
		case !ok:
			x.addBad(l, noEndpoint)
		default:
			x.answered++
			e, own := x.own[match.Endpoint]
			if own && e.Method == signpost.MethodGet && !strings.Contains(l.url, "{{") {
				l.endpoint = e.URL
				x.links = append(x.links, &l)
			}
		}
	}
	x.crowded = x.crowded || p.feed.outline.more || x.kept.Load() > maxKept
	p.feed.outline.links = nil
}

func (x *crawl) addBad(l link, kind string) {
	key := [3]string{l.from.endpoint.URL, l.pattern, kind}
	if x.badByKind[key] == nil {
		x.badByKind[key] = &badLinks{link: l, kind: kind}
		x.bad = append(x.bad, x.badByKind[key])
	}
	x.badByKind[key].count++
}

// unreachedFirst returns the links in calling order: first one for each endpoint that has not been reached yet, then
// the rest.
func (x *crawl) unreachedFirst() []*link {
	reached := make(map[string]bool)
	for _, p := range slices.Concat(x.endpoints, x.followed) {
		reached[p.endpoint.URL] = reached[p.endpoint.URL] || p.req != nil
	}
	var first, others []*link
	for _, l := range x.links {
		if reached[l.endpoint] {
			others = append(others, l)
			continue
		}
		reached[l.endpoint] = true
		first = append(first, l)
	}
	return append(first, others...)
}

// call sends requests concurrently, up to the limit, and evaluates the responses.
func (c *checker) call(calls []*probe) {
	progress := c.opts.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	x := c.crawl
	x.total += len(calls)
	progress(x.called, x.total)
	var (
		queue = make(chan *probe)
		mu    sync.Mutex
		wg    sync.WaitGroup
	)
	for range min(max(1, cmp.Or(c.opts.Concurrency, DefaultConcurrency)), len(calls)) {
		wg.Go(func() {
			for p := range queue {
				res, body, err := exchange(p.req, c.opts.Options, maxFeed)
				var answer *Answer
				if err == nil {
					answer = newAnswer(res, body, maxFeed)
				}
				x.bytes.Add(int64(len(body)))
				c.judge(p, answer, err)
				mu.Lock()
				x.called++
				progress(x.called, x.total)
				mu.Unlock()
			}
		})
	}
	for _, p := range calls {
		queue <- p
	}
	close(queue)
	wg.Wait()
}

// results returns the results of the endpoints, and of followed links whose response does not match their endpoint.
func (x *crawl) results() []Result {
	alive, dead, waiting := make(map[string]*probe), make(map[string]bool), make(map[string]int) // by endpoint URL
	for _, p := range x.followed {
		if p.dead {
			dead[p.endpoint.URL] = true
		} else if alive[p.endpoint.URL] == nil {
			alive[p.endpoint.URL] = p
		}
	}
	for _, l := range x.links {
		waiting[l.endpoint]++
	}
	feeds := len(x.feeds()) > 0
	var results []Result
	told := make(map[*probe]bool)
	for _, p := range x.endpoints {
		r, url := p.result, p.endpoint.URL
		reached := alive[url]
		switch {
		case p.status == http.StatusNotFound && !p.proxy && reached != nil: // an endpoint is a prefix
			told[reached] = true
			r = reached.result
			r.Message = fmt.Sprintf("%s; reached as %s, a link in %s; its own URL is not a feed: 404 Not Found", r.Message, reached.link.describe(), reached.link.from.endpoint.URL)
		case p.status == http.StatusNotFound && !p.proxy:
			r.Status, r.Cause, r.Message = Warned, causeNotFound, r.Message+", and no feed below it was reached"
			r.Hint += "; an endpoint is a prefix: if its own URL is not meant to be a feed, name one below it"
		case p.req != nil || r.Cause != causeMissingValues || len(r.Params) == 0: // needs no link
		case reached != nil:
			told[reached] = true
			r = reached.result
			r.Message = fmt.Sprintf("%s; reached as %s, a link in %s", r.Message, reached.link.describe(), reached.link.from.endpoint.URL)
		case dead[url]:
			r.Message += ", and no link to it works"
		case waiting[url] > 0 && len(r.ContextKeys) > 0: // a link provides the rest
			r.Params, r.Message = nil, "it needs a value for "+strings.Join(r.ContextKeys, ", ")
			r.Hint = "give a value for " + strings.Join(r.ContextKeys, " and ")
		case waiting[url] > 0:
			r.Cause, r.Hint = causeNotFollowed, "follow more links, or "+r.Hint
			r.Message += ", and no link to it was followed"
		case feeds:
			r.Message += ", and no link leads to it"
		}
		results = append(results, r)
	}
	for _, p := range x.followed {
		if !p.dead && !told[p] && p.result.Status != Passed {
			p.result.Message = p.at() + p.result.Message
			results = append(results, p.result)
		}
	}
	return results
}
