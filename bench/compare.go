package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	seldom = 4 // variants that are far apart take part in every fourth round
	tries  = 5 // attempts to get an undisturbed slice
	// maxDisturbed is the maximum share of both cores that others may use; beyond that a slice is discarded.
	maxDisturbed = 0.05
)

// variant is a contender and the kind of request: "", "gzip" or "304".
type variant struct{ contender, what string }

// asked are the headers of each kind of request, as flags of wrk.
var asked = map[string][]string{"gzip": {"-H", "Accept-Encoding: gzip"}, "304": {"-H", "If-None-Match: *"}}

var variants = []variant{
	{bare, ""}, {ours, ""}, {oursBefore, ""}, {ours, "304"},
	{bare, "gzip"}, {ours, "gzip"}, {oursBefore, "gzip"},
	{nginxTuned, ""}, {nginxTuned, "gzip"}, {nginxDefault, ""}, {nginxDefault, "gzip"},
	{caddy, ""}, {fastify, ""}, {express, ""},
}

func (v variant) name() string {
	if v.what == "" {
		return v.contender
	}
	return v.contender + ", " + v.what
}

// against returns the variant to whose rate in the same round the rate of this one is relative.
func (v variant) against() variant {
	if v.what == "gzip" {
		return variant{bare, "gzip"}
	}
	return variant{bare, ""}
}

// near reports whether the variant is close to one that it is compared with, and so takes part in every round.
func (v variant) near() bool {
	return slices.Contains([]string{bare, ours, oursBefore, nginxTuned}, v.contender)
}

// comparison holds the results for one manifest size.
type comparison struct {
	endpoints, bytes int
	results          map[string]*result // by variant
	memory           map[string]int     // peak, by contender
	thrown, slices   int
}

func (c *comparison) size() string {
	return fmt.Sprintf("%d endpoints, %s", c.endpoints, kilobytes(float64(c.bytes)))
}

type result struct {
	rates map[int]float64 // by round
	p50   []float64       // seconds
	p99   []float64
	cpu   []float64 // seconds of the server for a request
}

// rate returns the median of requests per second.
func (r *result) rate() float64 {
	return estimateOf(slices.Collect(maps.Values(r.rates))).median
}

// ratios returns the rates of a variant relative to those of another one in the same rounds.
func (c *comparison) ratios(of, to variant) []float64 {
	var all []float64
	r, reference := c.results[of.name()], c.results[to.name()]
	if r == nil || reference == nil {
		return nil
	}
	for round, rate := range r.rates {
		if base, ok := reference.rates[round]; ok {
			all = append(all, rate/base)
		}
	}
	return all
}

// runCompare measures all contenders at all sizes, and returns a picture and the tables.
func (b *bench) runCompare() ([]section, error) {
	var all []*comparison
	sizes := []int{10, 100, 1000}
	if b.quick {
		sizes = sizes[:1]
	}
	measured, thrown := 0, 0
	for _, size := range sizes {
		c, err := b.compare(size)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		measured, thrown = measured+c.slices, thrown+c.thrown
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "On %s, %s:\n%s.\n", time.Now().Format("2 January 2006"), machine(), strings.Join(b.versions(), ", "))
	fmt.Fprintf(&out, "%d slices of %v, %d of them discarded.\n\n", measured, sliceTime, thrown)
	out.WriteString("Requests per second, relative to a bare net/http handler that writes the same bytes from memory:\n\n")
	out.WriteString(ratioTable(all, variant{bare, ""}))
	out.WriteString("\nWith gzip, relative to the same handler with precompressed bytes:\n\n")
	out.WriteString(ratioTable(all, variant{bare, "gzip"}))
	out.WriteString("\nRelative to tuned nginx in the same rounds:\n\n")
	out.WriteString(table(all, slices.DeleteFunc(slices.Clone(variants), isNotOurs), func(c *comparison, v variant, _ *result) string {
		return estimateOf(c.ratios(v, variant{nginxTuned, v.what})).String()
	}))
	out.WriteString("\nCPU time of the server for a request:\n\n")
	out.WriteString(table(all, variants, func(_ *comparison, _ variant, r *result) string { return seconds(estimateOf(r.cpu).median) }))
	out.WriteString("\nLatency at full load on 32 connections, p50 and p99:\n\n")
	out.WriteString(table(all, variants, func(_ *comparison, _ variant, r *result) string {
		return seconds(estimateOf(r.p50).median) + ", " + seconds(estimateOf(r.p99).median)
	}))
	out.WriteString("\nPeak memory under the same load:\n\n")
	plain := slices.DeleteFunc(slices.Clone(variants), func(v variant) bool { return v.what != "" })
	out.WriteString(table(all, plain, func(c *comparison, v variant, _ *result) string {
		return megabytes(float64(c.memory[v.contender]))
	}))
	return []section{{"picture", picture(all[len(all)/2])}, {"compare", out.String()}}, nil
}

