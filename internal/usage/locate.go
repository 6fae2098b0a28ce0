package usage

import (
	"bytes"
	"strings"

	"signpost"
)

// What answers for a feed, besides the number of an endpoint.
const (
	nobody  = -1
	unclear = -2 // several services fit
)

// standIn is where requests go if the log does not tell their host.
const standIn = "https://own.invalid"

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
