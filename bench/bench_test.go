package main

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// The tests cover the arithmetic and the page. "go run ./bench -quick -page=false" tries the measuring itself.

// The ranks are from tables of the sign test.
func TestMedianRank(t *testing.T) {
	for n, want := range map[int]int{1: 0, 5: 0, 6: 0, 9: 1, 10: 1, 20: 5, 40: 13, 100: 39} {
		if got := medianRank(n); got != want {
			t.Errorf("of %d values it is %d, not %d", n, got, want)
		}
	}
	values := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5, 10}
	if got := estimateOf(values).String(); got != "5.50 (2.00–9.00)" {
		t.Errorf("estimate %s", got)
	}
	if got := estimateOf(nil).String(); got != "–" {
		t.Errorf("estimate of nothing %s", got)
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		seconds(335e-9):    "335 ns",
		seconds(2.71e-6):   "2.7 µs",
		seconds(0.0123):    "12 ms",
		seconds(5.04):      "5.0 s",
		thousands(1234567): "1 234 567",
		thousands(999):     "999",
		megabytes(17.6e6):  "18 MB",
		kilobytes(5_486):   "5.5 kB",
		ratio(0.0371):      "0.037",
		ratio(1.216):       "1.22",
		ratio(112.7):       "113",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestParseWrk(t *testing.T) {
	out := `  Latency Distribution
     50%  551.00us
     99%    2.04ms
  52403 requests in 1.00s, 286.10MB read
  Non-2xx or 3xx responses: 17
Requests/sec:  52381.83
`
	want := slice{rate: 52381.83, requests: 52403, p50: 551 * time.Microsecond, p99: 2040 * time.Microsecond, failed: "Non-2xx or 3xx responses: 17"}
	if got, err := parseWrk([]byte(out)); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseWrk([]byte("unable to connect")); err == nil {
		t.Error("no error without figures")
	}
}

func TestGrowth(t *testing.T) {
	g := &growth{of: "endpoints", build: ours}
	for _, n := range []int{10, 100, 1000} {
		values := map[string]float64{startUp: 1e-3, oneChange: 0.1, reloading: 0.2, slowest: 1e-3, atRest: 10e6}
		values[linting], values[atMost] = 3e-6*float64(n), 1e6*float64(n)
		g.points = append(g.points, point{n, values})
	}
	if cost, exponent := g.each(linting); math.Abs(cost-3e-6) > 1e-9 || math.Abs(exponent-1) > 1e-9 {
		t.Errorf("each %v, exponent %v", cost, exponent)
	}
	table := growthTable(g)
	for _, want := range []string{
		"| lint | 30 µs | 300 µs | 3.0 ms | 3.0 µs | 1.0 |",
		"| memory at rest | 10 MB | 10 MB | 10 MB | nothing | 0.0 |",
		"| peak memory | 10 MB | 100 MB | 1 000 MB | 1.0 MB | 1.0 |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("there is no %q in\n%s", want, table)
		}
	}
}

func TestCompareTables(t *testing.T) {
	c := &comparison{endpoints: 10, bytes: 5600, memory: map[string]int{ours: 36e6}, results: map[string]*result{
		bare: {rates: map[int]float64{0: 1000, 1: 2000, 2: 3000}},
		ours: {rates: map[int]float64{0: 1100, 1: 2200, 2: 3300, 3: 9}},
	}}
	table := ratioTable([]*comparison{c}, variant{bare, ""})
	for _, want := range []string{"| | 10 endpoints, 5.6 kB |", "| bare net/http | 1 (2 000 requests/s) |", "| **Signpost** | 1.10 (1.10–1.10) |"} {
		if !strings.Contains(table, want+"\n") {
			t.Errorf("there is no %q in\n%s", want, table)
		}
	}
	if want := "Signpost                 " + strings.Repeat("█", 44) + " 1.10\n"; !strings.Contains(picture(c), want) {
		t.Errorf("there is no %q in\n%s", want, picture(c))
	}
	if strings.Contains(table+picture(c), express) {
		t.Errorf("a contender that was not measured is in\n%s", table)
	}
}

// TestPage checks that the page has a place for every result.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"picture", "compare", "growth", "usage"} {
		fresh, err := section{name, "figures\n"}.refresh(string(text))
		if err != nil {
			t.Error(err)
		}
		if again, err := (section{name, "figures"}).refresh(fresh); err != nil || again != fresh {
			t.Errorf("%s: a second time, the page is another one: %v", name, err)
		}
	}
	if _, err := (section{"growth", "new"}).refresh("nothing"); err == nil {
		t.Error("no error for a page without the section")
	}
}
