//go:build !unix

package main

import "os"

// peakMemory returns 0: only Unix systems report it.
func peakMemory(*os.ProcessState) float64 { return 0 }
