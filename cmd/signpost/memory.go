package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// smallMemory is what a small input may take: Go's garbage collector lets the heap double before it runs, but not
	// beyond this.
	smallMemory = 192 << 20

	// largeHeap is how much is in use when the input is not small. To stay below smallMemory would then take much time.
	largeHeap = 160 << 20
)

// saveMemory limits the memory until more than largeHeap is in use. GOMEMLIMIT in the environment takes precedence.
func saveMemory() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(smallMemory)
		runtime.SetFinalizer(new(collection), collected)
	}
}

// collection is garbage, which the next collection finds. It is not so small that it shares its memory with others.
type collection [16]byte

// collected lifts the limit if too much is in use after a collection. It leaves a limit alone that serve has set.
func collected(*collection) {
	if debug.SetMemoryLimit(-1) != smallMemory {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Uint64() > largeHeap {
		debug.SetMemoryLimit(math.MaxInt64)
		return
	}
	runtime.SetFinalizer(new(collection), collected)
}
