package main

import (
	"math"
	"os/exec"
	"strings"
	"testing"
)

// TestGoals measures small loads for real, with this revision as the baseline.
func TestGoals(t *testing.T) {
	b := newBench(t)
	b.before = "HEAD"
	compared := exec.Command("git", "rev-parse", "--verify", "--quiet", b.before).Run() == nil
	all, err := b.measureGoals()
	if err != nil {
		t.Fatal(err)
	}
	table := goalsTable(all)
	for _, c := range all {
		for _, costs := range []*costs{c.before, c.now} {
			if costs == nil {
				if compared {
					t.Errorf("%s: HEAD was not measured", c.name)
				}
				continue
			}
			for _, g := range costGoals {
				if v := g.value(costs); g.of(c.load) && (math.IsNaN(v) || math.IsInf(v, 0)) {
					t.Errorf("%s, %s: %v", g.text, c.name, v)
				}
			}
			if costs.live <= 0 || costs.live >= costs.rest || costs.rest > costs.peak || costs.reload < restRule.Seconds() {
				t.Errorf("%s: implausible costs %+v", c.name, costs)
			}
		}
		if !strings.Contains(table, "| "+c.name+" |") {
			t.Errorf("%s is not in\n%s", c.name, table)
		}
	}
}

// TestGoalsTable checks that a goal that was missed or not measured is shown as such.
func TestGoalsTable(t *testing.T) {
	good := costs{
		bytes: 10e6, base: 10e6, live: 100e6, rest: 140e6, peak: 300e6, idle: 0.001, startOne: 2, startAll: 1, lintOne: 2, lintAll: 1, yaml: 1.1,
		change: 0.15, changeRead: 50e3, reload: 1.5, usual: 0.0002, slowest: 0.012,
	}
	bad := costs{
		bytes: 10e6, base: 10e6, live: 100e6, rest: 180e6, peak: 500e6, idle: 0.075, startOne: 2, startAll: 1.9, lintOne: 3, lintAll: 2, yaml: 1.1,
		change: 0.35, changeRead: 5e6, reload: 2.5, usual: 0.0002, slowest: 0.112,
	}
	unknown := costs{}
	for _, c := range []*float64{&unknown.live, &unknown.yaml, &unknown.lintAll, &unknown.startAll, &unknown.rest, &unknown.idle, &unknown.change,
		&unknown.changeRead, &unknown.reload, &unknown.slowest} {
		*c = math.NaN()
	}
	for _, l := range []load{{"one", 0, 10_000}, {"many", 2000, 21}} {
		for verdict, c := range map[string]costs{"met": good, "**not met**": bad, "not measured": unknown} {
			table := goalsTable([]loadCosts{{l, &bad, &c}})
			for row := range strings.Lines(table[strings.Index(table, "|---|---|---|---|---|\n"):]) {
				if !strings.HasPrefix(row, "|---") && !strings.HasSuffix(row, " | "+verdict+" |\n") {
					t.Errorf("not %q: %s", verdict, row)
				}
			}
		}
	}
	table := goalsTable([]loadCosts{{load{"many", 2000, 21}, &bad, &good}})
	for _, want := range []string{
		"| memory at rest at most 1.5 times the live heap | many | 1.80 (180 MB of 100 MB) | 1.40 (140 MB of 100 MB) | met |",
		"| less than 0.5 % of a core while nothing changes | many | 7.50 % | 0.10 % | met |",
		"| one changed file served within 100 ms of its coming to rest | many | 250 ms | 50 ms | met |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("there is no %q in\n%s", want, table)
		}
	}
	if table := goalsTable([]loadCosts{{load{"one", 0, 10_000}, nil, &good}}); !strings.Contains(table, "| everything reloaded within 2 s | one | – | 1.5 s | met |") {
		t.Errorf("without anything to compare with:\n%s", table)
	}
}
