package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// goal is a limit on a cost, for the loads that it applies to.
type goal struct {
	text   string
	of     func(load) bool
	value  func(*costs) float64
	limit  float64
	least  bool                         // the limit is a minimum, not a maximum
	format func(*costs, float64) string // formats the value and what it was computed from
}

func anyLoad(load) bool     { return true }
func oneFile(l load) bool   { return l.services == 0 }
func manyFiles(l load) bool { return l.services > 0 }

// costGoals lists the goals for the costs of definitions. The goals for reloading one file apply to the largest size
// that is common.
var costGoals = []goal{
	{
		text: "memory at rest at most 1.5 times the live heap", of: anyLoad, limit: 1.5,
		value: func(c *costs) float64 { return c.rest / c.live },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s of %s)", ratio(v), megabytes(c.rest), megabytes(c.live))
		},
	},
	{
		text: "the same, without what the built-in example takes", of: anyLoad, limit: 1.5,
		value: func(c *costs) float64 { return (c.rest - c.base) / c.live },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s of %s)", ratio(v), megabytes(c.rest-c.base), megabytes(c.live))
		},
	},
	{
		text: "peak memory during a reload of everything at most 2.5 times that at rest", of: anyLoad, limit: 2.5,
		value:  func(c *costs) float64 { return c.peak / c.rest },
		format: func(c *costs, v float64) string { return fmt.Sprintf("%s (%s)", ratio(v), megabytes(c.peak)) },
	},
	{
		text: "less than 0.5 % of a core while nothing changes", of: anyLoad, limit: 0.005,
		value:  func(c *costs) float64 { return c.idle },
		format: func(_ *costs, v float64) string { return fmt.Sprintf("%.2f %%", 100*v) },
	},
	{
		text: "lint at least 1.7 times faster on two cores", of: anyLoad, limit: 1.7, least: true,
		value: func(c *costs) float64 { return c.lintOne / c.lintAll },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s to %s)", ratio(v), seconds(c.lintOne), seconds(c.lintAll))
		},
	},
	{
		text: "start at least 1.7 times faster on two cores", of: anyLoad, limit: 1.7, least: true,
		value: func(c *costs) float64 { return c.startOne / c.startAll },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s to %s)", ratio(v), seconds(c.startOne), seconds(c.startAll))
		},
	},
	{
		text: "lint on one core in at most 2 times the time of the YAML library", of: anyLoad, limit: 2,
		value: func(c *costs) float64 { return c.lintOne / c.yaml },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s to %s)", ratio(v), seconds(c.lintOne), seconds(c.yaml))
		},
	},
	{
		text: "one changed file served within 100 ms of its coming to rest", of: manyFiles, limit: 0.1,
		value:  func(c *costs) float64 { return c.change - restRule.Seconds() },
		format: func(_ *costs, v float64) string { return seconds(v) },
	},
	{
		text: "less than 1 % of the definitions read for that", of: manyFiles, limit: 0.01,
		value: func(c *costs) float64 { return c.changeRead / c.bytes },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%.1f %% (%s of %s)", 100*v, memory(c.changeRead), memory(c.bytes))
		},
	},
	{
		text: "everything reloaded within 2 s", of: func(l load) bool { return oneFile(l) && l.of <= 10_000 }, limit: 2,
		value:  func(c *costs) float64 { return c.reload },
		format: func(_ *costs, v float64) string { return seconds(v) },
	},
	{
		text: "no response more than 20 ms slower during that reload", of: func(l load) bool { return oneFile(l) && l.of <= 10_000 }, limit: 0.02,
		value: func(c *costs) float64 { return c.slowest - c.usual },
		format: func(c *costs, v float64) string {
			return fmt.Sprintf("%s (%s, usually %s)", seconds(v), seconds(c.slowest), seconds(c.usual))
		},
	},
}

// met reports whether a value meets the goal.
func (g goal) met(v float64) bool {
	if g.least {
		return v >= g.limit
	}
	return v <= g.limit
}

// loadCosts holds the costs of a load, before and now. Before is nil if there is no baseline.
type loadCosts struct {
	load
	before, now *costs
}

// measureGoals measures all loads with both programs, alternately.
func (b *bench) measureGoals() ([]loadCosts, error) {
	var all []loadCosts
	before := ""
	if b.before != "" {
		var err error
		if before, err = b.buildRevision(b.before); err != nil {
			b.say("nothing to compare with: %v", err)
			before = ""
		}
	}
	for _, l := range b.loads() {
		c := loadCosts{load: l}
		var err error
		if before != "" {
			b.progress("costs of %s, before", l.name)
			if c.before, err = b.measureCosts(before, l); err != nil {
				return nil, fmt.Errorf("%s, before: %w", l.name, err)
			}
		}
		b.progress("costs of %s", l.name)
		if c.now, err = b.measureCosts(b.signpost, l); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		all = append(all, c)
	}
	b.progress("")
	return all, nil
}

// goalsTable compares the costs with the goals.
func goalsTable(all []loadCosts) string {
	var out bytes.Buffer
	out.WriteString("| goal | definitions | before | now | |\n|---|---|---|---|---|\n")
	for _, g := range costGoals {
		for _, c := range all {
			if !g.of(c.load) {
				continue
			}
			cell := func(c *costs) string {
				if c == nil || math.IsNaN(g.value(c)) {
					return notMeasured
				}
				return g.format(c, g.value(c))
			}
			verdict := "met"
			switch v := g.value(c.now); {
			case math.IsNaN(v):
				verdict = "not measured"
			case !g.met(v):
				verdict = "**not met**"
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", g.text, c.name, cell(c.before), cell(c.now), verdict)
		}
	}
	return out.String()
}

// describeBefore describes the column "before".
func (b *bench) describeBefore() string {
	revision := b.before
	if strings.HasPrefix(firstEdition, revision) {
		return fmt.Sprintf("the first edition (commit %.7s)", firstEdition)
	}
	return fmt.Sprintf("revision `%s`", revision)
}
