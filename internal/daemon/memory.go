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
	// connectionBytes is the maximum memory of a busy connection in ordinary use: buffers, two goroutines and a
	// request.
	connectionBytes = 16 << 10

	// tlsConnectionBytes is the same over https: records, keys and the state of HTTP/2 come on top.
	tlsConnectionBytes = 64 << 10

	// leastRest is the memory of the process with nothing to serve.
	leastRest = 8 << 20

	// memorySlack is room for garbage, so that the collector does not run permanently when everything else is full.
	memorySlack = 16 << 20

	// settleDelay is how long to wait after definitions were loaded before releasing memory: more may follow.
	settleDelay = time.Second

	// quietInterval is how often to check whether memory can be released. That happens only while the garbage collector
	// is idle, so that a busy server keeps memory that it would need again immediately.
	quietInterval = 10 * time.Second

	// leastGarbage is how much garbage may accumulate before the collector runs, up to maxGCPercent of the live heap.
	// Otherwise a heap of two megabytes would be collected every few hundred requests, which costs almost a tenth of
	// the throughput.
	leastGarbage = 8 << 20
	maxGCPercent = 400
	minGCPercent = 100 // Go's own default

	// worthwhile is the minimum amount of memory worth releasing.
	worthwhile = 8 << 20
)

// memory limits the memory of the process and releases unused memory to the system.
//
// Go's garbage collector lets the heap double before it runs. With all connections and caches in use, that would double
// their memory, so a limit is set: the memory at rest plus the sum of all other limits. It is a soft limit, and
// GOMEMLIMIT in the environment takes precedence.
type memory struct {
	bound       int64 // maximum memory of all requests; 0 if unlimited
	handler     *server.Handler
	connections func() int    // number of open connections
	connection  int64         // memory of each
	loaded      chan struct{} // something was loaded

	last   int64  // in use after the last release
	cycles uint64 // number of garbage collections at the last check
}

func newMemory(config Config, handler *server.Handler, connections func() int) *memory {
	m := &memory{handler: handler, connections: connections, connection: connectionBytes, loaded: make(chan struct{}, 1)}
	if config.https() {
		m.connection = tlsConnectionBytes
	}
	if config.MaxConnections > 0 {
		m.bound = cmp.Or(config.Handler.CacheBytes, server.DefaultCacheBytes) + cmp.Or(config.Handler.InFlightBytes, server.DefaultInFlightBytes) +
			int64(config.MaxConnections)*m.connection + memorySlack
	}
	return m
}

// changed tells that definitions were loaded, which leaves garbage behind and may change the memory at rest.
func (m *memory) changed() {
	if m == nil {
		return
	}
	select {
	case m.loaded <- struct{}{}:
	default:
	}
}

// run manages the memory until ctx is canceled.
func (m *memory) run(ctx context.Context) {
	m.last, m.cycles = readMemory()
	m.limit()  // immediately, and again when the garbage of loading is gone
	m.last = 0 // makes sure that it will be
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

// look releases memory if it is worthwhile and the collector has been idle since the last check.
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

// limit sets the limit based on what is in use now without requests. A reload needs the memory of its definitions
// twice, so the limit is never less than that.
func (m *memory) limit() {
	if m.bound == 0 || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	_, cached := m.handler.CacheSize()
	rest := max(m.last-cached-m.handler.InFlight()-int64(m.connections())*m.connection, leastRest)
	debug.SetMemoryLimit(rest + max(m.bound, rest))
}

// pace sets how often the garbage collector runs, depending on the live heap. GOGC in the environment takes precedence.
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

// readMemory returns the number of bytes that Go holds from the system, and the number of garbage collections.
func readMemory() (inUse int64, cycles uint64) {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()), samples[2].Value.Uint64()
}
