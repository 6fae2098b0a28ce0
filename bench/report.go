package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

var sizes = []int{10, 100, 1000}

// runCompare measures all contenders at all sizes, and returns the tables and the plot.
func (b *bench) runCompare() (string, map[string][]byte, error) {
	startUps, err := b.startUps()
	if err != nil {
		return "", nil, err
	}
	example, err := b.example()
	if err != nil {
		return "", nil, err
	}
	var all []*comparison
	for _, size := range b.comparedSizes() {
		c, err := b.compare(size)
		if err != nil {
			return "", nil, err
		}
		all = append(all, c)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "On %s, %s:\n%s.\n", time.Now().Format("2 January 2006"), machine(), strings.Join(b.versions(), ", "))
	slices, thrown := 0, 0
	for _, c := range all {
		slices, thrown = slices+c.slices, thrown+c.thrown
	}
	fmt.Fprintf(&out, "%d slices of %v, %d of them discarded.\n\n", slices, sliceTime, thrown)
	out.WriteString("![Requests per second, relative to bare net/http](performance.svg)\n\n")
	out.WriteString("Requests per second, relative to a bare net/http handler that writes the same bytes from memory:\n\n")
	out.WriteString(ratioTable(all, bare))
	out.WriteString("\nWith gzip, relative to the same handler with precompressed bytes:\n\n")
	out.WriteString(ratioTable(all, bareGzip))
	out.WriteString("\nLatency at full load on 32 connections, p50 and p99:\n\n")
	out.WriteString(latencyTable(all))
	out.WriteString("\nPeak memory under the same load, and time from start to first response:\n\n")
	out.WriteString(memoryTable(all, startUps))
	fmt.Fprintf(&out, "\nThe built-in example with the admin listener takes %s to its first response and %s of memory. The binary is %s.\n",
		seconds(example.startUp.Seconds()), megabytes(float64(example.memory)), megabytes(float64(example.binary)))
	out.WriteString("\n" + goals(all, example))
	return out.String(), map[string][]byte{"docs/performance.svg": comparePlot(all)}, nil
}

func (b *bench) comparedSizes() []int {
	if b.quick {
		return sizes[:1]
	}
	return sizes
}

func columns(all []*comparison) string {
	header, rule := "| |", "|---|"
	for _, c := range all {
		header += fmt.Sprintf(" %d endpoints, %s |", c.endpoints, kilobytes(c.bytes))
		rule += "---|"
	}
	return header + "\n" + rule + "\n"
}

func kilobytes(n int) string { return digits(float64(n)/1000) + " kB" }

func bold(name string) string {
	if strings.HasPrefix(name, ours) {
		return "**" + name + "**"
	}
	return name
}

func ratioTable(all []*comparison, against string) string {
	var out bytes.Buffer
	out.WriteString(columns(all))
	for _, v := range variants {
		if v.against != against {
			continue
		}
		row, there := "| "+bold(v.name())+" |", false
		for _, c := range all {
			r := c.results[v.name()]
			switch {
			case r == nil:
				row += " – |"
				continue
			case v.name() == against:
				row += fmt.Sprintf(" 1 (%s requests/s) |", thousands(medianRate(r)))
			default:
				row += fmt.Sprintf(" %v |", r.ratio())
			}
			there = true
		}
		if there {
			out.WriteString(row + "\n")
		}
	}
	return out.String()
}

func medianRate(r *result) float64 {
	var rates []float64
	for _, rate := range r.rates {
		rates = append(rates, rate)
	}
	return estimateOf(rates).median
}

func latencyTable(all []*comparison) string {
	var out bytes.Buffer
	out.WriteString(columns(all))
	for _, v := range variants {
		row, there := "| "+bold(v.name())+" |", false
		for _, c := range all {
			r := c.results[v.name()]
			if r == nil {
				row += " – |"
				continue
			}
			there = true
			row += fmt.Sprintf(" %s, %s |", seconds(estimateOf(r.p50).median), seconds(estimateOf(r.p99).median))
		}
		if there {
			out.WriteString(row + "\n")
		}
	}
	return out.String()
}

func memoryTable(all []*comparison, startUps map[string]time.Duration) string {
	var out bytes.Buffer
	header, rule, found := strings.Cut(strings.TrimSpace(columns(all)), "\n")
	if !found {
		return ""
	}
	fmt.Fprintf(&out, "%s start |\n%s---|\n", header, rule)
	for _, c := range contenders {
		if _, ok := startUps[c.name]; !ok {
			continue
		}
		fmt.Fprintf(&out, "| %s |", bold(c.name))
		for _, comparison := range all {
			fmt.Fprintf(&out, " %s |", megabytes(float64(comparison.memory[c.name])))
		}
		fmt.Fprintf(&out, " %s |\n", seconds(startUps[c.name].Seconds()))
	}
	return out.String()
}

