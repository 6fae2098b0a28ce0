package usage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/routes"
	"signpost/match"
)

// Counter counts requests, on all cores. Its methods must not be called at the same time.
type Counter struct {
	services []signpost.Service
	declared map[[3]string]int // numbers of endpoints, by service, version and URL
	anywhere *match.Index      // of everything that is registered
	own      *match.Index      // the same, with the services' own URLs at standIn
	ownKnown bool              // there are such URLs
	words    map[string]bool   // segments of endpoints' paths
	byQuery  bool              // some URL has a query, which then helps to choose the endpoint
	texts    [256][256]bool    // first two bytes of the texts in URLs
	short    bool              // some text has one byte
	workers  []*worker
	logs     int
}

// standIn is where requests go if the log does not tell their host.
const standIn = "https://own.invalid"

// NewCounter returns a counter for services that are registered together. Others are registered besides: what they
// answer for is not counted by endpoint.
func NewCounter(services []signpost.Service, others ...signpost.Version) *Counter {
	c := &Counter{services: services, declared: make(map[[3]string]int), words: make(map[string]bool)}
	var all, own []signpost.Version
	for i, s := range services {
		for _, v := range s.Versions {
			v.Source = strconv.Itoa(i)
			all = append(all, v)
			v.Manifest = signpost.NewManifest(v.Manifest.Endpoints...)
			for j, e := range v.Manifest.Endpoints {
				if u := signpost.CutURL(e.URL); v.Hosts.Owns(u) {
					c.ownKnown = true
					v.Manifest.Endpoints[j].URL = standIn + u.Rest()
				}
			}
			own = append(own, v)
		}
	}
	all = append(all, others...)
	for _, v := range all {
		for _, e := range v.Manifest.Endpoints {
			u := signpost.CutURL(e.URL)
			c.byQuery = c.byQuery || u.Query() != ""
			for word := range strings.SplitSeq(u.Path(), "/") {
				c.words[word] = true
			}
			for _, text := range betweenValues.Split(u.Rest(), -1) {
				c.short = c.short || len(text) == 1
				if len(text) > 1 {
					c.texts[text[0]][text[1]] = true
				}
			}
		}
	}
	c.anywhere, c.own = match.NewIndex(all...), match.NewIndex(own...)
	for range runtime.GOMAXPROCS(0) {
		c.workers = append(c.workers, c.newWorker())
	}
	for i, e := range slices.Backward(c.workers[0].Endpoints) { // of equal ones, the first answers
		c.declared[e.id()] = i
	}
	return c
}

// Usage returns the counts so far.
func (c *Counter) Usage() *Usage {
	sum := c.newWorker()
	for _, w := range c.workers {
		sum.add(&w.Usage)
	}
	sum.limitNames()
	return &sum.Usage
}

// maxCached is how many feeds a worker remembers the endpoint of, and maxCachedLength how long they may be: 8 MB at
// most.
const maxCached, maxCachedLength = 1 << 15, 256

// worker counts on one core.
type worker struct {
	*Counter
	Usage
	newNames int // since there were maxNames at most
	lastTime []byte
	cache    map[string]int
	scratch  []byte
}

func (c *Counter) newWorker() *worker {
	none := Usage{
		Format: FileFormat, Unread: make(map[string]uint), Endpoints: []Endpoint{}, Unmatched: make(map[string]uint),
		First: make(map[string]Line),
	}
	for _, s := range c.services {
		for _, v := range s.Versions {
			for _, e := range v.Manifest.Endpoints {
				none.Endpoints = append(none.Endpoints, newEndpoint(s.BasePath, v.Name, e))
			}
		}
	}
	return &worker{Counter: c, Usage: none, cache: make(map[string]int)}
}

// line counts a request.
func (w *worker) line(line []byte, at Line) {
	if len(line) == 0 {
		return
	}
	r, reason := parse(line)
	if reason == "" {
		reason = w.request(r)
	}
	if reason != "" {
		w.unreadable(reason, line, at)
	}
}

// values matches everything in a line but its structure. Of a masked line, maxMasked bytes are looked at.
var values = regexp.MustCompile(`[^][{}":, ]+`)

const maxMasked = 256

func (w *worker) unreadable(reason string, line []byte, at Line) {
	w.Unread[reason]++
	if known, found := w.First[reason]; !found || at.before(known) {
		at.Masked = values.ReplaceAllString(string(line[:min(len(line), maxMasked)]), "…")
		w.First[reason] = at
	}
}

// What answers for a feed, besides the number of an endpoint.
const (
	nobody  = -1
	unclear = -2 // several services fit
)

