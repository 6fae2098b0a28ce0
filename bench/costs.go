package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstEdition is the last commit of the first edition. Its costs are the baseline of the goals.
const firstEdition = "de7d2e4e1451f20751136c5b46c16577bf493164"

// load is a set of definitions whose costs are measured.
type load struct {
	name     string
	services int // 0 means a single service at the root
	of       int // endpoints each
}

func (b *bench) loads() []load {
	if b.quick {
		return []load{{"100 endpoints in one file", 0, 100}, {"3 services of 21 endpoints", 3, 21}}
	}
	return []load{{"10 000 endpoints in one file", 0, 10_000}, {"100 000 endpoints in one file", 0, 100_000}, {"2 000 services of 21 endpoints", 2000, 21}}
}

// write writes the definitions to a directory. A different value of changed gives different manifests.
func (l load) write(dir string, changed int) error {
	if l.services == 0 {
		return l.writeOne(dir, 0, changed)
	}
	for i := range l.services {
		if err := l.writeOne(dir, i+1, changed); err != nil {
			return err
		}
	}
	return nil
}

// writeOne replaces one definition atomically, as an editor or a deployment does.
func (l load) writeOne(dir string, number, changed int) error {
	text := bytes.ReplaceAll(service(number, l.of), []byte("name: Feed"), fmt.Appendf(nil, "name: Feed %d,", changed))
	name := filepath.Join(dir, fmt.Sprintf("s%d.yaml", number))
	if err := os.WriteFile(name+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// path returns the path of the manifest of a service.
func (l load) path(number int) string {
	if l.services == 0 {
		return manifestPath
	}
	return fmt.Sprintf("/s%d%s", number, manifestPath)
}

// costs holds what a program needs for a load, in seconds and bytes. NaN means not measured.
type costs struct {
	bytes              float64 // size of the definitions
	base               float64 // resident memory with the built-in example
	live, rest, peak   float64 // live heap, and resident memory
	idle               float64 // share of a core while nothing changes
	startOne, startAll float64 // on one core, and on all cores
	lintOne, lintAll   float64
	yaml               float64 // the YAML library alone, on one core
	change             float64 // from saving one file of many to its new manifest
	changeRead         float64 // bytes read for that
	reload             float64 // from saving everything to the last new manifest
	usual, slowest     float64 // response times, while nothing changes and during the reload
}

// restRule is how long a file must have been unchanged before a server reads it. It does not count towards the cost of
// a change.
const restRule = 100 * time.Millisecond

// measureCosts measures the costs of a load. Times are the minimum of several runs.
func (b *bench) measureCosts(program string, l load) (*costs, error) {
	nan := math.NaN()
	c := &costs{change: nan, changeRead: nan}
	dir, err := os.MkdirTemp(b.dir, "costs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := l.write(dir, 0); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		c.bytes += float64(info.Size())
	}
	if c.base, err = b.restOf(program); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		to   *float64
		core int
		args []string
	}{
		{&c.lintOne, serverCore, []string{program, "lint", dir}},
		{&c.lintAll, anyCore, []string{program, "lint", dir}},
		{&c.yaml, serverCore, append([]string{b.yaml}, files...)},
	} {
		if *t.to, err = fastest(t.core, t.args...); err != nil {
			return nil, err
		}
	}
	c.startOne, c.startAll = math.Inf(1), math.Inf(1)
	for began, tries := time.Now(), 0; tries == 0 || tries < 3 && time.Since(began) < 10*time.Second; tries++ {
		p, err := serveWith(program, serverCore, l.path(l.services), dir)
		if err != nil {
			return nil, err
		}
		p.stop()
		c.startOne = min(c.startOne, p.startUp.Seconds())
		if p, err = serveWith(program, anyCore, l.path(l.services), dir); err != nil {
			return nil, err
		}
		p.stop()
		c.startAll = min(c.startAll, p.startUp.Seconds())
	}
	return c, b.watchCosts(program, l, dir, c)
}

// settleTime is how long a server is left alone to release memory.
func (b *bench) settleTime() time.Duration {
	if b.quick {
		return time.Second
	}
	return 5 * time.Second
}

// restOf returns the resident memory with the built-in example: the program itself, the Go runtime and the libraries.
func (b *bench) restOf(program string) (float64, error) {
	p, err := serveWith(program, anyCore, manifestPath)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	time.Sleep(b.settleTime())
	return float64(p.memory()), nil
}

// fastest returns the minimum run time of a program in seconds.
func fastest(core int, args ...string) (float64, error) {
	if core != anyCore {
		args = append([]string{"taskset", "-c", strconv.Itoa(core)}, args...)
	}
	best := math.Inf(1)
	for began, tries := time.Now(), 0; tries == 0 || tries < 5 && time.Since(began) < 8*time.Second; tries++ {
		start := time.Now()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%.100s: %v\n%.1000s", strings.Join(args, " "), err, out)
		}
		best = min(best, time.Since(start).Seconds())
	}
	return best, nil
}

