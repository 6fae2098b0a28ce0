package usage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"signpost"
	"signpost/diff"
	"signpost/match"
)

// What answers for a feed, besides the number of an endpoint.
const (
	nobody  = -1
	unclear = -2 // several services fit
)

// feeds knows the endpoints that answer for feeds, by their numbers in the order of registration.
type feeds struct {
	anywhere *match.Index     // of everything that is registered
	own      *match.Index     // with each service's own URLs at its stand-in
	ownKnown bool             // there are such URLs
	standIns []string         // where requests go if the log does not tell their host, by service
	numbers  map[string][]int // of the services' endpoints, by URL

	words  map[string]bool // segments of endpoints' paths
	begins [256]bool       // bytes that they begin with
	exact  bool            // text that those bytes do not tell helps to choose the endpoint
}

func newFeeds(services []signpost.Service, others []signpost.Version, changes []diff.Change) feeds {
	f := feeds{numbers: make(map[string][]int), words: make(map[string]bool)}
	var compared signpost.Hosts
	for _, change := range changes {
		if change.Host != "" && !slices.Contains(compared, change.Host) {
			compared = append(compared, change.Host)
		}
	}
	var all, own []signpost.Version
	number := 0
	for i, s := range services {
		standIn := fmt.Sprintf("https://own-%d.invalid", i)
		f.standIns = append(f.standIns, standIn)
		for _, v := range s.Versions {
			all = append(all, v)
			if s.Served {
				v.Hosts = slices.Concat(v.Hosts, compared)
			}
			v.Manifest = signpost.NewManifest(v.Manifest.Endpoints...)
			for u, e := range v.Manifest.All() {
				f.register(e, u, v.Hosts.Owns(u), standIn, number)
				number++
			}
			own = append(own, v)
		}
	}
	all = append(all, others...)
	for _, v := range all {
		for u := range v.Manifest.All() {
			f.learn(u)
		}
	}
	f.anywhere, f.own = match.NewIndex(all...), match.NewIndex(own...)
	return f
}

// register notes the number of an endpoint. If it is one of the service's own, it gets the stand-in as its host, and is
// known by its URL with {{host}} too, as usage files have it.
func (f *feeds) register(e *signpost.Endpoint, u signpost.URL, isOwn bool, standIn string, number int) {
	f.numbers[e.URL] = append(f.numbers[e.URL], number)
	if !isOwn {
		return
	}
	f.ownKnown = true
	e.URL = standIn + u.Rest()
	if !u.HasHostPlaceholder() {
		open := u.WithAuthority(strings.Replace(u.Authority(), u.Hostname(), signpost.HostPlaceholder, 1)).String()
		f.numbers[open] = append(f.numbers[open], number)
	}
}

// learn notes what the URL of an endpoint consists of.
func (f *feeds) learn(u signpost.URL) {
	f.exact = f.exact || u.Query() != ""
	for word := range strings.SplitSeq(u.Path(), "/") {
		f.words[word] = true
		if word != "" {
			f.begins[word[0]] = true
		}
		_, after, _ := strings.Cut(word, "}}")
		f.exact = f.exact || strings.HasPrefix(word, "{{") && after != "" // as in {{id}}.json
	}
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
	shape := append(w.shape[:0], r.host...)
	for segment := range bytes.SplitSeq(r.path, slash) {
		shape = append(shape, '/')
		if len(segment) > 0 && !w.begins[segment[0]] {
			shape = append(shape, 0)
		} else {
			shape = append(shape, segment...)
		}
	}
	w.shape = shape
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
func (f *feeds) find(r request) int {
	rest := string(r.path) + "?" + string(r.query)
	if len(r.host) == 0 {
		return f.findOwn(rest)
	}
	host := strings.TrimSuffix(strings.TrimSuffix(string(r.host), ":443"), ":80")
	number := f.anywhere.Find("https://" + host + rest)
	if number == nobody {
		number = f.anywhere.Find("http://" + host + rest)
	}
	return number
}

// findOwn returns the endpoint that answers for a request without a host.
func (f *feeds) findOwn(rest string) int {
	answers := nobody
	for _, standIn := range f.standIns {
		number := f.own.Find(standIn + rest)
		switch {
		case number == nobody:
		case answers != nobody:
			return unclear
		default:
			answers = number
		}
	}
	return answers
}

// maxSegments is how many segments of a path without an endpoint are told apart.
const maxSegments = 16

// masked returns a path with an ellipsis for every segment that no endpoint has.
func (f *feeds) masked(path []byte) string {
	var masked strings.Builder
	for i, segment := range bytes.SplitN(bytes.TrimPrefix(path, slash), slash, maxSegments+1) {
		masked.WriteByte('/')
		if i < maxSegments && f.words[string(segment)] {
			masked.Write(segment)
		} else {
			masked.WriteString("…")
		}
	}
	return masked.String()
}