// request counts a request, or returns the reason why it cannot.
func (w *worker) request(r request) (reason string) {
	if bytes.EqualFold(r.method, []byte("options")) {
		return ""
	}
	target, _, _ := bytes.Cut(r.target, []byte("#"))
	path, query, found := bytes.Cut(target, []byte("?"))
	if !found {
		query = bytes.TrimPrefix(r.query, []byte("?"))
	}
	if path[0] != '/' { // a URL
		_, path, _ = bytes.Cut(path, []byte("://"))
		end := bytes.IndexByte(path, '/')
		if end < 0 {
			end = len(path)
		}
		r.host, path = path[:end], path[end:]
	}
	if len(r.host) == 0 && !w.ownKnown {
		return noOwnHost
	}
	number := w.locate(r.host, path, query)
	switch {
	case number == unclear:
		return severalServices
	case number == nobody:
		if _, _, manifest := routes.Parse(string(path)); manifest {
			return "" // a studio fetched it
		}
		w.noEndpoint(path, 1)
	case number < len(w.Endpoints): // else it is registered besides
		w.count(&w.Endpoints[number], query, r.status)
	}
	w.Requests++
	prefix := r.time[:min(len(r.time), len("18/Nov/2026"))] // the day, or the second
	if !bytes.Equal(prefix, w.lastTime) {
		w.lastTime = append(w.lastTime[:0], prefix...)
		w.on(r.time)
	}
	return ""
}

// on widens the span of days.
func (w *worker) on(time []byte) {
	day, ok := dayOf(time)
	if !ok {
		return
	}
	if w.From == "" || day < w.From {
		w.From = day
	}
	w.To = max(w.To, day)
}

// betweenValues matches what separates the texts in a URL.
var betweenValues = regexp.MustCompile(`\{\{[^{}]*\}\}|[/?#]`)

// isValue reports whether a segment of a feed's path has none of the texts in URLs. Only a placeholder then matches it,
// and all of it, so that every other such segment gives the same endpoint.
func (c *Counter) isValue(segment []byte) bool {
	for i := 1; i < len(segment); i++ {
		if c.texts[segment[i-1]][segment[i]] {
			return false
		}
	}
	return len(segment) > 0 && !c.short
}

// slash separates the segments of a path.
var slash = []byte("/")

// locate returns the number of the endpoint that answers for a feed. It remembers those of feeds by their texts: with
// the values, most feeds of a log are new, and counting takes twice as long.
func (w *worker) locate(host, path, query []byte) int {
	feed := append(w.scratch[:0], host...)
	for segment := range bytes.SplitSeq(path, slash) {
		feed = append(feed, '/')
		if w.isValue(segment) {
			feed = append(feed, 0)
		} else {
			feed = append(feed, segment...)
		}
	}
	if w.byQuery {
		feed = append(append(feed, '?'), query...)
	}
	w.scratch = feed
	number, known := w.cache[string(feed)]
	if known {
		return number
	}
	rest := string(path)
	if w.byQuery {
		rest += "?" + string(query)
	}
	number = w.find(string(host), rest)
	if len(w.cache) == maxCached {
		clear(w.cache)
	}
	if len(feed) <= maxCachedLength {
		w.cache[string(feed)] = number
	}
	return number
}

