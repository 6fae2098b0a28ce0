//go:build unix

package main

import (
	"os"
	"syscall"
)

// peakMemory returns the most memory that a process had, in bytes.
func peakMemory(ended *os.ProcessState) float64 {
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return float64(usage.Maxrss) * 1024
	}
	return 0
}
