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
	"net/url"
	"slices"
	"strings"
	"time"

	"signpost"
)

// Usage holds counts of requests.
type Usage struct {
	Format    int             `json:"signpost_usage"` // FileFormat
	Requests  uint            `json:"requests"`
	From      string          `json:"from,omitempty"` // the first day, such as 2026-11-18, if logs have times
	To        string          `json:"to,omitempty"`   // the last one
	Unread    map[string]uint `json:"unread"`         // lines that could not be read, by reason
	Endpoints []Endpoint      `json:"endpoints"`      // all that are registered, in their order
	Unmatched Names           `json:"unmatched"`      // feeds that no endpoint answers for, by path

	// First has the first line that could not be read for each reason, unless the reason is from a usage file.
	First map[string]Line `json:"-"`

	// LeftOut is set if endpoints, keys or parameters are missing because a usage file did not count them.
	LeftOut bool `json:"-"`
}

// Line is a line of a log.
type Line struct {
	Log    string
	Number int
	Masked string // without any values
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
	Undeclared Names             `json:"undeclared"` // occurrences of other query parameters

	fixed   url.Values // parameters that are part of the URL
	counted uint       // of all requests, those that were counted with this endpoint
}

// Key counts requests by what they had for a context key.
type Key struct {
	Present   uint `json:"present"`
	Missing   uint `json:"missing"`          // no such key
	Undefined uint `json:"undefined"`        // undefined, null or empty, which counts as missing
	Unseen    uint `json:"unseen,omitempty"` // not sent in the URL, so that the log cannot tell

	Item *signpost.ContextItem `json:"-"` // nil if a usage file was decoded

	counted uint // of the endpoint's requests, those that were counted with this key
}

// Lacking returns the number of requests without the key, or with nothing in it.
func (k *Key) Lacking() uint { return k.Missing + k.Undefined }

// Param counts requests that set a query parameter.
type Param struct {
	Set     uint            `json:"set"`
	Options map[string]uint `json:"options,omitempty"` // by declared value
	Other   uint            `json:"other"`             // values that no option has

	counted uint // of the endpoint's requests, those that were counted with all options
}

// Names counts names that may be made up.
type Names map[string]uint

const (
	maxNames      = 200 // that are counted on their own
	maxNameLength = 32  // longer ones may be values
)

// add counts a name.
func (n Names) add(name string, count uint) {
	n[name] += count
	if len(n) > 2*maxNames {
		n.limit()
	}
}

// limit counts the names beyond maxNames as others. The shortest stay, because names that somebody made up are long.
// What stays depends on which names there are, and not on where and in which order they came, so that counts can be
// added up.
func (n Names) limit() {
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return name == Others })
	for _, name := range names[min(len(names), maxNames):] {
		n[Others] += n[name]
		delete(n, name)
	}
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

// Answered reports whether any request was for an endpoint.
func (u *Usage) Answered() bool {
	return slices.ContainsFunc(u.Endpoints, func(e Endpoint) bool { return e.Requests > 0 })
}

// Period returns the days that the counts are from, such as 12–18 Nov, or "" if no log has times.
func (u *Usage) Period() string {
	from, to, days := u.days()
	last := to.Format("2 Jan")
	switch {
	case days == 0:
		return ""
	case days == 1:
		return last
	case from.Format("Jan 2006") == to.Format("Jan 2006"):
		return from.Format("2–") + last
	case days > 365:
		return from.Format("2 Jan 2006 – ") + to.Format("2 Jan 2006")
	}
	return from.Format("2 Jan – ") + last
}

// days returns the first and the last day, and how many they are.
func (u *Usage) days() (from, to time.Time, days int) {
	from, noFrom := time.Parse(time.DateOnly, u.From)
	to, noTo := time.Parse(time.DateOnly, u.To)
	if noFrom != nil || noTo != nil {
		return from, to, 0
	}
	return from, to, int(to.Sub(from).Hours()/24) + 1
}
