package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Measures of growth, in seconds or bytes.
const (
	linting    = "lint"
	startUp    = "start to first response"
	oneChange  = "one changed file served"
	reloading  = "all files reloaded"
	slowest    = "slowest response meanwhile"
	atRest     = "memory at rest"
	atMost     = "peak memory"
	perService = 21 // endpoints per service when the number of services grows
)

var measures = []string{linting, startUp, oneChange, reloading, slowest, atRest, atMost}

func unitOf(measure string) func(float64) string {
	if measure == atRest || measure == atMost {
		return megabytes
	}
	return seconds
}

// growth holds the measures of a build as a function of a number.
type growth struct {
	of     string // "endpoints" or "services"
	build  string
	points []point
}

type point struct {
	n      int
	values map[string]float64 // by measure
}

// each returns the cost of one more between the two largest sizes, and the exponent of the growth there: 1 is linear, 0
// is constant.
func (g *growth) each(measure string) (cost, exponent float64) {
	last, before := g.points[len(g.points)-1], g.points[len(g.points)-2]
	cost = (last.values[measure] - before.values[measure]) / float64(last.n-before.n)
	return cost, math.Log(last.values[measure]/before.values[measure]) / math.Log(float64(last.n)/float64(before.n))
}

// scales are the numbers that grow, each with the title of its table and the sizes to measure.
var scales = []struct {
	of, title string
	sizes     []int
}{
	{"endpoints", "One service with an increasing number of endpoints", []int{10, 100, 1000, 10_000, 100_000}},
	{"services", fmt.Sprintf("An increasing number of services with %d endpoints each", perService), []int{2, 20, 200, 2000}},
}

// runGrowth measures how everything grows, and returns the tables.
func (b *bench) runGrowth() ([]section, error) {
	var sections []section
	for _, build := range b.builds() {
		var out bytes.Buffer
		for _, scale := range scales {
			if b.quick {
				scale.sizes = scale.sizes[:2]
			}
			g := &growth{of: scale.of, build: build[0]}
			for _, n := range scale.sizes {
				if err := b.grow(g, build[1], n); err != nil {
					return nil, err
				}
			}
			fmt.Fprintf(&out, "\n%s:\n\n%s", scale.title, growthTable(g))
		}
		if build[0] == ours {
			sections = append(sections, section{"growth", out.String()})
		} else {
			sections = append(sections, section{"", "\n" + build[0] + ":\n" + out.String()})
		}
	}
	return sections, nil
}

func growthTable(g *growth) string {
	rows := [][]string{{g.of}}
	for _, p := range g.points {
		rows[0] = append(rows[0], thousands(float64(p.n)))
	}
	rows[0] = append(rows[0], "one more", "exponent")
	for _, measure := range measures {
		row := []string{measure}
		for _, p := range g.points {
			row = append(row, unitOf(measure)(p.values[measure]))
		}
		cost, exponent := g.each(measure)
		more := unitOf(measure)(cost)
		switch {
		case exponent < 0.2:
			more, exponent = "nothing", 0
		case cost > 1 && cost < 1e6: // of memory
			more = kilobytes(cost)
		}
		rows = append(rows, append(row, more, fmt.Sprintf("%.1f", exponent)))
	}
	return markdown(rows)
}

