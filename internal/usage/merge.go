package usage

import (
	"maps"
	"slices"
	"strings"
)

// Usage returns the counts. It must be called once: after that, nothing more can be counted.
func (c *Counter) Usage() *Usage {
	for _, w := range c.workers {
		w.counting.Lock() // for good: the worker may still be waiting for more of a log
		c.add(w.Usage)
	}
	c.total.leaveOut()
	c.total.Unmatched.limit()
	return c.total
}

// add adds the counts of a worker or a usage file, as if its requests were in a log. Somebody else may have written
// the file, so names are checked as in a log.
func (c *Counter) add(part *Usage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	total := c.total
	total.Requests += part.Requests
	total.on([]byte(part.From))
	total.on([]byte(part.To))
	for reason, n := range part.Unread {
		if !slices.Contains(reasons, reason) {
			reason = unknownFormat
		}
		total.Unread[reason] += n
	}
	for path, n := range part.Unmatched {
		if strings.HasPrefix(path, "/") {
			path = c.masked([]byte(path))
		} else {
			path = Others
		}
		total.Unmatched.add(path, n)
	}
	has := make(map[*Endpoint]bool)
	for i := range part.Endpoints {
		e := &part.Endpoints[i]
		same := c.sameAs(e)
		for _, known := range same {
			if !has[known] {
				has[known] = true
				known.counted += part.Requests
			}
		}
		if len(same) > 0 {
			same[0].add(e)
		} else if e.Requests > 0 {
			total.Unread[unknownEndpoint] += e.Requests
		}
	}
}

// sameAs returns the registered endpoints that an endpoint of a usage file is. The first answers.
func (c *Counter) sameAs(e *Endpoint) (same []*Endpoint) {
	for _, number := range c.numbers[e.URL] {
		known := &c.total.Endpoints[number]
		if !differ(e.Service, known.Service) && !differ(e.Version, known.Version) {
			same = append(same, known)
		}
	}
	return same
}

// add adds the counts of a worker or a usage file.
func (e *Endpoint) add(part *Endpoint) {
	e.Requests += part.Requests
	e.Errors += part.Errors
	for name, n := range part.Undeclared {
		e.undeclared([]byte(name), n)
	}
	for name, key := range e.Keys {
		if k := part.Keys[name]; k != nil {
			key.counted += part.Requests
			key.Present += k.Present
			key.Missing += k.Missing
			key.Undefined += k.Undefined
			key.Unseen += k.Unseen
		}
	}
	for name, param := range e.Params {
		if p := part.Params[name]; p != nil && param.add(p) {
			param.counted += part.Requests
		}
	}
}

// add adds the counts of a worker or a usage file, and reports whether they are those of all options. One that a file
// does not have was not set if the others were set by all requests. Whatever it says, the parameter was set as often
// as its options.
func (p *Param) add(part *Param) (complete bool) {
	complete = true
	var known uint
	for value := range p.Options {
		n, counted := part.Options[value]
		complete = complete && counted
		p.Options[value] += n
		known += n
	}
	set := max(known, part.Set)
	p.Set += set
	if p.Options != nil {
		p.Other += set - known
	}
	return complete || set == known
}

// leaveOut removes what a usage file did not count, because nobody knows how many requests use it.
func (u *Usage) leaveOut() {
	all := u.Endpoints
	u.Endpoints = []Endpoint{}
	for _, e := range all {
		if e.counted != u.Requests {
			u.LeftOut = true
			continue
		}
		declared := len(e.Keys) + len(e.Params)
		maps.DeleteFunc(e.Keys, func(_ string, k *Key) bool { return k.counted != e.Requests })
		maps.DeleteFunc(e.Params, func(_ string, p *Param) bool { return p.counted != e.Requests })
		u.LeftOut = u.LeftOut || len(e.Keys)+len(e.Params) < declared
		e.Undeclared.limit()
		u.Endpoints = append(u.Endpoints, e)
	}
}
