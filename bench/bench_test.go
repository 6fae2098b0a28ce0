package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// newBench prepares a benchmark in the root of the repository.
func newBench(t *testing.T) *bench {
	t.Helper()
	for _, program := range []string{"wrk", "taskset"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("THE BENCH WAS NOT TRIED: %v. Install it (Debian: apt-get install wrk util-linux), or run make test, which does.", err)
		}
	}
	if runtime.NumCPU() < 2 {
		t.Skip("THE BENCH WAS NOT TRIED: it needs two cores, and this machine has one.")
	}
	t.Chdir("..")
	b := &bench{missing: make(map[string]error), rounds: 1, quick: true, maxDisturbed: 1} // other tests run at the same time
	if err := b.prepare(parts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(b.dir) })
	return b
}

// TestCompare runs the harness for real, with the two contenders that need only Go.
func TestCompare(t *testing.T) {
	b := newBench(t)
	for _, c := range contenders {
		if c.name != bare && c.name != ours {
			b.missing[c.name] = errors.New("not in this test")
		}
	}
	text, pictures, err := b.runCompare()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| bare net/http | 1 (", "| **Signpost** | ", "| **Signpost, 304** | ", "| **Signpost, gzip** | ", "| goal | measured | |",
		"| at least 15, 50 and 100 times Express | – | not measured |"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	checkPicture(t, pictures["docs/performance.svg"], "Signpost, 304", "10 endpoints, 5.6 kB")
}

// TestOtherBodyIsRefused uses a contender that sends something else.
func TestOtherBodyIsRefused(t *testing.T) {
	b := newBench(t)
	s, err := newSite(b, 10)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(s.bodies[loadHost]), "Feed 7", "Feed 8", 1)
	if err := os.WriteFile(s.path("constant.json"), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := b.startContender(contenders[0], s, serverCore)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	if err := checkBodies(contenders[0], s, p.url); err == nil || !strings.Contains(err.Error(), "another body") {
		t.Errorf("another body is taken: %v", err)
	}
}

// TestProgramThatFails checks that the output of a program that exits is reported.
func TestProgramThatFails(t *testing.T) {
	began := time.Now()
	_, err := start(anyCore, "http://127.0.0.1:1"+manifestPath, "sh", "-c", "echo no such port >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such port") {
		t.Errorf("error %v", err)
	}
	if time.Since(began) > time.Minute {
		t.Error("it was waited for")
	}
}

func TestGrowth(t *testing.T) {
	g := &growth{of: "endpoints"}
	for _, n := range []int{10, 100, 1000} {
		values := make(map[string]float64)
		for _, m := range measures {
			values[m] = 3e-6 * float64(n)
		}
		values[matching] = 1e-6
		values[atStart], values[atMost] = 10e6, 1e6*float64(n)
		g.points = append(g.points, point{n, values})
	}
	if each, exponent := g.constant(linting); math.Abs(each-3e-6) > 1e-9 || math.Abs(exponent-1) > 1e-9 {
		t.Errorf("each %v, exponent %v", each, exponent)
	}
	table := growthTable(g)
	for _, want := range []string{"| lint | 30 µs | 300 µs | 3.0 ms | 3.0 µs | 1.0 |", "| match | 1.0 µs | 1.0 µs | 1.0 µs | nothing | 0.0 |",
		"| peak memory | 10 MB | 100 MB | 1 000 MB | 1.0 MB | 1.0 |"} {
		if !strings.Contains(table, want) {
			t.Errorf("there is no %q in\n%s", want, table)
		}
	}
	checkPicture(t, growthPlot(g, g), "time by number of endpoints", "peak memory", "1 000")
}

// TestDirty: all input but the first has findings or changes, and the table has all of it.
func TestDirty(t *testing.T) {
	for i, d := range dirty {
		if got := d.make(100)(); (got == 0) != (i == 0) {
			t.Errorf("%s: %d findings or changes", d.name, got)
		}
	}
	table := (&bench{quick: true}).dirtyTable()
	if got := strings.Count(table, "\n"); got != len(dirty)+2 {
		t.Errorf("%d lines:\n%s", got, table)
	}
}

// checkPicture expects well-formed XML with some texts.
func checkPicture(t *testing.T, picture []byte, texts ...string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(string(picture))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	for _, text := range texts {
		if !strings.Contains(string(picture), ">"+text+"</text>") {
			t.Errorf("the picture has no %q", text)
		}
	}
	if strings.Contains(string(picture), "NaN") || strings.Contains(string(picture), "Inf") {
		t.Errorf("the picture has numbers that are none:\n%s", picture)
	}
}

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
		seconds(335e-9):      "335 ns",
		seconds(2.71e-6):     "2.7 µs",
		seconds(0.0123):      "12 ms",
		seconds(5.04):        "5.0 s",
		thousands(1234567):   "1 234 567",
		thousands(999):       "999",
		megabytes(17.6e6):    "18 MB",
		memory(21_400):       "21 kB",
		ratio(0.0371):        "0.037",
		ratio(1.216):         "1.22",
		ratio(112.7):         "113",
		kilobytes(5_486):     "5.5 kB",
		power(1e-7, seconds): "100 ns",
		power(1e-3, seconds): "1 ms",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestParseMicro(t *testing.T) {
	var out strings.Builder
	for _, m := range micro {
		for _, ns := range []string{"300.5", "100", "200"} {
			out.WriteString("Benchmark" + m.benchmark + "-2   \t 1000\t   " + ns + " ns/op\t 12.50 MB/s\t   16 B/op\t    2 allocs/op\n")
		}
	}
	results, err := parseMicro([]byte(out.String()))
	if err != nil || results["Decode"] != (microResult{200, 16, 2}) {
		t.Errorf("%v, %v", results, err)
	}
	if _, err := parseMicro([]byte("BenchmarkDecode-2 1 1 ns/op 0 B/op 0 allocs/op")); err == nil {
		t.Error("benchmarks that are missing are not missed")
	}
	baseline, err := os.ReadFile("baseline.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseMicro(baseline); err != nil {
		t.Errorf("the baseline: %v", err)
	}
}

func TestRefresh(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n<!-- bench: micro -->\nold\n<!-- end of micro -->\nafter\n")
	for range 2 {
		if err := refresh(page, "micro", "new\n"); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(page)
		if string(got) != "before\n<!-- bench: micro -->\n\nnew\n\n<!-- end of micro -->\nafter\n" {
			t.Errorf("the page is %q", got)
		}
	}
	write("nothing\n")
	if err := refresh(page, "micro", "new\n"); err == nil {
		t.Error("a page without a place is taken")
	}
}

// TestPages checks that the pages have a place for every result, and show the pictures.
func TestPages(t *testing.T) {
	text := ""
	for _, page := range []string{"performance.md", "operate.md"} {
		b, err := os.ReadFile(filepath.Join("../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	for _, part := range parts {
		_, rest, ok := strings.Cut(text, "<!-- bench: "+part+" -->\n")
		section, _, ok2 := strings.Cut(rest, "<!-- end of "+part+" -->")
		if !ok || !ok2 || !strings.Contains(section, "|---|") {
			t.Errorf("no page has a table from %s", part)
		}
	}
	for _, picture := range []string{"performance.svg", "growth.svg"} {
		b, err := os.ReadFile(filepath.Join("../docs", picture))
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, b)
		if !strings.Contains(text, "("+picture+")") {
			t.Errorf("no page shows %s", picture)
		}
	}
}

// TestWhatWrkSays parses the output of wrk.
func TestWhatWrkSays(t *testing.T) {
	out := []byte(`Running 1s test @ http://127.0.0.1:9100/v1/endpoints-manifest
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   616.66us  402.11us   8.20ms   95.00%
    Req/Sec    52.57k     5.93k   59.00k    81.67%
  Latency Distribution
     50%  551.00us
     75%  640.00us
     90%  810.00us
     99%    2.04ms
  52403 requests in 1.00s, 286.10MB read
  Non-2xx or 3xx responses: 17
Requests/sec:  52381.83
Transfer/sec:    286.00MB
`)
	requests, err := number(wrkRequests, out)
	rate, err2 := number(wrkRate, out)
	p50, err3 := period(wrkP50, out)
	p99, err4 := period(wrkP99, out)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if requests != 52403 || rate != 52381.83 || p50 != 551*time.Microsecond || p99 != 2040*time.Microsecond {
		t.Error(requests, rate, p50, p99)
	}
	if got := string(wrkErrors.Find(out)); got != "Non-2xx or 3xx responses: 17" {
		t.Errorf("failed: %q", got)
	}
	if _, err := number(wrkRate, nil); err == nil {
		t.Error("nothing is a number")
	}
}