// picture shows the rates for one size as bars.
func picture(c *comparison) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Requests per second for a manifest of %s, relative to Go's HTTP server writing the same bytes:\n\n```text\n", c.size())
	for _, v := range variants {
		r := c.results[v.name()]
		if v.what != "" || r == nil {
			continue
		}
		relative := estimateOf(c.ratios(v, v.against())).median
		fmt.Fprintf(&out, "%-24s %s %s\n", v.name(), strings.Repeat("█", max(1, int(math.Round(relative*40)))), ratio(relative))
	}
	return out.String() + "```\n"
}

// table has a row for each variant that was measured, and a column for each size. cell is called for what was measured.
func table(all []*comparison, of []variant, cell func(*comparison, variant, *result) string) string {
	rows := [][]string{{""}}
	for _, c := range all {
		rows[0] = append(rows[0], c.size())
	}
	for _, v := range of {
		row := []string{v.name()}
		if v.contender == ours {
			row[0] = "**" + row[0] + "**"
		}
		for _, c := range all {
			text := notMeasured
			if r := c.results[v.name()]; r != nil {
				text = cell(c, v, r)
			}
			row = append(row, text)
		}
		if slices.ContainsFunc(row[1:], func(text string) bool { return text != notMeasured }) {
			rows = append(rows, row)
		}
	}
	return markdown(rows)
}

func ratioTable(all []*comparison, against variant) string {
	rows := slices.DeleteFunc(slices.Clone(variants), func(v variant) bool { return v.against() != against })
	return table(all, rows, func(c *comparison, v variant, r *result) string {
		if v == against {
			return fmt.Sprintf("1 (%s requests/s)", thousands(r.rate()))
		}
		return estimateOf(c.ratios(v, against)).String()
	})
}

// isNotOurs reports whether a variant is no build of Signpost that nginx also does.
func isNotOurs(v variant) bool {
	return v.contender != ours && v.contender != oursBefore || v.what == "304"
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
	for _, contender := range b.contenders() {
		if b.missing[contender.name] != nil {
			continue
		}
		p, err := start(serverCore, manifestPath, func(address string) ([]string, error) { return contender.command(b, s, address) })
		if err != nil {
			b.progress("%s is left out: %v", contender.name, err)
			b.missing[contender.name] = err
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
	b.progress("compare: %d endpoints", endpoints)
	for round := range b.rounds {
		order := slices.Clone(variants)
		if round%2 == 1 {
			slices.Reverse(order) // so that drift over time favours nobody
		}
		for _, v := range order {
			p := running[v.contender]
			if p == nil || !v.near() && round%seldom != 0 {
				continue
			}
			if err := c.measure(v, p, round, b.quick); err != nil {
				return nil, fmt.Errorf("%s: %w", v.name(), err)
			}
		}
	}
	for name, p := range running {
		c.memory[name] = p.peak()
	}
	if c.results[ours] == nil || c.results[bare] == nil {
		return nil, fmt.Errorf("the machine is too busy: %d of %d slices were discarded", c.thrown, c.slices)
	}
	return c, nil
}

// measure takes a slice, and repeats it if the machine was busy with something else, unless the run is a quick one.
func (c *comparison) measure(v variant, p *process, round int, quick bool) error {
	for range tries {
		s, err := runSlice(p, append([]string{"-H", "Host: " + loadHost}, asked[v.what]...)...)
		if err != nil {
			return err
		}
		if s.failed != "" {
			return errors.New(s.failed)
		}
		c.slices++
		if s.disturbed > maxDisturbed && !quick {
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
		r.cpu = append(r.cpu, s.cpu.Seconds())
		return nil
	}
	return nil // leave it out of this round
}

// versions lists the versions of all programs.
func (b *bench) versions() []string {
	found := []string{"wrk " + versionOf("wrk", "-v")}
	for _, c := range b.contenders() {
		if c.version == nil || b.missing[c.name] != nil {
			continue
		}
		program := c.version[0]
		if path, err := findProgram(program); err == nil {
			if text := program + " " + versionOf(path, c.version[1:]...); !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	}
	return found
}

// versionOf extracts the version from the output of a program.
func versionOf(program string, args ...string) string {
	out, _ := exec.Command(program, args...).CombinedOutput() // wrk -v exits with 1
	for _, word := range strings.FieldsFunc(string(out), func(r rune) bool { return strings.ContainsRune(" \n/", r) }) {
		if version := strings.TrimPrefix(strings.TrimPrefix(word, "go"), "v"); version != "" && version[0] >= '0' && version[0] <= '9' {
			return version
		}
	}
	return "of an unknown version"
}
