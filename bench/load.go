package main

import (
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
	requests  float64       // made by wrk
	used      time.Duration // CPU time of the server
	rate      float64       // requests per second
	p50, p99  time.Duration
	disturbed float64 // share of both cores used by others
	failed    string  // failed requests, as reported by wrk
}

// maxDisturbed is the maximum share of both cores that others may use; beyond that a slice is discarded.
const maxDisturbed = 0.05

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkRate     = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkP50      = regexp.MustCompile(`50%\s+([\d.]+[a-z]+)`)
	wrkP99      = regexp.MustCompile(`99%\s+([\d.]+[a-z]+)`)
	wrkErrors   = regexp.MustCompile(`Non-2xx or 3xx responses: \d+|Socket errors: .*`)
)

// runSlice puts load on a server. args are passed to wrk.
func runSlice(p *process, duration time.Duration, args ...string) (slice, error) {
	args = append([]string{"-c", strconv.Itoa(loadCore), "wrk", "-t1", "-c", strconv.Itoa(connections),
		"-d", strconv.Itoa(int(duration.Seconds())), "--latency", "--timeout", "10"}, args...)
	cmd := exec.Command("taskset", append(args, p.url)...)
	usedBefore, busyBefore, began := p.processorTime(), busyTime(), time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return slice{}, fmt.Errorf("wrk: %v\n%s", err, out)
	}
	took := time.Since(began)
	s := slice{used: p.processorTime() - usedBefore}
	busy := busyTime() - busyBefore
	others := busy - s.used - cmd.ProcessState.UserTime() - cmd.ProcessState.SystemTime()
	s.disturbed = others.Seconds() / (2 * took.Seconds())
	s.failed = string(wrkErrors.Find(out))
	if s.requests, err = number(wrkRequests, out); err != nil {
		return slice{}, err
	}
	if s.rate, err = number(wrkRate, out); err != nil {
		return slice{}, err
	}
	if s.p50, err = period(wrkP50, out); err != nil {
		return slice{}, err
	}
	s.p99, err = period(wrkP99, out)
	return s, err
}

func number(pattern *regexp.Regexp, out []byte) (float64, error) {
	match := pattern.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("wrk says nothing like %q:\n%s", pattern, out)
	}
	return strconv.ParseFloat(string(match[1]), 64)
}

func period(pattern *regexp.Regexp, out []byte) (time.Duration, error) {
	match := pattern.FindSubmatch(out)
	if match == nil {
		return 0, fmt.Errorf("wrk says nothing like %q:\n%s", pattern, out)
	}
	return time.ParseDuration(string(match[1]))
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
