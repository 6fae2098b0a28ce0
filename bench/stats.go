package main

import (
	"fmt"
	"math"
	"slices"
)

// estimate is a median, with the interval that it lies in with a probability of 95 per cent. The interval is made of two of
// the values, so that it asks nothing of how they are distributed.
type estimate struct {
	median, low, high float64
	n                 int
}

func estimateOf(values []float64) estimate {
	if len(values) == 0 {
		return estimate{median: math.NaN(), low: math.NaN(), high: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	e := estimate{median: median(sorted), n: n}
	k := medianRank(n)
	e.low, e.high = sorted[k], sorted[n-1-k]
	return e
}

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// medianRank returns the largest k for which the median lies between the kth value from below and from above, counted
// from 0, with 95 per cent. Each value is below the median with probability 1/2. For fewer than six values none is
// large enough: it is 0, all of them.
func medianRank(n int) int {
	tail, term := 0.0, math.Pow(0.5, float64(n)) // the probability of up to i, and of i, values below
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
	if e.n == 0 {
		return notMeasured
	}
	return fmt.Sprintf("%s (%s–%s)", ratio(e.median), ratio(e.low), ratio(e.high))
}

const notMeasured = "–"

// ratio writes a ratio with the digits that mean something.
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
