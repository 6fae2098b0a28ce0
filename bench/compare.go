package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	rounds = 40 // for variants that are close to each other
	seldom = 4  // the others take part in every fourth round
	tries  = 5  // attempts to get an undisturbed slice
	starts = 5
)

// variant is a contender and the kind of request. Its rate is reported relative to that of another variant in the same
// round.
type variant struct {
	contender string
	what      string // "", "gzip" or "304"
	wrk       []string
	against   string
	near      bool
}

func (v variant) name() string {
	if v.what == "" {
		return v.contender
	}
	return v.contender + ", " + v.what
}

var (
	gzipAsked  = []string{"-H", "Accept-Encoding: gzip"}
	knownAsked = []string{"-H", "If-None-Match: *"}
	bareGzip   = bare + ", gzip"
)

var variants = []variant{
	{contender: bare, against: bare, near: true},
	{contender: ours, against: bare, near: true},
	{contender: ours, what: "304", wrk: knownAsked, against: bare, near: true},
	{contender: bare, what: "gzip", wrk: gzipAsked, against: bareGzip, near: true},
	{contender: ours, what: "gzip", wrk: gzipAsked, against: bareGzip, near: true},
	{contender: bareNoGC, against: bare},
	{contender: oursNoGC, against: bare},
	{contender: nginxTuned, against: bare},
	{contender: nginxTuned, what: "gzip", wrk: gzipAsked, against: bareGzip},
	{contender: nginxDefault, against: bare},
	{contender: nginxDefault, what: "gzip", wrk: gzipAsked, against: bareGzip},
	{contender: caddy, against: bare},
	{contender: fastify, against: bare},
	{contender: express, against: bare},
}

// comparison holds the results for one manifest size.
type comparison struct {
	endpoints, bytes int
	results          map[string]*result // by variant
	memory           map[string]int     // peak, by contender
	thrown, slices   int
}

type result struct {
	rates  map[int]float64 // by round
	ratios []float64
	p50    []float64 // seconds
	p99    []float64
}

// ratio summarizes all rounds. It is NaN if nothing was measured.
func (r *result) ratio() estimate {
	if r == nil {
		return estimateOf(nil)
	}
	return estimateOf(r.ratios)
}

// compare measures all contenders with a manifest of the given size.
func (b *bench) compare(endpoints int) (*comparison, error) {
	s, err := newSite(b, endpoints)
	if err != nil {
		return nil, err
	}
	c := &comparison{endpoints: endpoints, bytes: len(s.bodies[loadHost]), results: make(map[string]*result), memory: make(map[string]int)}
	running := make(map[string]*process)
	defer func() {
		for _, p := range running {
			p.stop()
		}
	}()
	for _, contender := range contenders {
		if b.missing[contender.name] != nil {
			continue
		}
		p, err := b.startContender(contender, s, serverCore)
		if err != nil {
			b.leaveOut(contender.name, err)
			continue
		}
		running[contender.name] = p
		if err := checkBodies(contender, s, p.url); err != nil {
			return nil, fmt.Errorf("%s: %w", contender.name, err)
		}
	}
	if running[bare] == nil || running[ours] == nil {
		return nil, fmt.Errorf("nothing to compare: %v", b.missing)
	}

	for round := range b.rounds {
		b.progress("%d endpoints: round %d of %d", endpoints, round+1, b.rounds)
		order := slices.Clone(variants)
		if round%2 == 1 {
			slices.Reverse(order) // so that drift over time favours nobody
		}
		for _, v := range order {
			p := running[v.contender]
			if p == nil || !v.near && round%seldom != 0 {
				continue
			}
			if err := c.measure(v, p, round, b.maxDisturbed); err != nil {
				return nil, fmt.Errorf("%s: %w", v.name(), err)
			}
		}
	}
	for name, p := range running {
		c.memory[name] = p.peak()
	}
	for _, v := range variants {
		r, reference := c.results[v.name()], c.results[v.against]
		if r == nil || reference == nil {
			continue
		}
		for round, rate := range r.rates {
			if base, ok := reference.rates[round]; ok {
				r.ratios = append(r.ratios, rate/base)
			}
		}
	}
	b.progress("")
	if c.results[ours].ratio().n == 0 {
		return nil, fmt.Errorf("the machine is too busy: of %d slices, %d were discarded", c.slices, c.thrown)
	}
	return c, nil
}

// measure takes a slice, and repeats it if the machine was busy with something else.
func (c *comparison) measure(v variant, p *process, round int, maxDisturbed float64) error {
	for range tries {
		s, err := runSlice(p, sliceTime, append([]string{"-H", "Host: " + loadHost}, v.wrk...)...)
		if err != nil {
			return err
		}
		if s.failed != "" {
			return errors.New(s.failed)
		}
		c.slices++
		if s.disturbed > maxDisturbed {
			c.thrown++
			time.Sleep(sliceTime) // wait for the disturbance to pass
			continue
		}
		r := c.results[v.name()]
		if r == nil {
			r = &result{rates: make(map[int]float64)}
			c.results[v.name()] = r
		}
		r.rates[round] = s.rate
		r.p50 = append(r.p50, s.p50.Seconds())
		r.p99 = append(r.p99, s.p99.Seconds())
		return nil
	}
	return nil // leave it out of this round
}

func (b *bench) startContender(c contender, s *site, core int) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command, err := c.command(b, s, address)
	if err != nil {
		return nil, err
	}
	return start(core, "http://"+address+manifestPath, command...)
}

// startUps measures the time to the first response for each contender, with a manifest of 10 endpoints.
func (b *bench) startUps() (map[string]time.Duration, error) {
	s, err := newSite(b, 10)
	if err != nil {
		return nil, err
	}
	times := make(map[string]time.Duration)
	for _, contender := range contenders {
		if isControl(contender.name) || b.missing[contender.name] != nil {
			continue
		}
		var all []time.Duration
		for range starts {
			p, err := b.startContender(contender, s, serverCore)
			if err != nil {
				b.leaveOut(contender.name, err)
				break
			}
			all = append(all, p.startUp)
			p.stop()
		}
		if len(all) > 0 {
			slices.Sort(all)
			times[contender.name] = all[len(all)/2]
		}
	}
	return times, nil
}
