package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/match"
)

// Measures. All except memory are in seconds.
const (
	startUp  = "start to first response"
	linting  = "lint"
	render   = "render"
	matching = "match"
	atStart  = "memory at start"
	atMost   = "peak memory"
	perGroup = 100 // endpoints per service when the number of services grows
)

var measures = []string{startUp, linting, render, matching, atStart, atMost}

// growth holds the measures as a function of a number.
type growth struct {
	of     string // "endpoints" or "services"
	points []point
}

type point struct {
	n      int
	values map[string]float64 // by measure
}

// growEndpoints measures one service with an increasing number of endpoints.
func (b *bench) growEndpoints() (*growth, error) {
	g := &growth{of: "endpoints"}
	for _, n := range b.growTo([]int{10, 100, 1000, 10_000, 100_000}) {
		b.progress("growth: %d endpoints", n)
		if err := g.add(b, n, [][]byte{service(0, n)}, n); err != nil {
			return nil, err
		}
	}
	b.progress("")
	return g, nil
}

// growServices measures an increasing number of services of typical size.
func (b *bench) growServices() (*growth, error) {
	g := &growth{of: "services"}
	for _, n := range b.growTo([]int{1, 10, 100, 1000}) {
		b.progress("growth: %d services", n)
		var texts [][]byte
		for i := range n {
			texts = append(texts, service(i+1, perGroup))
		}
		if err := g.add(b, n, texts, n*perGroup); err != nil {
			return nil, err
		}
	}
	b.progress("")
	return g, nil
}

func (g *growth) add(b *bench, n int, texts [][]byte, endpoints int) error {
	values := make(map[string]float64)
	var files []*definition.File
	values[linting] = timed(func() error {
		files = nil
		for i, text := range texts {
			files = append(files, definition.Parse(fmt.Sprintf("s%d.yaml", i), text))
		}
		if findings := definition.Lint(files...); len(findings) > 0 {
			return fmt.Errorf("%v", findings[0])
		}
		return nil
	})
	var templates []*signpost.Template
	var versions []signpost.Version
	for _, file := range files {
		compiled, err := file.Compile(nil)
		if err != nil {
			return err
		}
		templates = append(templates, compiled["v1"])
		manifests, err := file.Manifests(nil)
		if err != nil {
			return err
		}
		versions = append(versions, manifests...)
	}
	values[render] = timed(func() error {
		for _, t := range templates {
			if _, err := t.Render(loadHost); err != nil {
				return err
			}
		}
		return nil
	})
	index := match.NewIndex(versions...)
	const matches = 1000
	base, last := "", endpoints-1
	if len(texts) > 1 || g.of == "services" {
		base, last = fmt.Sprint("/s", len(texts)), perGroup-1
	}
	feed := fmt.Sprintf("https://{{host}}%s/v1/feeds/%d/4711", base, last)
	values[matching] = timed(func() error {
		for range matches {
			if _, ok := index.Match(feed); !ok {
				return fmt.Errorf("no endpoint answers %s", feed)
			}
		}
		return nil
	}) / matches
	if err := b.serveGrown(texts, base, values); err != nil {
		return err
	}
	g.points = append(g.points, point{n, values})
	return nil
}

// serveGrown measures a separate server.
func (b *bench) serveGrown(texts [][]byte, base string, values map[string]float64) error {
	dir, err := os.MkdirTemp(b.dir, "grown-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for i, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.yaml", i)), text, 0o644); err != nil {
			return err
		}
	}
	values[startUp] = math.Inf(1)
	for began := time.Now(); ; {
		p, err := b.serve(anyCore, base+manifestPath, dir)
		if err != nil {
			return err
		}
		values[startUp] = min(values[startUp], p.startUp.Seconds())
		values[atStart], values[atMost] = float64(p.memory()), float64(p.peak())
		p.stop()
		if time.Since(began) > time.Second {
			return nil
		}
	}
}

// timed returns the run time of the fastest call in seconds: other load only adds to it. NaN means an error, which is
// printed.
func timed(f func() error) float64 {
	best := math.Inf(1)
	for began, calls := time.Now(), 0; calls < 3 || time.Since(began) < 500*time.Millisecond; calls++ {
		runtime.GC() // do not charge this call for earlier garbage
		start := time.Now()
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return math.NaN()
		}
		best = min(best, time.Since(start).Seconds())
		if time.Since(began) > 15*time.Second {
			break
		}
	}
	return best
}

// constant returns the cost of one more in the last decade, and the growth exponent there: 1 is linear, 0 is constant.
func (g *growth) constant(measure string) (each, exponent float64) {
	if len(g.points) < 2 {
		return math.NaN(), math.NaN()
	}
	last, before := g.points[len(g.points)-1], g.points[len(g.points)-2]
	more := float64(last.n - before.n)
	each = (last.values[measure] - before.values[measure]) / more
	exponent = math.Log(last.values[measure]/before.values[measure]) / math.Log(float64(last.n)/float64(before.n))
	return each, exponent
}