// grow adds the measures of one size: a service at the root with n endpoints, or n services under paths of their own.
func (b *bench) grow(g *growth, program string, n int) error {
	b.progress("%s: %d %s", g.build, n, g.of)
	dir, err := os.MkdirTemp(b.dir, "grown-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	numbers, path, endpoints := []int{0}, manifestPath, n
	if g.of == "services" {
		numbers, endpoints = nil, perService
		for i := range n {
			numbers = append(numbers, i+1)
		}
		path = fmt.Sprintf("/s%d%s", n, manifestPath)
	}
	// write replaces definitions atomically, as a deployment does. Another name gives other manifests.
	write := func(name string, numbers ...int) error {
		for _, number := range numbers {
			text := bytes.ReplaceAll(service(number, endpoints), []byte("name: Feed"), []byte("name: "+name))
			file := filepath.Join(dir, fmt.Sprintf("s%d.yaml", number))
			if err := os.WriteFile(file+".new", text, 0o644); err != nil {
				return err
			}
			if err := os.Rename(file+".new", file); err != nil {
				return err
			}
		}
		return nil
	}
	if err := write("Feed", numbers...); err != nil {
		return err
	}

	serve := func(address string) ([]string, error) {
		return []string{program, "serve", "--listen", address, dir}, nil
	}
	values := make(map[string]float64)
	values[linting], err = fastest(func() (time.Duration, error) {
		began := time.Now()
		out, err := exec.Command(program, "lint", dir).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("signpost lint: %v\n%.1000s", err, out)
		}
		return time.Since(began), err
	})
	if err != nil {
		return err
	}
	values[startUp], err = fastest(func() (time.Duration, error) {
		p, err := start(anyCore, path, serve)
		if err != nil {
			return 0, err
		}
		p.stop()
		return p.startUp, nil
	})
	if err != nil {
		return err
	}

	p, err := start(anyCore, path, serve)
	if err != nil {
		return err
	}
	defer p.stop()
	time.Sleep(5 * time.Second) // until the server has released what reading took
	values[atRest] = float64(p.memory())
	last := numbers[len(numbers)-1]
	if values[oneChange], _, err = changed(p, func() error { return write("Changed", last) }); err != nil {
		return err
	}
	if values[reloading], values[slowest], err = changed(p, func() error { return write("Reloaded", numbers...) }); err != nil {
		return err
	}
	values[atMost] = float64(p.peak())
	g.points = append(g.points, point{n, values})
	return nil
}

// fastest returns the minimum of several runs in seconds: other load only adds to it.
func fastest(run func() (time.Duration, error)) (float64, error) {
	best := math.Inf(1)
	for began, runs := time.Now(), 0; runs < 5 && time.Since(began) < 8*time.Second; runs++ {
		took, err := run()
		if err != nil {
			return 0, err
		}
		best = min(best, took.Seconds())
	}
	return best, nil
}

// patience is the maximum time until a changed definition is served.
const patience = 5 * time.Minute

// changed makes a change and requests the manifest until it is another one. It returns the seconds that this took, and
// the longest that a response took meanwhile.
func changed(p *process, change func() error) (took, slowest float64, err error) {
	first, _, err := revision(p)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	written := make(chan error, 1)
	go func() { written <- change() }()
	for time.Since(began) < patience {
		now, response, err := revision(p)
		if err != nil {
			return 0, 0, err
		}
		slowest = max(slowest, response.Seconds())
		if now != first {
			return time.Since(began).Seconds(), slowest, <-written
		}
		time.Sleep(time.Millisecond)
	}
	return 0, 0, fmt.Errorf("a change is not served at %s within %v", p.url, patience)
}

// revision requests a manifest without its body.
func revision(p *process) (string, time.Duration, error) {
	began := time.Now()
	header, _, err := get(keepAlive, http.StatusNotModified, p.url, loadHost, http.Header{"If-None-Match": {"*"}})
	return header.Get("Signpost-Revision"), time.Since(began), err
}

// service returns the definition of a service at /s{number}, or at the root for 0, whose manifest has about 560 bytes
// per endpoint: typical names, the context key of a feature, and two modifiers.
func service(number, endpoints int) []byte {
	var out bytes.Buffer
	base := ""
	if number > 0 {
		base = fmt.Sprintf("/s%d", number)
		fmt.Fprintf(&out, "base_path: %s\n", base)
	}
	out.WriteString(`enable: [geo-restriction]
modifiers:
  limit: {kind: number, id: limit, name: Page size, key: limit, label: Items per page, defaultValue: 20}
versions:
  v1:
    endpoints:
`)
	for i := range endpoints {
		fmt.Fprintf(&out, `      https://{{host}}%s/v1/feeds/%d/{{id}}:
        name: Feed %d
        method: get
        mime_type: application/json
        modifiers:
          - limit
          - {kind: select, id: sort, name: Sort order, key: sort, label: Sort by, options: [{value: newest, label: Newest first}, {value: title, label: Title}]}
`, base, i, i)
	}
	return out.Bytes()
}