// watchCosts measures a server at rest, then while one definition changes, then while all of them do.
func (b *bench) watchCosts(program string, l load, dir string, c *costs) error {
	p, err := serveWith(program, anyCore, l.path(l.services), dir)
	if err != nil {
		return err
	}
	defer p.stop()
	time.Sleep(b.settleTime())
	watched := 2 * b.settleTime()
	used := p.exactTime()
	time.Sleep(watched)
	c.idle = (p.exactTime() - used).Seconds() / watched.Seconds()
	c.rest = float64(p.memory())
	if c.live, err = p.liveHeap(); err != nil {
		return err
	}

	if l.services > 1 {
		read := p.bytesRead()
		probe := startProbe(p, l.path(l.services/2))
		saved := time.Now()
		if err := l.writeOne(dir, l.services/2, 1); err != nil {
			return err
		}
		changed, err := probe.wait()
		if err != nil {
			return err
		}
		c.change, c.changeRead = changed.Sub(saved).Seconds(), float64(p.bytesRead()-read)
	}

	steady := startProbe(p, l.path(l.services))
	time.Sleep(watched / 5)
	steady.stop()
	c.usual = median(slices.Sorted(slices.Values(steady.took)))
	if err := p.resetPeak(); err != nil {
		return err
	}
	probe := startProbe(p, l.path(l.services))
	saved := time.Now()
	if err := l.write(dir, 2); err != nil {
		return err
	}
	changed, err := probe.wait()
	if err != nil {
		return err
	}
	c.reload, c.slowest = changed.Sub(saved).Seconds(), slices.Max(probe.took)
	time.Sleep(restRule) // a response may precede the last garbage
	c.peak = float64(p.peak())
	return nil
}

// probe requests a manifest repeatedly and records the response times, until the manifest changes.
type probe struct {
	took    []float64 // seconds
	changed time.Time // time of the first response with another revision
	err     error
	stopped chan struct{}
	done    chan struct{}
}

// probeClient keeps its connection, so that only the response is measured.
var probeClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableCompression: true}}

// patience is the maximum time until a changed definition is served.
const patience = 5 * time.Minute

func startProbe(p *process, path string) *probe {
	out := &probe{stopped: make(chan struct{}), done: make(chan struct{})}
	url := p.at(path)
	go func() {
		defer close(out.done)
		first := ""
		for began := time.Now(); time.Since(began) < patience; time.Sleep(time.Millisecond) {
			select {
			case <-out.stopped:
				return
			default:
			}
			start := time.Now()
			revision, err := revisionOf(url)
			if err != nil {
				out.err = err
				return
			}
			out.took = append(out.took, time.Since(start).Seconds())
			if first == "" {
				first = revision
			}
			if revision != first {
				out.changed = time.Now()
				return
			}
		}
		out.err = fmt.Errorf("a change is not served at %s within %v", url, patience)
	}()
	return out
}

// stop ends a probe before its manifest has changed.
func (p *probe) stop() {
	close(p.stopped)
	<-p.done
}

// wait returns the time at which the new manifest was served.
func (p *probe) wait() (time.Time, error) {
	<-p.done
	return p.changed, p.err
}

// revisionOf requests a manifest without its body.
func revisionOf(url string) (string, error) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return "", err
	}
	req.Host = loadHost
	req.Header.Set("If-None-Match", "*")
	res, err := probeClient.Do(req)
	if err != nil {
		return "", err
	}
	res.Body.Close()
	revision := res.Header.Get("Signpost-Revision")
	if res.StatusCode != http.StatusNotModified || revision == "" {
		return "", fmt.Errorf("%s: %s, revision %q", url, res.Status, revision)
	}
	return revision, nil
}

var (
	heapAlloc   = regexp.MustCompile(`(?m)^go_memstats_heap_alloc_bytes (\S+)`)
	collections = regexp.MustCompile(`(?m)^go_gc_duration_seconds_count (\S+)`)
)

// liveHeap returns the size of Signpost's live heap in bytes. It polls the metrics until the garbage collector has run.
func (p *process) liveHeap() (float64, error) {
	least, first := math.Inf(1), ""
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		a, err := get("http://"+p.admin+"/metrics", p.admin, "")
		if err != nil {
			return 0, err
		}
		heap, runs := heapAlloc.FindSubmatch(a.body), collections.FindSubmatch(a.body)
		if heap == nil || runs == nil {
			return 0, errors.New("the metrics do not tell the size of the heap")
		}
		n, err := strconv.ParseFloat(string(heap[1]), 64)
		if err != nil {
			return 0, err
		}
		least = min(least, n)
		if first == "" {
			first = string(runs[1])
		}
		if string(runs[1]) != first {
			break
		}
	}
	return least, nil
}

// exactTime returns the CPU time of the server so far, with a resolution below one tick.
func (p *process) exactTime() (sum time.Duration) {
	for _, pid := range p.pids() {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, name := range tasks {
			text, _ := os.ReadFile(name)
			if fields := strings.Fields(string(text)); len(fields) > 0 {
				ns, _ := strconv.ParseInt(fields[0], 10, 64)
				sum += time.Duration(ns)
			}
		}
	}
	return sum
}

// resetPeak resets the peak to what is resident now.
func (p *process) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// bytesRead returns how much the server has read so far, from files and connections.
func (p *process) bytesRead() (n int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", p.cmd.Process.Pid))
	fmt.Sscanf(string(text), "rchar: %d", &n)
	return n
}
