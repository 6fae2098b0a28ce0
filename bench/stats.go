package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// estimate is a median with its 95 % confidence interval. The bounds are order statistics, so no distribution is
// assumed.
type estimate struct{ median, low, high float64 }

func estimateOf(values []float64) estimate {
	if len(values) == 0 {
		return estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	k := medianRank(n)
	return estimate{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[k], sorted[n-1-k]}
}

// medianRank returns the largest k such that the k-th smallest and the k-th largest value, counted from 0, bound a 95 %
// confidence interval of the median. Each value is below the median with probability 1/2. Fewer than six values are not
// enough; then k is 0 and the interval spans all values.
func medianRank(n int) int {
	tail, term := 0.0, math.Pow(0.5, float64(n)) // the probability of at most i values below the median, and of exactly i
	for i := range n {
		if tail+term > 0.025 {
			return max(i-1, 0)
		}
		tail += term
		term *= float64(n-i) / float64(i+1)
	}
	return 0
}

func (e estimate) String() string {
	if math.IsNaN(e.median) {
		return notMeasured
	}
	return fmt.Sprintf("%s (%s–%s)", ratio(e.median), ratio(e.low), ratio(e.high))
}

const notMeasured = "–"

// ratio formats a ratio with its significant digits.
func ratio(r float64) string {
	switch {
	case math.IsNaN(r):
		return notMeasured
	case r < 0.1:
		return fmt.Sprintf("%.3f", r)
	case r < 10:
		return fmt.Sprintf("%.2f", r)
	default:
		return fmt.Sprintf("%.0f", r)
	}
}

// seconds formats a time with at most three digits.
func seconds(s float64) string {
	switch {
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

func kilobytes(n float64) string { return digits(n/1e3) + " kB" }
func megabytes(n float64) string { return digits(n/1e6) + " MB" }

func digits(f float64) string {
	if f < 9.95 {
		return fmt.Sprintf("%.1f", f)
	}
	return thousands(f)
}

// thousands formats an integer with digit groups.
func thousands(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// markdown formats a table. The first row is its header.
func markdown(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			out.WriteString(strings.TrimSuffix("| "+cell, " ") + " ")
		}
		out.WriteString("|\n")
		if i == 0 {
			out.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return out.String()
}
