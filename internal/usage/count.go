package usage

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"runtime"
	"slices"
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
	anywhere *match.Index     // of everything that is registered
	own      []*match.Index   // of each service, with its own URLs at standIn
	ownKnown bool             // there are such URLs
	first    []int            // the number of each service's first endpoint
	numbers  map[string][]int // of the services' endpoints, by URL
	workers  []*worker
	logs     int

	words  map[string]bool // segments of endpoints' paths
	begins [256]bool       // bytes that they begin with
	exact  bool            // text that those bytes do not tell helps to choose the endpoint
}

// standIn is where requests go if the log does not tell their host.
const standIn = "https://own.invalid"

// NewCounter returns a counter for services that are registered together. Others are registered besides: what they
// answer for is not counted by endpoint.
//
// Changes are those that the counts are for: see [Usage.Join]. Where they add a required key, requests that lack it are
// counted. The hosts that they are about are those of the services that are manifests.
func NewCounter(services []signpost.Service, others []signpost.Version, changes ...diff.Change) *Counter {
	c := &Counter{
		services: services, changes: changes,
		numbers: make(map[string][]int), words: make(map[string]bool),
	}
	var compared signpost.Hosts
	for _, change := range changes {
		if change.Host != "" && !slices.Contains(compared, change.Host) {
			compared = append(compared, change.Host)
		}
	}
	var all []signpost.Version
	number := 0
	for _, s := range services {
		all = append(all, s.Versions...)
		c.first = append(c.first, number)
		var own []signpost.Version
		for _, v := range s.Versions {
			if s.Served {
				v.Hosts = slices.Concat(v.Hosts, compared)
			}
			own = append(own, c.atStandIn(v, number))
			number += len(v.Manifest.Endpoints)
		}
		c.own = append(c.own, match.NewIndex(own...))
	}
	all = append(all, others...)
	for _, v := range all {
		for _, e := range v.Manifest.Endpoints {
			c.learn(signpost.CutURL(e.URL))
		}
	}
	c.anywhere = match.NewIndex(all...)
	for range runtime.GOMAXPROCS(0) {
		w := &worker{Counter: c, Usage: c.none(), files: c.none(), cache: make(map[string]int)}
		c.workers = append(c.workers, w)
	}
	return c
}

// atStandIn returns a version with standIn in its own URLs, and notes the numbers of its endpoints. Usage files have
// {{host}} in these URLs.
func (c *Counter) atStandIn(v signpost.Version, number int) signpost.Version {
	v.Manifest = signpost.NewManifest(v.Manifest.Endpoints...)
	for i, e := range v.Manifest.Endpoints {
		u := signpost.CutURL(e.URL)
		c.numbers[e.URL] = append(c.numbers[e.URL], number+i)
		if !v.Hosts.Owns(u) {
			continue
		}
		c.ownKnown = true
		v.Manifest.Endpoints[i].URL = standIn + u.Rest()
		if !u.HasHostPlaceholder() {
			open := u.WithAuthority(strings.Replace(u.Authority(), u.Hostname(), signpost.HostPlaceholder, 1)).String()
			c.numbers[open] = append(c.numbers[open], number+i)
		}
	}
	return v
}

// numberOf returns the number of the endpoint that a usage file or a worker counted, or nobody. Of equal ones, the
// first answers.
func (c *Counter) numberOf(e Endpoint, registered []Endpoint) int {
	for _, number := range c.numbers[e.URL] {
		known := registered[number]
		if !differ(e.Service, known.Service) && !differ(e.Version, known.Version) {
			return number
		}
	}
	return nobody
}

// learn notes what the URL of an endpoint consists of.
func (c *Counter) learn(u signpost.URL) {
	c.exact = c.exact || u.Query() != ""
	for word := range strings.SplitSeq(u.Path(), "/") {
		c.words[word] = true
		if word != "" {
			c.begins[word[0]] = true
		}
		_, after, _ := strings.Cut(word, "}}")
		c.exact = c.exact || strings.HasPrefix(word, "{{") && after != "" // as in {{id}}.json
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
		number := c.numberOf(e, sum.Endpoints)
		switch {
		case number == nobody && e.Requests > 0:
			sum.Unread[unknownEndpoint] += e.Requests
		case number != nobody && !e.uncounted:
			counted[number] = true
			complete := sum.Endpoints[number].add(e)
			sum.LeftOut = sum.LeftOut || !complete
		}
	}
	for i, e := range sum.Endpoints {
		if more.Requests > 0 && !counted[c.numberOf(e, sum.Endpoints)] {
			sum.Endpoints[i].uncounted = true
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
	rest := string(r.path) + "?" + string(r.query)
	if len(r.host) == 0 {
		return c.findOwn(rest)
	}
	host := strings.TrimSuffix(strings.TrimSuffix(string(r.host), ":443"), ":80")
	number := c.anywhere.Find("https://" + host + rest)
	if number == nobody {
		number = c.anywhere.Find("http://" + host + rest)
	}
	return number
}

// findOwn returns the endpoint that answers for a request without a host.
func (c *Counter) findOwn(rest string) int {
	answers := nobody
	for i, service := range c.own {
		number := service.Find(standIn + rest)
		switch {
		case number == nobody:
		case answers != nobody:
			return unclear
		default:
			answers = c.first[i] + number
		}
	}
	return answers
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
}

// countKeys counts the keys in a ctx parameter. One that cannot be decoded has none.
func (e *Endpoint) countKeys(ctx []byte) {
	decoded, _ := contextkeys.DecodeText(string(ctx))
	text := bytes.TrimSpace(decoded)
	nothing := len(text) > 0 && isNothing(text)
	valid := json.Valid(text)
	for _, key := range e.keys {
		var value []byte
		if valid {
			value = member(text, key.name)
		}
		switch {
		case !key.inURL:
			key.Unseen++
		case nothing, value != nil && isNothing(unquote(value)):
			key.Undefined++
		case value != nil:
			key.Present++
		default:
			key.Missing++
		}
	}
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
