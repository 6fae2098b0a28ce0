package server

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/semaphore"
)

const (
	// DefaultCacheBytes is room for several thousand hosts of a typical manifest, plain and compressed. Requests with
	// made-up hosts fill a cache of any size, so it is no larger than honest hosts need.
	DefaultCacheBytes = 16 << 20

	// DefaultInFlightBytes is room for a few hundred typical manifests that are being rendered or sent and are not in
	// the cache. It takes as many made-up hosts, or clients that do not read, to fill it.
	DefaultInFlightBytes = 16 << 20

	// DefaultInFlightWait is long enough for a burst to pass, and shorter than the patience of a studio.
	DefaultInFlightWait = 3 * time.Second

	// inFlightManifests is the minimum number of manifests of the largest size that fit, so that a single slow client
	// does not block all others.
	inFlightManifests = 4

	// overhead is added to the size of every representation: structs, headers and its place in the cache, rounded up.
	overhead = 2 << 10
)

var errBusy = errors.New("too many manifests are in flight")

// key identifies a representation. It names the content of a route, not the route, so that unchanged manifests stay in
// the cache when others are published. Those of a manifest that is no longer published are evicted like others.
type key struct {
	content string
	host    string
	gzip    bool
}

// manifests renders manifests and keeps them as long as somebody uses them: the cache, and the responses that are being
// sent. Every representation takes its bytes from inFlight before it is rendered and returns them after its last use,
// so that the memory of all of them is bounded, those included that the cache has dropped and a slow client still
// reads.
type manifests struct {
	cache    *otter.Cache[key, *representation]
	head     head              // common to all representations
	writers  chan *gzip.Writer // one per core: see render
	wait     time.Duration     // maximum wait for room to render
	inFlight *semaphore.Weighted
	limit    atomic.Int64 // bytes that inFlight grants at most, of the cache and of others
	used     atomic.Int64 // bytes that it has granted
}

func newManifests(cacheBytes int64, head head) *manifests {
	cacheBytes = cmp.Or(cacheBytes, DefaultCacheBytes)
	m := &manifests{
		head: head, writers: make(chan *gzip.Writer, runtime.GOMAXPROCS(0)),
		wait: DefaultInFlightWait, inFlight: semaphore.NewWeighted(math.MaxInt64),
	}
	for range cap(m.writers) {
		m.writers <- gzip.NewWriter(nil) // takes almost a megabyte once used
	}
	m.limit.Store(cacheBytes + DefaultInFlightBytes)
	m.inFlight.TryAcquire(math.MaxInt64 - m.limit.Load()) // a semaphore cannot grow, so reserve returns some of this
	m.cache = otter.Must(&otter.Options[key, *representation]{
		MaximumWeight:    uint64(cacheBytes),
		Weigher:          func(_ key, rep *representation) uint32 { return uint32(min(rep.size, math.MaxUint32)) },
		OnAtomicDeletion: func(e otter.DeletionEvent[key, *representation]) { m.release(e.Value) },
	})
	return m
}

// reserve makes sure that several manifests of a size fit besides those in the cache.
func (m *manifests) reserve(size int64) {
	limit := int64(m.cache.GetMaximum()) + inFlightManifests*size
	for before := m.limit.Load(); before < limit; before = m.limit.Load() {
		if m.limit.CompareAndSwap(before, limit) {
			m.inFlight.Release(limit - before)
		}
	}
}

// get returns a representation, and whether it was cached. The caller must release it after writing the response. The
// error is errBusy if there was no room in time.
func (m *manifests) get(route *route, host string, gzip bool) (rep *representation, hit bool, err error) {
	k := key{route.content, host, gzip}
	if rep, ok := m.cache.GetIfPresent(k); ok && rep.use() {
		return rep, true, nil
	}
	k.host = strings.Clone(host) // part of the request, which must not be kept alive
	for {
		made := false
		load := func(_ context.Context, k key) (*representation, error) {
			made = true
			return m.make(route, k)
		}
		// A rendering belongs to everybody who waits for it, so it does not end when the first client goes away.
		rep, err := m.cache.Get(context.Background(), k, otter.LoaderFunc[key, *representation](load))
		if err != nil || made || rep.use() {
			return rep, !made, err
		}
	}
}

// make renders a representation, as soon as there is room. It has two users: the cache and the caller.
func (m *manifests) make(route *route, k key) (rep *representation, err error) {
	size := min(int64(route.template.Size(k.host)+overhead), m.limit.Load())
	if !m.acquire(size) {
		return nil, errBusy
	}
	defer func() {
		if rep == nil {
			m.giveBack(size)
		}
	}()
	rep, err = m.render(route, k)
	if err != nil {
		return nil, err
	}
	rep.size = min(int64(cap(rep.full.body)+len(k.host)+overhead), size)
	m.giveBack(size - rep.size)
	rep.users.Store(2)
	return rep, nil
}

// acquire waits for room, and reports whether there was any in time. Only this wait is limited: a rendering that has
// begun is completed.
func (m *manifests) acquire(size int64) bool {
	if !m.inFlight.TryAcquire(size) {
		ctx, cancel := context.WithTimeout(context.Background(), m.wait)
		defer cancel()
		if m.inFlight.Acquire(ctx, size) != nil {
			return false
		}
	}
	m.used.Add(size)
	return true
}

func (m *manifests) release(rep *representation) {
	if rep.users.Add(-1) == 0 {
		m.giveBack(rep.size)
	}
}

func (m *manifests) giveBack(size int64) {
	m.used.Add(-size)
	m.inFlight.Release(size)
}
