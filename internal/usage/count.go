package usage

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"runtime"
	"slices"

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
		for u := range v.Manifest.All() {
			c.learn(u)
		}
	}
	c.anywhere = match.NewIndex(all...)
	for range runtime.GOMAXPROCS(0) {
		w := &worker{Counter: c, Usage: c.none(), files: c.none(), cache: make(map[string]int)}
		c.workers = append(c.workers, w)
	}
	return c
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
