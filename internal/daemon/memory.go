package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"
)

// LimitMemory tells Go's garbage collector how much memory the container may use, so that it collects more often before
// the kernel kills the process. GOMEMLIMIT in the environment takes precedence.
func LimitMemory() {
	if limit := containerLimit("/"); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 10 * 9) // the rest is for what Go does not count, such as the program itself
	}
}

const (
	// CommandPercent is the GC percentage of commands that end by themselves: what they parse lives until the end, so that
	// most collections find nothing. Lint of 2,000 services takes about a third less time (go run ./bench growth).
	CommandPercent = 400

	// minHeap is what the heap of a server reaches at least before a collection. A small service has a live heap of
	// 3 MB, which Go would collect three times as often by default, and one of a hundred requests would wait for it. With
	// more, a manifest of 1,000 endpoints takes more than 40 MB (go run ./bench compare).
	minHeap = 14 << 20
)

// PaceCollector sets Go's GC percentage, which also applies while the memory limit is not reached. GOGC in the
// environment takes precedence.
func PaceCollector(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// paceServer lets the heap grow to minHeap between two collections, or double if that is more.
func paceServer() {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	PaceCollector(growthPercent(sample[0].Value.Uint64()))
}

func growthPercent(live uint64) int {
	const least = 4 << 20 // of a smaller heap, Go takes the percentage as if it had this size
	return max(100, int(100*minHeap/max(live, least))-100)
}

// containerLimit returns the memory limit of the control group (version 2) that the process is in, or 0.
func containerLimit(root string) int64 {
	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		if group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			text, _ := os.ReadFile(filepath.Join(root, "sys/fs/cgroup", group, "memory.max"))
			limit, _ := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64) // "max" is no limit
			return limit
		}
	}
	return 0
}
