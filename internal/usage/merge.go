package usage

import (
	"slices"
	"strings"
)

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

// add adds counts from a usage file, and reports whether it counted all that the endpoint declares. What it did not
// count is removed, because nobody knows how many requests use it.
func (e *Endpoint) add(more Endpoint) (complete bool) {
	e.Requests += more.Requests
	e.Errors += more.Errors
	for name, n := range more.Undeclared {
		e.undeclared([]byte(name), n)
	}
	if more.Requests == 0 {
		return true
	}
	complete = true
	for name, key := range e.Keys {
		k := more.Keys[name]
		if k == nil {
			delete(e.Keys, name)
			complete = false
			continue
		}
		key.Present += k.Present
		key.Missing += k.Missing
		key.Undefined += k.Undefined
		key.Unseen += k.Unseen
	}
	for name, param := range e.Params {
		p := more.Params[name]
		if p == nil || !param.add(p) {
			delete(e.Params, name)
			complete = false
		}
	}
	return complete
}

// add adds counts from a usage file, and reports whether it counted all options. One that it does not have was not set
// if the others were set by all requests. Whatever the file says, the parameter was set as often as its options, so
// that sums do not depend on the order of files.
func (p *Param) add(more *Param) (complete bool) {
	complete = true
	rest := more.Set
	for value := range p.Options {
		n, counted := more.Options[value]
		complete = complete && counted
		p.Options[value] += n
		p.Set += n
		rest -= min(n, rest)
	}
	p.Set += rest
	if p.Options != nil {
		p.Other += rest
	}
	return complete || rest == 0
}