// versions lists the versions of all programs.
func (b *bench) versions() []string {
	found := []string{"wrk " + versionOf("wrk", "-v")}
	for _, c := range contenders {
		if c.version == nil || b.missing[c.name] != nil {
			continue
		}
		program := c.version[0]
		if path, err := findProgram(program, map[string]string{"nginx": "usr/sbin/nginx", "caddy": "usr/bin/caddy"}[program]); err == nil {
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

// example holds the results of the built-in example, as a new user starts it.
type example struct {
	startUp        time.Duration
	memory, binary int
}

func (b *bench) example() (*example, error) {
	info, err := os.Stat(b.signpost)
	if err != nil {
		return nil, err
	}
	e := &example{startUp: math.MaxInt64, binary: int(info.Size())}
	for range starts {
		p, err := b.serve(serverCore, manifestPath)
		if err != nil {
			return nil, err
		}
		e.startUp = min(e.startUp, p.startUp)
		e.memory = max(e.memory, p.memory())
		p.stop()
	}
	return e, nil
}

// goals compares the results with the goals.
func goals(all []*comparison, e *example) string {
	var out bytes.Buffer
	out.WriteString("| goal | measured | |\n|---|---|---|\n")
	row := func(goal, measured string, met bool) {
		verdict := "met"
		switch {
		case strings.Contains(measured, notMeasured):
			verdict = "not measured"
		case !met:
			verdict = "**not met**"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", goal, measured, verdict)
	}
	ratioOf := func(c *comparison, name, other string) float64 {
		a, b := c.results[name], c.results[other]
		if a == nil || b == nil {
			return math.NaN()
		}
		return medianRate(a) / medianRate(b)
	}
	each := func(goal string, measure func(*comparison) float64, met func(*comparison, float64) bool) {
		var texts []string
		ok := true
		for _, c := range all {
			m := measure(c)
			texts = append(texts, ratio(m))
			ok = ok && met(c, m)
		}
		row(goal, strings.Join(texts, ", "), ok)
	}
	inPairs := func(name string) func(*comparison) float64 {
		return func(c *comparison) float64 { return c.results[name].ratio().median }
	}
	each("at least 0.97 times bare net/http", inPairs(ours), func(_ *comparison, m float64) bool { return m >= 0.97 })
	each("at least 0.97 times bare net/http with precompressed bytes", inPairs(ours+", gzip"), func(_ *comparison, m float64) bool { return m >= 0.97 })
	each("304 responses at least as fast as bare net/http", inPairs(ours+", 304"), func(_ *comparison, m float64) bool { return m >= 1 })
	wanted := map[int]float64{10: 15, 100: 50, 1000: 100}
	each("at least 15, 50 and 100 times Express", func(c *comparison) float64 { return ratioOf(c, ours, express) },
		func(c *comparison, m float64) bool { return m >= wanted[c.endpoints] })
	each("at least as fast as the fastest other dynamic server", func(c *comparison) float64 {
		least := math.NaN()
		for _, v := range variants {
			if name := v.name(); v.contender != ours && v.contender != bare && !isControl(v.contender) && c.results[name] != nil {
				mine := ours
				if v.what != "" {
					mine += ", " + v.what
				}
				if r := ratioOf(c, mine, name); !(r >= least) { // also if least is NaN
					least = r
				}
			}
		}
		return least
	}, func(_ *comparison, m float64) bool { return m >= 1 })
	p99 := func(c *comparison, name string) float64 {
		if c.results[name] == nil {
			return math.NaN()
		}
		return estimateOf(c.results[name].p99).median
	}
	row(fmt.Sprintf("p99 at %d endpoints at most that of nginx, tuned", all[0].endpoints), seconds(p99(all[0], ours))+", nginx "+seconds(p99(all[0], nginxTuned)),
		p99(all[0], ours) <= p99(all[0], nginxTuned))
	row("first response of the built-in example within 50 ms of its start", seconds(e.startUp.Seconds()), e.startUp < 50*time.Millisecond)
	row("memory of the built-in example below 25 MB", megabytes(float64(e.memory)), e.memory < 25e6)
	return out.String()
}

// runGrowth measures how everything scales, and returns the tables and the plot.
func (b *bench) runGrowth() (string, map[string][]byte, error) {
	endpoints, err := b.growEndpoints()
	if err != nil {
		return "", nil, err
	}
	services, err := b.growServices()
	if err != nil {
		return "", nil, err
	}
	costs, err := b.measureGoals()
	if err != nil {
		return "", nil, err
	}
	text := "![Time and memory by number of endpoints and services](growth.svg)\n\n" +
		"One service with an increasing number of endpoints:\n\n" + growthTable(endpoints) +
		fmt.Sprintf("\nAn increasing number of services with %d endpoints each. \"Render\" renders all manifests; \"match\" matches a feed against the endpoints of all services:\n\n", perGroup) +
		growthTable(services) +
		"\nCPU time of dirty input beside clean input: an increasing number of what the row names, parsed and linted with everything registered together, or compared:\n\n" +
		b.dirtyTable() +
		fmt.Sprintf("\nThe goals for large sets of definitions, before, in %s, and now:\n\n", b.describeBefore()) + goalsTable(costs)
	return text, map[string][]byte{"docs/growth.svg": growthPlot(endpoints, services)}, nil
}

func growthTable(g *growth) string {
	var out bytes.Buffer
	header, rule := "| "+g.of+" |", "|---|"
	for _, p := range g.points {
		header += fmt.Sprintf(" %s |", thousands(float64(p.n)))
		rule += "---|"
	}
	fmt.Fprintf(&out, "%s per additional one | exponent |\n%s---|---|\n", header, rule)
	for _, measure := range measures {
		unit := seconds
		if measure == atStart || measure == atMost {
			unit = memory
		}
		fmt.Fprintf(&out, "| %s |", measure)
		for _, p := range g.points {
			fmt.Fprintf(&out, " %s |", unit(p.values[measure]))
		}
		each, exponent := g.constant(measure)
		text := "nothing"
		if exponent > 0.2 {
			text = unit(each)
		}
		fmt.Fprintf(&out, " %s | %.1f |\n", text, max(exponent, 0))
	}
	return out.String()
}

func memory(n float64) string {
	if n < 1e6 {
		return digits(n/1e3) + " kB"
	}
	return megabytes(n)
}
