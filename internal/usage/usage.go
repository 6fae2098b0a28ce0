// Package usage counts what requests use of registered services: endpoints, context keys, parameters and options.
//
// A [Counter] is made for services that are registered together, and reads access logs and usage files. [Counter.Usage]
// returns the counts, whose JSON form is a usage file: counting in many places and adding up the files gives what
// counting in one place gives.
//
// No value that a client sent is kept or returned, except the options that a definition lists. What is kept is bounded,
// whatever the logs hold.
package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"signpost"
)

// Usage holds counts of requests.
type Usage struct {
	Format    int             `json:"signpost_usage"` // FileFormat
	Requests  uint            `json:"requests"`
	From      string          `json:"from,omitempty"` // the first and the last day, such as 2026-11-18, if logs have times
	To        string          `json:"to,omitempty"`
	Unread    map[string]uint `json:"unread"`    // lines that could not be read, by reason
	Endpoints []Endpoint      `json:"endpoints"` // all that are registered, in their order
	Unmatched map[string]uint `json:"unmatched"` // feeds that no endpoint answers for, by path

	// First has the first line that could not be read for each reason, unless the reason is from a usage file.
	First map[string]Line `json:"-"`
}

// Line is a line of a log.
type Line struct {
	Log    string
	Number int
	Masked string // without any values
	log    int
}

func (l Line) before(other Line) bool {
	return l.log < other.log || l.log == other.log && l.Number < other.Number
}

// FileFormat is the version of the usage file.
const FileFormat = 1

// Others is the name of what is counted together: names that are too many, or that may be values.
const Others = "others"

// Endpoint counts the requests that an endpoint answers for.
type Endpoint struct {
	Service    string            `json:"service"` // the base path
	Version    string            `json:"version"`
	URL        string            `json:"url"` // as in the definition
	Requests   uint              `json:"requests"`
	Errors     uint              `json:"errors"`     // with a status of 400 or above
	Keys       map[string]*Key   `json:"keys"`       // declared context keys
	Params     map[string]*Param `json:"params"`     // declared query parameters
	Undeclared map[string]uint   `json:"undeclared"` // occurrences of other query parameters

	// Partial is set if a usage file that was added did not count the endpoint.
	Partial bool `json:"partial,omitempty"`

	sent   []sentKey       // the keys that are sent in the ctx parameter
	unsent []*Key          // all others
	fixed  map[string]bool // parameters that are part of the URL
}

// Key counts requests by what they had for a context key.
type Key struct {
	Present   uint `json:"present"`
	Missing   uint `json:"missing"`          // no such key
	Undefined uint `json:"undefined"`        // undefined, null or empty, which counts as missing
	Unseen    uint `json:"unseen,omitempty"` // not sent in the URL, so that the log cannot tell

	Required bool `json:"-"` // as the definition has it
}

// sentKey is a context key that is sent under a name.
type sentKey struct {
	name string
	*Key
	value []byte // in the request that is counted, as written; nil if it has none
}

// Param counts requests that set a query parameter.
type Param struct {
	Set     uint            `json:"set"`
	Options map[string]uint `json:"options,omitempty"` // by declared value
	Other   uint            `json:"other"`             // values that no option has

	// Partial is set if a usage file that was added did not count the parameter, or one of its options.
	Partial bool `json:"partial,omitempty"`

	last uint // number of the last request that set it
}

// Period returns the days that the counts are from, such as 12–18 Nov, or "" if no log has times.
func (u *Usage) Period() string {
	from, _ := time.Parse(time.DateOnly, u.From)
	to, err := time.Parse(time.DateOnly, u.To)
	first := "2 Jan 2006"
	switch {
	case err != nil:
		return ""
	case u.From == u.To:
		return to.Format("2 Jan")
	case from.Format("Jan 2006") == to.Format("Jan 2006"):
		return from.Format("2–") + to.Format("2 Jan")
	case from.Year() == to.Year():
		first = "2 Jan"
	}
	return from.Format(first) + " – " + to.Format(first)
}

// days returns the number of days that the counts are from, or 0 if no log has times.
func (u *Usage) days() int {
	from, err := time.Parse(time.DateOnly, u.From)
	to, _ := time.Parse(time.DateOnly, u.To)
	if err != nil {
		return 0
	}
	return int(to.Sub(from).Hours()/24) + 1
}

