package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// micro lists the benchmarks of single operations, with their names on the page. make benchstat compares them with
// bench/baseline.txt.
var micro = []struct{ benchmark, what string }{
	{"Serve/hit_plain", "serve a cached manifest"},
	{"Serve/hit_gzip", "the same, gzip"},
	{"Serve/hit_304", "the same, 304"},
	{"Serve/hit_embedded", "the same, embedded in another service"},
	{"Serve/miss_plain", "serve a manifest for a new host"},
	{"Serve/miss_gzip", "the same, gzip"},
	{"Serve/bare", "bare handler that writes constant bytes"},
	{"Observe", "metrics and log, per response"},
	{"Render/template/endpoints=10", "render 10 endpoints"},
	{"Render/template/endpoints=1000", "render 1000 endpoints"},
	{"Match/1000-endpoints", "match a feed against 1000 endpoints"},
	{"Decode", "decode the context keys of a request"},
}

const microFile = "bin/bench/benchmarks.txt"

type microResult struct {
	nanoseconds, bytes, allocations float64
}

// runMicro runs the benchmarks and stores their output for benchstat.
func (b *bench) runMicro() (map[string]microResult, error) {
	b.say("running the benchmarks of single operations")
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark(Serve|Observe|Render|Match|Decode)$", "-benchmem",
		"-benchtime", b.benchTime, "-count", strconv.Itoa(b.count), ".", "./server", "./contextkeys", "./internal/daemon")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(microFile), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(microFile, out, 0o644); err != nil {
		return nil, err
	}
	return parseMicro(out)
}

var microLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op.*?\s([\d.]+) B/op\s+([\d.]+) allocs/op`)

// parseMicro returns the medians.
func parseMicro(out []byte) (map[string]microResult, error) {
	all := make(map[string][3][]float64)
	for _, m := range microLine.FindAllSubmatch(out, -1) {
		values := all[string(m[1])]
		for i := range values {
			v, err := strconv.ParseFloat(string(m[i+2]), 64)
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], v)
		}
		all[string(m[1])] = values
	}
	results := make(map[string]microResult)
	for _, m := range micro {
		values, ok := all[m.benchmark]
		if !ok {
			return nil, fmt.Errorf("no benchmark %s in\n%s", m.benchmark, out)
		}
		for i := range values {
			slices.Sort(values[i])
		}
		results[m.benchmark] = microResult{median(values[0]), median(values[1]), median(values[2])}
	}
	return results, nil
}

func microTable(results map[string]microResult) string {
	var out bytes.Buffer
	out.WriteString("| operation | time | memory | allocations |\n|---|---|---|---|\n")
	for _, m := range micro {
		r := results[m.benchmark]
		fmt.Fprintf(&out, "| %s | %s | %s B | %.0f |\n", m.what, seconds(r.nanoseconds/1e9), thousands(r.bytes), r.allocations)
	}
	return out.String()
}

// seconds formats a time with at most three digits.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s):
		return notMeasured
	case s < 1e-6:
		return fmt.Sprintf("%.0f ns", s*1e9)
	case s < 1e-3:
		return digits(s*1e6) + " µs"
	case s < 1:
		return digits(s*1e3) + " ms"
	default:
		return digits(s) + " s"
	}
}

func digits(f float64) string {
	if f < 9.95 {
		return fmt.Sprintf("%.1f", f)
	}
	return thousands(f)
}

// thousands formats an integer with digit groups.
func thousands(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	var groups []string
	for len(s) > 3 {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, groups...), " ")
}

func megabytes(n float64) string { return digits(n/1e6) + " MB" }
