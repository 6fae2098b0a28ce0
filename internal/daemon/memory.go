package daemon

import (
	"cmp"
	"context"
	"os"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"signpost/server"
)

const (
	// connectionBytes is what a busy connection takes at most in ordinary use: buffers, two goroutines and a request.
	connectionBytes = 16 << 10

	// leastRest is what the process takes without anything to serve.
	leastRest = 8 << 20

	// memorySlack is room for garbage, so that the collector need not run all the time while everything else is full.
	memorySlack = 16 << 20

	// settleDelay is how long the memory is left alone after definitions were loaded: more may follow.
	settleDelay = time.Second

	// quietInterval is how often to see whether memory can be given back. It is only while the collector has nothing
	// to do, so that a busy server keeps what it would need again at once.
	quietInterval = 10 * time.Second

	// leastGarbage is how much garbage a heap gathers before the collector runs, up to maxGCPercent of what lives. A
	// heap of two megabytes would otherwise be collected after a few hundred requests, again and again, which costs
	// almost a tenth of the throughput.
	leastGarbage = 8 << 20
	maxGCPercent = 400
	minGCPercent = 100 // Go's own default

	// worthwhile is how much memory must have come since it was last given back.
	worthwhile = 8 << 20
)

// memory bounds the memory of the process and gives back to the system what it does not need.
//
// Go's collector lets the heap double before it looks for garbage. With all connections and caches in use, that is as
// much again as they take, so it gets a limit: what the process takes at rest, and what everything that is bounded
// takes together. The limit is a soft one, and a GOMEMLIMIT in the environment is left as it is.
type memory struct {
	bound       int64 // of what requests take; 0 if that has no bound
	handler     *server.Handler
	connections func() int    // that are open
	loaded      chan struct{} // something was loaded

	last   int64  // in use after memory was last given back
	cycles uint64 // of the collector, when last looked at
}

func newMemory(config Config, handler *server.Handler, connections func() int) *memory {
	m := &memory{handler: handler, connections: connections, loaded: make(chan struct{}, 1)}
	if config.MaxConnections > 0 {
		m.bound = cmp.Or(config.Handler.CacheBytes, server.DefaultCacheBytes) + cmp.Or(config.Handler.InFlightBytes, server.DefaultInFlightBytes) +
			int64(config.MaxConnections)*connectionBytes + memorySlack
	}
	return m
}

// changed says that definitions were loaded, which leaves garbage behind and may change what is needed at rest.
func (m *memory) changed() {
	if m == nil {
		return
	}
	select {
	case m.loaded <- struct{}{}:
	default:
	}
}

// run keeps the memory in bounds until ctx ends.
func (m *memory) run(ctx context.Context) {
	m.last, m.cycles = readMemory()
	m.limit()  // at once, and again when the garbage of loading is gone
	m.last = 0 // so that it will be
	ticks := time.NewTicker(quietInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.loaded:
			select {
			case <-ctx.Done():
				return
			case <-time.After(settleDelay):
			}
			if inUse, _ := readMemory(); inUse > m.last+worthwhile {
				m.giveBack()
			}
			m.limit()
			m.pace()
		case <-ticks.C:
			m.look()
		}
	}
}

// look gives memory back if there is enough of it and the collector has been idle since the last look.
func (m *memory) look() {
	inUse, cycles := readMemory()
	quiet := cycles == m.cycles
	m.cycles = cycles
	if quiet && inUse > m.last+worthwhile {
		m.giveBack()
	}
}

func (m *memory) giveBack() {
	debug.FreeOSMemory()
	m.last, m.cycles = readMemory()
}

// limit sets the limit from what is in use now, less what requests have of it. A reload needs the memory of its
// definitions twice, so the limit is never less than that.
func (m *memory) limit() {
	if m.bound == 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	_, cached := m.handler.CacheSize()
	rest := max(m.last-cached-m.handler.InFlight()-int64(m.connections())*connectionBytes, leastRest)
	debug.SetMemoryLimit(rest + max(m.bound, rest))
}

// pace sets how often the collector runs, by what lives on the heap. A GOGC in the environment is left as it is.
func (m *memory) pace() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(live)
	debug.SetGCPercent(gcPercent(live[0].Value.Uint64()))
}

func gcPercent(live uint64) int {
	return int(min(max(100*leastGarbage/max(live, 1), minGCPercent), maxGCPercent))
}

// readMemory returns the bytes that Go has from the system and has not given back, and how often the collector ran.
func readMemory() (inUse int64, cycles uint64) {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()), samples[2].Value.Uint64()
}
