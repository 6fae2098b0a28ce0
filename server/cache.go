package server

import (
	"container/list"
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// key identifies a representation.
type key struct {
	route *route
	host  string
	gzip  bool
}

const (
	// entryOverhead is added to the size of every entry: the structs, headers and slots in map and list, rounded up.
	entryOverhead = 2 << 10

	// maxConsidered limits how many entries are examined to make room for a new one. If all of them are being sent, the
	// new one is not cached.
	maxConsidered = 64

	// recently is the minimum time for which an entry that was requested again is spared; it may be up to twice as
	// long. Studios come back within seconds, made-up hosts never do.
	recently = 10 * time.Second
)

// cache holds representations up to a limit in bytes. Those that were requested again recently stay longer, so that a
// stream of made-up hosts evicts only itself. Representations that are being sent stay as well, because dropping them
// would free nothing.
type cache struct {
	limit  int64
	wait   time.Duration // maximum wait for room to render
	room   room          // for representations outside the cache
	render *renderer

	now     func() time.Time
	started time.Time
	epoch   atomic.Int64 // counts up from 1 every recently

	mu      sync.RWMutex
	entries map[key]*entry // including those being made, which are neither in queue nor in bytes
	queue   list.List      // of *entry, next candidate for eviction first
	bytes   int64

	// turnedAway holds hashes of keys that found no room because all entries were in frequent use.
	turnedAway [1024]uint64
	seed       maphash.Seed
}

// entry is a representation in use: being made, cached, being sent, or several of these.
type entry struct {
	key
	made    chan struct{} // closed when rep or err is set
	rep     *representation
	err     error
	ready   atomic.Bool // rep is set
	size    int64
	again   atomic.Int64 // epoch of the last repeated request; 0 if requested only once
	users   atomic.Int32 // responses, the goroutine making it, and the cache
	outside atomic.Bool  // size counts against room, once for all users
}

func newCache(limit, inFlight int64, wait time.Duration, render *renderer) *cache {
	c := &cache{limit: limit, wait: wait, render: render, entries: make(map[key]*entry), now: time.Now, started: time.Now(), seed: maphash.MakeSeed()}
	c.epoch.Store(1)
	c.room.limit = inFlight
	return c
}

// get returns an entry with its representation, and whether it was cached. The caller must release it after writing the
// response. The error is errBusy if there was no room before ctx ended or the wait was over.
func (c *cache) get(ctx context.Context, k key) (e *entry, hit bool, err error) {
	c.mu.RLock()
	if e = c.entries[k]; e != nil {
		e.users.Add(1)
		c.askedAgain(e)
		if recent := k.route.recent.of(k.gzip); e.ready.Load() && recent.Load() != e {
			recent.Store(e) // under the lock: an entry that was removed must not come back
		}
	}
	c.mu.RUnlock()
	if e != nil && e.ready.Load() {
		return e, true, nil
	}
	return c.getSlowly(ctx, k, e)
}

// recent returns the entry that was last requested, if it is for this host. Most services have one host, which then
// needs neither a lock nor a lookup.
func (c *cache) recent(route *route, host string, gzip bool) *entry {
	e := route.recent.of(gzip).Load()
	if e == nil || e.host != host || !e.use() {
		return nil
	}
	c.askedAgain(e)
	return e
}

// askedAgain marks an entry as requested again recently.
func (c *cache) askedAgain(e *entry) {
	if epoch := c.epoch.Load(); e.again.Load() != epoch { // avoid contention between cores: store only on change
		e.again.Store(epoch)
	}
}

// use adds a user to an entry, unless it has none any more.
func (e *entry) use() bool {
	for {
		n := e.users.Load()
		if n == 0 || e.users.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

// getSlowly makes an entry, or waits until the goroutine that came first has made it.
func (c *cache) getSlowly(ctx context.Context, k key, e *entry) (*entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	for {
		first := false
		if e == nil {
			if e, first = c.add(k); first {
				c.make(ctx, e)
			}
		}
		select {
		case <-e.made: // even if ctx has ended: net/http cancels it when a client closes its side, but the client may still read
		default:
			select {
			case <-e.made:
			case <-ctx.Done():
				c.release(e)
				return nil, false, errBusy
			}
		}
		if e.err == nil {
			return e, !first, nil
		}
		err := e.err
		c.release(e)
		if first || !errors.Is(err, errBusy) || ctx.Err() != nil {
			return nil, false, err
		}
		e = nil // the first one gave up, perhaps only because its client went away
	}
}

// add returns the entry of a key with the caller as a user, and whether the caller has to make it.
func (c *cache) add(k key) (e *entry, first bool) {
	k.host = strings.Clone(k.host) // part of the request, which must not be kept alive
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.entries[k]
	if first = e == nil; first {
		e = &entry{key: k, made: make(chan struct{})}
		c.entries[k] = e
	}
	e.users.Add(1)
	return e, first
}

// make makes the representation of an entry, as soon as there is room.
func (c *cache) make(ctx context.Context, e *entry) {
	var taken int64
	defer func() {
		if e.rep == nil && e.err == nil {
			e.err = errors.New("rendering ended in a panic") // for waiters
		}
		c.settle(e, taken)
		close(e.made)
	}()
	if taken, e.err = c.room.enter(ctx, int64(e.route.template.Size(e.host)+entryOverhead)); e.err == nil {
		e.rep, e.err = c.render.render(ctx, e.key)
	}
}

// settle moves an entry into the cache if it fits. Otherwise it keeps its room until its last user releases it.
func (c *cache) settle(e *entry, taken int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.rep == nil {
		delete(c.entries, e.key)
		c.room.leave(taken)
		return
	}
	e.size = int64(cap(e.rep.full.body) + len(e.host) + entryOverhead)
	e.ready.Store(true)
	if e.route.retired.Load() || !c.makeRoom(e) {
		delete(c.entries, e.key)
		e.outside.Store(true)
		c.room.take(e.size)
		c.room.leave(taken)
		return
	}
	c.room.leave(taken)
	e.users.Add(1) // the cache is a user
	c.queue.PushBack(e)
	c.bytes += e.size
}

// makeRoom evicts entries that were not requested again recently and reports whether there is room then. Other entries
// are evicted only for an entry that did not fit the last time it was made, either. The caller holds the lock.
func (c *cache) makeRoom(e *entry) bool {
	if e.size > c.limit {
		return false
	}
	c.epoch.Store(1 + int64(c.now().Sub(c.started)/recently))
	if c.evict(e.size, true) {
		return true
	}
	hash := maphash.Comparable(c.seed, e.key)
	if place := &c.turnedAway[hash%uint64(len(c.turnedAway))]; *place != hash {
		*place = hash
		return false
	}
	e.again.Store(c.epoch.Load())
	return c.evict(e.size, false)
}

// evict drops entries until size bytes are free. It skips those being sent and, if sparing, those requested again
// recently.
func (c *cache) evict(size int64, sparing bool) bool {
	for range maxConsidered {
		if c.bytes+size <= c.limit {
			return true
		}
		front := c.queue.Front()
		e := front.Value.(*entry)
		again := e.again.Load()
		recent := again > 0 && again >= c.epoch.Load()-1
		if e.users.Load() > 1 || sparing && recent {
			c.queue.MoveToBack(front)
		} else {
			c.remove(front)
		}
	}
	return c.bytes+size <= c.limit
}

// remove removes an entry. The caller holds the lock.
func (c *cache) remove(place *list.Element) {
	e := c.queue.Remove(place).(*entry)
	delete(c.entries, e.key)
	e.route.recent.of(e.gzip).CompareAndSwap(e, nil)
	c.bytes -= e.size
	if e.users.Load() > 1 { // being sent, so it stays in memory
		c.room.take(e.size)
		e.outside.Store(true)
	}
	c.release(e)
}

// release ends one use of an entry.
func (c *cache) release(e *entry) {
	if e.users.Add(-1) == 0 && e.outside.Load() {
		c.room.leave(e.size)
	}
}

// drop removes everything made for routes that are no longer published, including what is still being made.
func (c *cache) drop(routes []*route) {
	if len(routes) == 0 {
		return
	}
	for _, route := range routes {
		route.retired.Store(true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for place := c.queue.Front(); place != nil; {
		next := place.Next()
		if place.Value.(*entry).route.retired.Load() {
			c.remove(place)
		}
		place = next
	}
}

func (c *cache) size() (entries int, bytes int64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.queue.Len(), c.bytes
}
