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
	"signpost/diff"
	"signpost/internal/routes"
	"signpost/match"
)

// Counter counts requests, on all cores. Its methods must not be called at the same time.
type Counter struct {
	services []signpost.Service
	changes  []diff.Change
	anywhere *match.Index      // of everything that is registered
	own      *match.Index      // the same, with the services' own URLs at standIn
	ownKnown bool              // there are such URLs
	numbers  map[[3]string]int // of the services' endpoints; of equal ones, the first answers
	workers  []*worker
	logs     int

	words  map[string]bool // segments of endpoints' paths
	begins [256]bool       // bytes that they begin with
	exact  bool            // some have a query: it helps to choose the endpoint
}

// standIn is where requests go if the log does not tell their host.
const standIn = "https://own.invalid"

// NewCounter returns a counter for services that are registered together. Others are registered besides: what they
// answer for is not counted by endpoint. Of changes that add a required key, requests that lack it are to be counted,
// so that the services count as having the key already.
func NewCounter(services []signpost.Service, others []signpost.Version, changes ...diff.Change) *Counter {
	c := &Counter{services: services, changes: changes, words: make(map[string]bool)}
	var all, own []signpost.Version
	for i, s := range services {
		for _, v := range s.Versions {
			v.Source = strconv.Itoa(i)
			all = append(all, v)
			v.Manifest = signpost.NewManifest(v.Manifest.Endpoints...)
			for j, e := range v.Manifest.Endpoints {
				u := signpost.CutURL(e.URL)
				if v.Hosts.Owns(u) {
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
			c.learn(signpost.CutURL(e.URL))
		}
	}
	c.anywhere, c.own = match.NewIndex(all...), match.NewIndex(own...)
	c.numbers = make(map[[3]string]int)
	for number, e := range slices.Backward(c.none().Endpoints) {
		c.numbers[e.id()] = number
	}
	for range runtime.GOMAXPROCS(0) {
		w := &worker{Counter: c, Usage: c.none(), files: c.none(), cache: make(map[string]int)}
		c.workers = append(c.workers, w)
	}
	return c
}

// learn notes what the URL of an endpoint consists of.
func (c *Counter) learn(u signpost.URL) {
	c.exact = c.exact || u.Query() != ""
	for word := range strings.SplitSeq(u.Path(), "/") {
		c.words[word] = true
		if word != "" {
			c.begins[word[0]] = true
		}
		_, after, isPlaceholder := strings.Cut(word, "}}")
		if isPlaceholder && strings.HasPrefix(word, "{{") && after != "" {
			for i := range c.begins {
				c.begins[i] = true // {{id}}.json begins like anything
			}
		}
	}
}

// none returns counts without requests.
func (c *Counter) none() *Usage {
	none := &Usage{
		Format: FileFormat, Unread: make(map[string]uint), Endpoints: []Endpoint{}, Unmatched: make(Names),
		First: make(map[string]Line),
	}
	for _, s := range c.services {
		for _, v := range s.Versions {
			for _, e := range v.Manifest.Endpoints {
				counts := newEndpoint(s.BasePath, v.Name, e)
				for _, change := range c.changes {
					item, isKey := change.New.(signpost.ContextItem)
					isNew := change.Rule == diff.ChangeContextRequired && change.Old == nil
					if isKey && isNew && counts.isConcerned(&change) {
						counts.declare(item)
					}
				}
				none.Endpoints = append(none.Endpoints, counts)
			}
		}
	}
	return none
}

// Usage returns the counts so far.
func (c *Counter) Usage() *Usage {
	sum := c.none()
	for _, w := range c.workers {
		c.add(sum, w.Usage)
		c.add(sum, w.files)
	}
	sum.Endpoints = slices.DeleteFunc(sum.Endpoints, func(e Endpoint) bool { return e.uncounted })
	for _, e := range sum.Endpoints {
		e.Undeclared.limit()
	}
	sum.Unmatched.limit()
	return sum
}

// add adds the counts of a usage file, as if its requests were in a log. Somebody else may have written it, so names
// are checked as in a log.
func (c *Counter) add(sum, more *Usage) {
	sum.Requests += more.Requests
	sum.on([]byte(more.From))
	sum.on([]byte(more.To))
	sum.LeftOut = sum.LeftOut || more.LeftOut
	for reason, n := range more.Unread {
		if !slices.Contains(reasons, reason) {
			reason = unknownFormat
		}
		sum.Unread[reason] += n
	}
	for reason, line := range more.First {
		if sum.isFirst(reason, line) {
			sum.First[reason] = line
		}
	}
	for path, n := range more.Unmatched {
		if strings.HasPrefix(path, "/") {
			path = c.masked([]byte(path))
		} else {
			path = Others
		}
		sum.Unmatched.add(path, n)
	}
	counted := make(map[int]bool)
	for _, e := range more.Endpoints {
		number, known := c.numbers[e.id()]
		switch {
		case !known && e.Requests > 0:
			sum.Unread[unknownEndpoint] += e.Requests
		case known && !e.uncounted:
			counted[number] = true
			complete := sum.Endpoints[number].add(e)
			sum.LeftOut = sum.LeftOut || !complete
		}
	}
	for i := range sum.Endpoints {
		e := &sum.Endpoints[i]
		if more.Requests > 0 && !counted[c.numbers[e.id()]] {
			e.uncounted = true
			sum.LeftOut = true
		}
	}
}

// worker counts on one core: requests, and apart from them what usage files have.
type worker struct {
	*Counter
	*Usage
	files    *Usage
	lastTime []byte
	cache    map[string]int
	scratch  []byte
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
	if w.isFirst(reason, at) {
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
	if len(r.host) == 0 && !w.ownKnown {
		return noOwnHost
	}
	number := w.locate(r)
	switch {
	case number == unclear:
		return severalServices
	case number == nobody:
		if _, _, manifest := routes.Parse(string(r.path)); manifest {
			return "" // a studio fetched it
		}
		w.Unmatched.add(w.masked(r.path), 1)
	case number < len(w.Endpoints): // else it is registered besides
		w.Endpoints[number].count(r, w.Requests+1)
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
func (u *Usage) on(time []byte) {
	day, ok := dayOf(time)
	if !ok {
		return
	}
	if u.From == "" || day < u.From {
		u.From = day
	}
	u.To = max(u.To, day)
}

// maxCached is how many shapes of feeds a worker remembers the endpoint of, and maxShape how long they may be: 2 MB at
// most.
const maxCached, maxShape = 1 << 13, 256

// locate returns the number of the endpoint that answers for a request. It remembers it for all feeds that differ only
// in segments that no endpoint's segment begins like, which placeholders alone can match: counting would take twice as
// long otherwise (BenchmarkCount).
func (w *worker) locate(r request) int {
	if w.exact {
		return w.find(r)
	}
	shape := append(w.scratch[:0], r.host...)
	for segment := range bytes.SplitSeq(r.path, slash) {
		shape = append(shape, '/')
		if len(segment) > 0 && !w.begins[segment[0]] {
			shape = append(shape, 0)
		} else {
			shape = append(shape, segment...)
		}
	}
	w.scratch = shape
	number, known := w.cache[string(shape)]
	if known {
		return number
	}
	number = w.find(r)
	if len(w.cache) == maxCached {
		clear(w.cache)
	}
	if len(shape) <= maxShape {
		w.cache[string(shape)] = number
	}
	return number
}

// find asks package match. Logs do not tell reliably whether a client used https, because a proxy may have received it.
func (c *Counter) find(r request) int {
	host, rest := string(r.host), string(r.path)+"?"+string(r.query)
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

// masked returns a path with an ellipsis for every segment that no endpoint has.
func (c *Counter) masked(path []byte) string {
	var masked strings.Builder
	for i, segment := range bytes.SplitN(bytes.TrimPrefix(path, slash), slash, maxSegments+1) {
		masked.WriteByte('/')
		if i < maxSegments && c.words[string(segment)] {
			masked.Write(segment)
		} else {
			masked.WriteString("…")
		}
	}
	return masked.String()
}

// count counts a request with a number that no other request has.
func (e *Endpoint) count(r request, number uint) {
	e.Requests++
	if r.status >= 400 {
		e.Errors++
	}
	var ctx []byte
	for pair := range bytes.SplitSeq(r.query, []byte("&")) {
		name, value, found := bytes.Cut(pair, []byte("="))
		name = unescape(name)
		switch param := e.Params[string(name)]; {
		case param != nil:
			param.count(value, number)
		case string(name) == signpost.ContextCtx:
			if ctx == nil {
				ctx = value
			}
		case len(pair) == 0 || e.fixed[string(name)]:
		case found:
			e.undeclared(name, 1)
		default: // perhaps a value
			e.undeclared(nil, 1)
		}
	}
	e.countKeys(ctx)
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
func (e *Endpoint) undeclared(name []byte, n uint) {
	if isName(name) {
		e.Undeclared.add(string(name), n)
	} else {
		e.Undeclared.add(Others, n)
	}
}

// sentKey is a context key and how it is sent.
type sentKey struct {
	*Key
	inURL bool   // in the ctx parameter
	name  string // there
	value []byte // in the request that is counted, as written; nil if it has none
}

// countKeys counts the keys in a ctx parameter. One that cannot be decoded has none.
func (e *Endpoint) countKeys(ctx []byte) {
	text := bytes.TrimSpace(e.decode(ctx))
	nothing := len(text) > 0 && isNothing(text)
	for _, key := range e.keys {
		key.value = nil
	}
	if json.Valid(text) {
		members(text, func(name, value []byte) {
			name = unquote(name)
			for _, key := range e.keys {
				if key.name == string(name) {
					key.value = value
				}
			}
		})
	}
	for _, key := range e.keys {
		switch {
		case !key.inURL:
			key.Unseen++
		case nothing, key.value != nil && isNothing(unquote(key.value)):
			key.Undefined++
		case key.value != nil:
			key.Present++
		default:
			key.Missing++
		}
	}
}

// encoding is the one that the spec has for the ctx parameter.
var encoding = base64.RawURLEncoding.Strict()

// decode returns the text of a ctx parameter, valid until the next call. What is encoded in another way takes longer:
// if everything were, counting would take a seventh longer (BenchmarkCount).
func (e *Endpoint) decode(ctx []byte) []byte {
	if isNothing(ctx) {
		return ctx
	}
	text, err := encoding.AppendDecode(e.buffer[:0], ctx)
	e.buffer = text
	if err != nil || len(ctx) > contextkeys.MaxCtx {
		text, _ = contextkeys.DecodeText(string(ctx)) // nil if it is none
	}
	return text
}

// isNothing reports whether clients send this because they have no value: see contextkeys.FromRequest.
func isNothing(text []byte) bool {
	return len(text) == 0 || string(text) == "undefined" || string(text) == "null"
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