// find asks package match. Logs do not tell reliably whether a client used https, because a proxy may have received it.
func (c *Counter) find(host, rest string) int {
	if host == "" {
		number := c.own.Find(standIn + rest)
		if number == nobody || len(c.services) == 1 {
			return number
		}
		m, _ := c.own.Match(standIn + rest)
		if slices.ContainsFunc(m.Shadowed, func(s match.Shadowed) bool { return s.Source != m.Source }) {
			return unclear
		}
		return number
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	number := c.anywhere.Find("https://" + host + rest)
	if number == nobody {
		number = c.anywhere.Find("http://" + host + rest)
	}
	return number
}

// maxSegments is how many segments of a path without an endpoint are told apart.
const maxSegments = 16

// noEndpoint counts requests for a path, with an ellipsis for every segment that no endpoint has.
func (w *worker) noEndpoint(path []byte, n uint) {
	masked, segments := w.scratch[:0], 0
	for segment := range bytes.SplitSeq(bytes.TrimPrefix(path, slash), slash) {
		segments++
		if segments > maxSegments || !w.words[string(segment)] {
			segment = []byte("…")
		}
		masked = append(append(masked, '/'), segment...)
		if segments > maxSegments {
			break
		}
	}
	w.scratch = masked
	w.addName(w.Unmatched, string(masked), n)
}

// count counts a request for an endpoint.
func (w *worker) count(e *Endpoint, query []byte, status int) {
	e.Requests++
	if status >= 400 {
		e.Errors++
	}
	var ctx []byte
	for len(query) > 0 {
		var pair []byte
		pair, query, _ = bytes.Cut(query, []byte("&"))
		name, value, found := bytes.Cut(pair, []byte("="))
		name = unescape(name)
		switch param := e.Params[string(name)]; {
		case param != nil:
			param.count(value, w.Requests+1)
		case string(name) == signpost.ContextCtx:
			ctx = value
		case len(pair) > 0 && !e.fixed[string(name)]:
			if !found {
				name = nil // perhaps a value
			}
			w.undeclared(e, name, 1)
		}
	}
	for _, key := range e.unsent {
		key.Unseen++
	}
	if len(e.sent) > 0 {
		e.countKeys(ctx, &w.scratch)
	}
}

// count counts the first value of a parameter in a request.
func (p *Param) count(value []byte, request uint) {
	if p.last == request {
		return
	}
	p.last = request
	p.Set++
	if p.Options == nil {
		return
	}
	value = unescape(value)
	if _, known := p.Options[string(value)]; known {
		p.Options[string(value)]++
	} else {
		p.Other++
	}
}

// undeclared counts a parameter that the endpoint does not declare.
func (w *worker) undeclared(e *Endpoint, name []byte, n uint) {
	if isName(name) {
		w.addName(e.Undeclared, string(name), n)
	} else {
		e.Undeclared[Others] += n
	}
}

// addName counts a name that may be made up.
func (w *worker) addName(counts map[string]uint, name string, n uint) {
	known := len(counts)
	counts[name] += n
	w.newNames += len(counts) - known
	if w.newNames > maxNewNames {
		w.newNames = 0
		w.limitNames()
	}
}

// isNothing reports whether clients send this because they have no value: see contextkeys.FromRequest.
func isNothing(text []byte) bool {
	return len(text) == 0 || string(text) == "undefined" || string(text) == "null"
}

// encoding is the one that the spec has for the ctx parameter.
var encoding = base64.RawURLEncoding.Strict()

// decode returns the text of a ctx parameter, which may be in buffer. What is encoded in another way takes a while
// longer.
func decode(ctx, buffer []byte) []byte {
	if text, err := encoding.AppendDecode(buffer[:0], ctx); err == nil && len(ctx) <= contextkeys.MaxCtx {
		return text
	}
	text, err := contextkeys.DecodeText(string(ctx))
	if err != nil {
		return nil
	}
	return text
}

// countKeys counts the keys in a ctx parameter. One that cannot be decoded has none.
func (e *Endpoint) countKeys(ctx []byte, buffer *[]byte) {
	*buffer = decode(ctx, *buffer)
	text := bytes.TrimSpace(*buffer)
	for i := range e.sent {
		e.sent[i].value = nil
	}
	members(text, func(name, value []byte) {
		for i := range e.sent {
			if e.sent[i].name == string(name) {
				e.sent[i].value = value
			}
		}
	})
	valid := json.Valid(text)
	for _, key := range e.sent {
		switch {
		case key.value != nil && valid && !isNothing(bytes.Trim(key.value, `"`)):
			key.Present++
		case key.value != nil && valid, len(ctx) > 0 && isNothing(ctx):
			key.Undefined++
		default:
			key.Missing++
		}
	}
}

// unescape decodes percent-encoding and plus signs. What is badly encoded stays as it is.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 && bytes.IndexByte(text, '+') < 0 {
		return text
	}
	decoded, err := url.QueryUnescape(string(text))
	if err != nil {
		return text
	}
	return []byte(decoded)
}

// add adds the counts of a usage file, as if its requests were in a log. Somebody else may have written it, so names
// are checked as in a log.
func (w *worker) add(u *Usage) {
	w.Requests += u.Requests
	w.on([]byte(u.From))
	w.on([]byte(u.To))
	for reason, n := range u.Unread {
		if !slices.Contains(reasons, reason) {
			reason = unknownFormat
		}
		w.Unread[reason] += n
	}
	for reason, line := range u.First {
		if known, found := w.First[reason]; !found || line.before(known) {
			w.First[reason] = line
		}
	}
	for path, n := range u.Unmatched {
		if strings.HasPrefix(path, "/") {
			w.noEndpoint([]byte(path), n)
		} else {
			w.Unmatched[Others] += n
		}
	}
	counted := make(map[[3]string]bool)
	for _, e := range u.Endpoints {
		number, known := w.declared[e.id()]
		switch {
		case known:
			counted[e.id()] = true
			w.Endpoints[number].add(e)
			for name, n := range e.Undeclared {
				w.undeclared(&w.Endpoints[number], []byte(name), n)
			}
		case e.Requests > 0:
			w.Unread[unknownEndpoint] += e.Requests
		}
	}
	for i := range w.Endpoints {
		e := &w.Endpoints[i]
		e.Partial = e.Partial || !counted[e.id()] && u.Requests > 0
	}
}
