package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
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