// DropPartial removes the counts of what was not always counted: nobody knows how many requests use it.
func (u *Usage) DropPartial() {
	u.Endpoints = slices.DeleteFunc(u.Endpoints, func(e Endpoint) bool { return e.Partial })
	for _, e := range u.Endpoints {
		maps.DeleteFunc(e.Params, func(_ string, p *Param) bool { return p == nil || p.Partial })
		maps.DeleteFunc(e.Keys, func(_ string, k *Key) bool { return k == nil || k.Total() != e.Requests })
	}
}

// Lacking returns the number of requests without the key, or with nothing in it.
func (k *Key) Lacking() uint { return k.Missing + k.Undefined }

// Total returns the number of requests of which it is known whether they had the key, or that it cannot be known.
func (k *Key) Total() uint { return k.Present + k.Lacking() + k.Unseen }

// newEndpoint returns an endpoint without requests.
func newEndpoint(service, version string, e signpost.Endpoint) Endpoint {
	counts := Endpoint{
		Service: service, Version: version, URL: e.URL, Keys: make(map[string]*Key),
		Params: make(map[string]*Param), Undeclared: make(map[string]uint), fixed: make(map[string]bool),
	}
	for pair := range strings.SplitSeq(signpost.CutURL(e.URL).Query(), "&") {
		name, _, _ := strings.Cut(pair, "=")
		counts.fixed[name] = true
	}
	for _, item := range e.ContextObj {
		key := &Key{Required: item.Required}
		counts.Keys[item.Key] = key
		if item.Type == signpost.ContextCtx {
			counts.sent = append(counts.sent, sentKey{name: item.SentAs(), Key: key})
		} else {
			counts.unsent = append(counts.unsent, key)
		}
	}
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			param := new(Param)
			counts.Params[p.Key] = param
			if p.Kind() != signpost.KindSelect {
				continue
			}
			param.Options = make(map[string]uint)
			for _, value := range p.Schema.Enum {
				param.Options[value] = 0
			}
			for _, o := range p.UI.Options {
				param.Options[o.Value] = 0
			}
		}
	}
	return counts
}

func (e *Endpoint) id() [3]string { return [3]string{e.Service, e.Version, e.URL} }

// add adds counts from a usage file. What the endpoint no longer declares is left out.
func (e *Endpoint) add(more Endpoint) {
	e.Partial = e.Partial || more.Partial
	e.Requests += more.Requests
	e.Errors += more.Errors
	for name, key := range e.Keys {
		if k := more.Keys[name]; k != nil {
			key.Present += k.Present
			key.Missing += k.Missing
			key.Undefined += k.Undefined
			key.Unseen += k.Unseen
		}
	}
	for name, param := range e.Params {
		p := more.Params[name]
		if p == nil {
			param.Partial = param.Partial || more.Requests > 0
			continue
		}
		param.Partial = param.Partial || p.Partial
		for value := range param.Options {
			if _, known := p.Options[value]; !known && more.Requests > 0 {
				param.Partial = true
			}
		}
		param.Set += p.Set
		param.Other += p.Other
		for value, n := range p.Options {
			if _, known := param.Options[value]; known {
				param.Options[value] += n
			} else {
				param.Other += n
			}
		}
	}
}

const (
	maxNames      = 200  // names that are counted on their own
	maxNewNames   = 2000 // and further ones until the next time that they are limited
	maxNameLength = 32   // longer ones may be values
)

// limitNames counts the names beyond maxNames as others. Those without digits stay first, then shorter ones, because
// names that somebody made up are neither. What stays depends on which names there are, and not on where and in which
// order they came, so that counts can be added up.
func (u *Usage) limitNames() {
	var undeclared []map[string]uint
	for _, e := range u.Endpoints {
		undeclared = append(undeclared, e.Undeclared)
	}
	limit(undeclared)
	limit([]map[string]uint{u.Unmatched})
}

func limit(counts []map[string]uint) {
	names := make(map[string]bool)
	for _, c := range counts {
		for name := range c {
			names[name] = true
		}
	}
	delete(names, Others)
	sorted := slices.SortedFunc(maps.Keys(names), compareNames)
	for _, name := range sorted[min(len(sorted), maxNames):] {
		for _, c := range counts {
			if n, found := c[name]; found {
				c[Others] += n
				delete(c, name)
			}
		}
	}
}

func compareNames(a, b string) int {
	digits := func(name string) int { return min(1, strings.IndexAny(name, "0123456789")+1) }
	return cmp.Or(digits(a)-digits(b), len(a)-len(b), cmp.Compare(a, b))
}

// isName reports whether text looks like the name of a parameter, and not like a value.
func isName(text []byte) bool {
	for _, c := range text {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return 0 < len(text) && len(text) <= maxNameLength
}
