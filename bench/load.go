package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	loadHost    = "feeds.example.com"
	connections = 32
	sliceTime   = time.Second // the minimum that wrk supports
)

// slice is one measurement: a server under load for a short time.
type slice struct {
	rate      float64 // requests per second
	p50, p99  time.Duration
	requests  int
	cpu       time.Duration // of the server for a request
	disturbed float64       // share of both cores used by others
	failed    string        // failed requests, as reported by wrk
}

var (
	wrkFigures = regexp.MustCompile(`(?s)50%\s+([\d.]+[a-z]+).*99%\s+([\d.]+[a-z]+)\s+(\d+) requests in.*Requests/sec:\s+([\d.]+)`)
	wrkErrors  = regexp.MustCompile(`Non-2xx or 3xx responses: \d+|Socket errors: .*`)
)

// runSlice puts load on a server. args are passed to wrk.
func runSlice(p *process, args ...string) (slice, error) {
	args = append([]string{"-c", strconv.Itoa(loadCore), "wrk", "-t1", "-c", strconv.Itoa(connections),
		"-d", strconv.Itoa(int(sliceTime.Seconds())), "--latency", "--timeout", "10"}, args...)
	cmd := exec.Command("taskset", append(args, p.url)...)
	usedBefore, busyBefore, began := p.processorTime(), busyTime(), time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return slice{}, fmt.Errorf("wrk: %v\n%s", err, out)
	}
	took := time.Since(began)
	used, busy := p.processorTime()-usedBefore, busyTime()-busyBefore
	others := busy - used - cmd.ProcessState.UserTime() - cmd.ProcessState.SystemTime()
	s, err := parseWrk(out)
	if s.requests > 0 {
		s.cpu = used / time.Duration(s.requests)
	}
	s.disturbed = others.Seconds() / (2 * took.Seconds())
	return s, err
}

// parseWrk reads the output of wrk.
func parseWrk(out []byte) (s slice, err error) {
	figures := wrkFigures.FindStringSubmatch(string(out))
	if figures == nil {
		return s, fmt.Errorf("cannot read the output of wrk:\n%s", out)
	}
	var errs [4]error
	s.p50, errs[0] = time.ParseDuration(figures[1])
	s.p99, errs[1] = time.ParseDuration(figures[2])
	s.requests, errs[2] = strconv.Atoi(figures[3])
	s.rate, errs[3] = strconv.ParseFloat(figures[4], 64)
	s.failed = string(wrkErrors.Find(out))
	return s, errors.Join(errs[:]...)
}

// busyTime returns the CPU time that both cores have spent so far, including time stolen by other virtual machines.
func busyTime() (sum time.Duration) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 9 || fields[0] != fmt.Sprint("cpu", serverCore) && fields[0] != fmt.Sprint("cpu", loadCore) {
			continue
		}
		for i, field := range fields[1:9] {
			if ticks, err := strconv.Atoi(field); err == nil && i != 3 && i != 4 { // skip idle and iowait
				sum += time.Duration(ticks) * tick
			}
		}
	}
	return sum
}
