package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"
	"time"

	"signpost"
	"signpost/definition"
	"signpost/diff"
)

// dirt is input with mistakes whose size depends on a number of endpoints, fields, comments or keys.
type dirt struct {
	name string
	make func(n int) func() int // returns the function to measure for n, which returns the number of findings or changes
}

// dirty starts with the clean input. The others contain what could be compared pairwise.
var dirty = []dirt{
	{"endpoints without a mistake", linted(func(n int) []string { return []string{string(service(0, n))} })},
	{"services that take feeds from each other", linted(func(n int) []string {
		var texts []string
		for i := range n / perService {
			texts = append(texts, fmt.Sprintf("base_path: /s%d\n", i)+endpointsOf(perService, func(j int) string {
				return fmt.Sprintf("https://{{host}}/feeds/%d/%d: {name: F%[2]d, method: get, mime_type: application/json}", j, i)
			}))
		}
		return append(texts, "base_path: /all\n"+endpointsOf(perService, func(j int) string {
			return fmt.Sprintf("https://{{host}}/feeds/%d: {name: A%[1]d, method: get, mime_type: application/json, context_obj: [{key: profile, type: ctx, required: true}]}", j)
		}))
	})},
	{"endpoints with a mistake, on one line", linted(func(n int) []string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, `, "https://{{host}}/f%d": {"name": "F%[1]d", "method": "put", "mime_type": "application/json"}`, i)
		}
		return []string{`{"versions": {"v1": {"endpoints": {` + strings.TrimPrefix(out.String(), ", ") + "}}}}"}
	})},
	{"unknown fields", linted(func(n int) []string {
		return []string{lines(n, func(i int) string { return fmt.Sprintf("field%d: 1", i) }) + "versions: {v1: {endpoints: {}}}\n"}
	})},
	{"versions whose URLs name another", linted(func(n int) []string {
		return []string{"versions:\n" + lines(n, func(i int) string {
			return fmt.Sprintf("  v%d: {endpoints: {'https://{{host}}/v%d/feed': {name: F, method: get, mime_type: application/json}}}", i, (i+1)%n)
		})}
	})},
	{"comments that allow nothing", linted(func(n int) []string {
		return []string{lines(n, func(int) string { return "# signpost: allow plain-http because of it" }) + "versions: {v1: {endpoints: {}}}\n"}
	})},
	{"URLs that begin alike", linted(func(n int) []string {
		return []string{endpointsOf(n, func(i int) string {
			return fmt.Sprintf("https://{{host}}/v1/feed%d: {name: F%[1]d, method: %s, mime_type: application/json}", i, []string{"get", "post"}[i%2])
		})}
	})},
	{"URLs with a placeholder that begin alike", linted(func(n int) []string {
		return []string{endpointsOf(n, func(i int) string {
			return fmt.Sprintf("https://{{host}}/v1/{{id}}/part%d: {name: F%[1]d, method: get, mime_type: application/json, context_obj: [{key: k%[1]d, type: ctx}]}", i)
		})}
	})},
	{"hosts that collide", linted(func(n int) []string {
		return []string{endpointsOf(n, func(i int) string {
			return fmt.Sprintf("https://a%d.%s/a: {name: F%d, method: get, mime_type: application/json}", i/2, []string{"{{host}}", "example"}[i%2], i)
		})}
	})},
	{"context keys of nested endpoints", linted(func(n int) []string {
		return []string{endpointsOf(3, func(i int) string {
			var items []string
			for j := range n / (i + 1) {
				items = append(items, fmt.Sprintf("{key: user_account.preferences.k%d, type: ctx, required: false}", j))
			}
			return fmt.Sprintf("https://{{host}}%s: {name: F%d, method: get, mime_type: application/json, context_obj: [%s]}", strings.Repeat("/a", i+1), i, strings.Join(items, ", "))
		})}
	})},
	{"diff, every endpoint changed", compared(
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/feeds/%d", i) },
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/feeds/%d", i) })},
	{"diff, every endpoint moved", compared(
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/feeds/%d", i) },
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/lists/%d", i) })},
	{"diff, feeds of every endpoint taken over", compared(
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/{{id}}/%d", i) },
		func(i int) string { return fmt.Sprintf("https://{{host}}/v1/sport/%d", i) })},
}

// perService is the number of endpoints of each of the services that take feeds from each other.
const perService = 10

// lines returns n lines.
func lines(n int, line func(i int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(line(i) + "\n")
	}
	return out.String()
}

// endpointsOf returns a definition with n endpoints.
func endpointsOf(n int, endpoint func(i int) string) string {
	return "versions:\n  v1:\n    endpoints:\n" + lines(n, func(i int) string { return "      " + endpoint(i) })
}

// linted measures how long it takes to parse and lint definitions that are registered together.
func linted(texts func(n int) []string) func(n int) func() int {
	return func(n int) func() int {
		all := texts(n)
		return func() int {
			var files []*definition.File
			for i, text := range all {
				files = append(files, definition.Parse(fmt.Sprintf("s%d", i), []byte(text)))
			}
			return len(definition.Lint(files...))
		}
	}
}

// compared measures how long it takes to compare two states of a service that differ in the method.
func compared(oldURL, newURL func(i int) string) func(n int) func() int {
	return func(n int) func() int {
		of := func(url func(i int) string, method string) []signpost.Version {
			var m signpost.Manifest
			for i := range n {
				m.Endpoints = append(m.Endpoints, signpost.Endpoint{
					URL: url(i), Name: fmt.Sprint("F", i), Method: method, MIMEType: signpost.MIMEJSON,
					ContextObj: []signpost.ContextItem{{Key: "profile", Type: signpost.ContextCtx}},
				})
			}
			return []signpost.Version{{Name: "v1", Manifest: m}}
		}
		before, after := of(oldURL, signpost.MethodGet), of(newURL, signpost.MethodPost)
		return func() int {
			return len(diff.Diff(signpost.Service{Versions: before}, signpost.Service{Versions: after}))
		}
	}
}

// cpuTime returns the CPU time of the fastest call in seconds. It includes garbage collection, but not other load.
func cpuTime(work func() int) float64 {
	used := func() float64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return math.NaN()
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	best := math.Inf(1)
	for began, calls := time.Now(), 0; calls < 3 || time.Since(began) < 200*time.Millisecond; calls++ {
		runtime.GC() // do not charge this call for earlier garbage
		before := used()
		work()
		best = min(best, used()-before)
	}
	return best
}

// dirtyTable measures all inputs, and returns a table with the growth exponent of each in the largest decade.
func (b *bench) dirtyTable() string {
	sizes := b.growTo([]int{100, 1000, 10_000})
	var out bytes.Buffer
	out.WriteString("| input |")
	for _, n := range sizes {
		fmt.Fprintf(&out, " %s |", thousands(float64(n)))
	}
	fmt.Fprintf(&out, " each | exponent |\n|---|%s---|---|\n", strings.Repeat("---|", len(sizes)))
	for _, d := range dirty {
		b.progress("growth: %s", d.name)
		g := &growth{}
		fmt.Fprintf(&out, "| %s |", d.name)
		for _, n := range sizes {
			took := cpuTime(d.make(n))
			g.points = append(g.points, point{n, map[string]float64{d.name: took}})
			fmt.Fprintf(&out, " %s |", seconds(took))
		}
		last := g.points[len(g.points)-1]
		_, exponent := g.constant(d.name)
		text := "–" // one size only
		if !math.IsNaN(exponent) {
			text = fmt.Sprintf("%.1f", max(exponent, 0))
		}
		fmt.Fprintf(&out, " %s | %s |\n", seconds(last.values[d.name]/float64(last.n)), text)
	}
	b.progress("")
	return out.String()
}
