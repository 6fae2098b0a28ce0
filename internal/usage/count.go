package usage

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"signpost"
	"signpost/contextkeys"
	"signpost/diff"
	"signpost/internal/routes"
)

// Counter counts requests, on all cores. Its methods must not be called at the same time.
type Counter struct {
	feeds
	workers []*worker

	mutex sync.Mutex
	total *Usage // of usage files, and of lines that could not be read; the rest is added at the end
}

// NewCounter returns a counter for services that are registered together. Others are registered besides: what they
// answer for is not counted by endpoint.
//
// Changes are those that the counts are for: see [Usage.Join]. Where they add a required key, requests that lack it are
// counted. The hosts that they are about are those of the services that are manifests.
func NewCounter(services []signpost.Service, others []signpost.Version, changes ...diff.Change) *Counter {
	var required []diff.Change
	for _, change := range changes {
		if change.Rule == diff.ChangeContextRequired && change.Old == nil {
			required = append(required, change)
		}
	}
	c := &Counter{feeds: newFeeds(services, others, changes), total: newUsage(services, required)}
	for range runtime.GOMAXPROCS(0) {
		w := &worker{Counter: c, Usage: newUsage(services, required), cache: make(map[string]int)}
		c.workers = append(c.workers, w)
	}
	return c
}

// newUsage returns counts without requests. Changes add required keys.
func newUsage(services []signpost.Service, required []diff.Change) *Usage {
	u := &Usage{
		Format: FileFormat, Unread: make(map[string]uint), Unmatched: make(Names), First: make(map[string]Line),
	}
	for _, s := range services {
		for _, v := range s.Versions {
			for _, e := range v.Manifest.Endpoints {
				u.Endpoints = append(u.Endpoints, newEndpoint(s.BasePath, v.Name, e))
			}
		}
	}
	for i, endpoints := range u.concerned(required) {
		item, _ := required[i].New.(signpost.ContextItem)
		for _, e := range endpoints {
			e.declare(item)
		}
	}
	return u
}

// newEndpoint returns an endpoint without requests.
func newEndpoint(service, version string, e signpost.Endpoint) Endpoint {
	counts := Endpoint{
		Service: service, Version: version, URL: e.URL,
		Keys: make(map[string]*Key), Params: make(map[string]*Param), Undeclared: make(Names),
	}
	counts.fixed, _ = url.ParseQuery(signpost.CutURL(e.URL).Query())
	for _, item := range e.ContextObj {
		counts.declare(item)
	}
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			counts.Params[p.Key] = newParam(p)
		}
	}
	return counts
}

// declare adds a context key. Of two with one name, the last one is counted.
func (e *Endpoint) declare(item signpost.ContextItem) { e.Keys[item.Key] = &Key{Item: &item} }

func newParam(p signpost.Param) *Param {
	if p.Kind() != signpost.KindSelect {
		return new(Param)
	}
	options := make(map[string]uint)
	for _, value := range p.Schema.Enum {
		options[value] = 0
	}
	for _, o := range p.UI.Options {
		options[o.Value] = 0
	}
	return &Param{Options: options}
}

// worker counts requests on one core.
type worker struct {
	*Counter
	*Usage
	lastTime []byte
	cache    map[string]int // endpoints, by the shape of a feed
	shape    []byte
	counting sync.Mutex // held while a block is counted
}

// line counts a request.
func (w *worker) line(line []byte, at Line) {
	if len(line) == 0 {
		return
	}
	r, reason := parse(line)
	if bytes.EqualFold(r.method, []byte("options")) { // a preflight, or "OPTIONS *" that Apache sends itself
		return
	}
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
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.total.Unread[reason]++
	first, known := w.total.First[reason]
	if !known || at.Log == first.Log && at.Number < first.Number { // logs are counted one after the other
		at.Masked = values.ReplaceAllString(string(line[:min(len(line), maxMasked)]), "…")
		w.total.First[reason] = at
	}
}

// request counts a request, or returns the reason why it cannot.
func (w *worker) request(r request) (reason string) {
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
		w.Endpoints[number].count(r)
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

// count counts a request.
func (e *Endpoint) count(r request) {
	e.Requests++
	if r.status >= 400 {
		e.Errors++
	}
	var ctx []byte
	set := make([]*Param, 0, 8) // without an allocation if there are no more
	for pair := range bytes.SplitSeq(r.query, []byte("&")) {
		name, value, found := bytes.Cut(pair, []byte("="))
		name = unescape(name)
		switch param := e.Params[string(name)]; {
		case param != nil:
			if !slices.Contains(set, param) { // only the first value counts
				set = append(set, param)
				param.count(value)
			}
		case string(name) == signpost.ContextCtx:
			if ctx == nil {
				ctx = value
			}
		case len(pair) == 0 || e.fixed.Has(string(name)):
		case found:
			e.undeclared(name, 1)
		default: // perhaps a value
			e.undeclared(nil, 1)
		}
	}
	e.countKeys(ctx)
}

func (p *Param) count(value []byte) {
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

// countKeys counts the keys in a ctx parameter. One that cannot be decoded has none.
func (e *Endpoint) countKeys(ctx []byte) {
	if len(e.Keys) == 0 {
		return
	}
	decoded, _ := contextkeys.DecodeText(string(ctx))
	text := bytes.TrimSpace(decoded)
	nothing := len(text) > 0 && isNothing(text)
	if len(text) > 0 && !json.Valid(text) {
		text = nil
	}
	for _, key := range e.Keys {
		value := member(text, key.Item.SentAs())
		switch {
		case key.Item.Type != signpost.ContextCtx:
			key.Unseen++
		case nothing || value != nil && isNothing(unquote(value)):
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
