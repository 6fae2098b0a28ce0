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

// key says what a representation is of.
type key struct {
	route *route
	host  string
	gzip  bool
}

const (
	// entryOverhead is counted for every entry beside its body and host: the structs, their headers and the
	// slots in map and list, rounded up.
	entryOverhead = 2 << 10

	// maxConsidered bounds the entries that are looked at to make room for one. If all of them are being sent, the
	// new one is not kept.
	maxConsidered = 64

	// recently is how long an entry that was asked for again is spared, and up to twice as long. A studio comes back
	// within seconds, a made-up host never does.
	recently = 10 * time.Second
)

// cache keeps representations, as many as fit into its limit. Those that were asked for again recently stay longer, so
// that a stream of made-up hosts drives out only itself. What is being sent stays too, since dropping it would free
// nothing.
type cache struct {
	limit  int64
	wait   time.Duration // for room to render in
	room   room          // of what is outside the cache
	render *renderer

	now     func() time.Time
	started time.Time
	epoch   atomic.Int64 // counts from 1, in steps of recently

	mu      sync.RWMutex
	entries map[key]*entry // including those still being made, which are neither in queue nor in bytes
	queue   list.List      // of *entry, the next to consider in front
	bytes   int64

	// turnedAway has the hashes of keys for which there was no room among entries that are asked for again and again.
	turnedAway [1024]uint64
	seed       maphash.Seed
}

// entry is a representation in use: being made, kept in the cache, being sent, or several of these.
type entry struct {
	key
	made    chan struct{} // closed when rep or err is set
	rep     *representation
	err     error
	ready   atomic.Bool // rep is set
	size    int64
	again   atomic.Int64 // epoch in which it was last asked for again; 0 if it was asked for once
	users   atomic.Int32 // responses, whoever makes it, and the cache
	outside atomic.Bool  // size is taken from the room, by all users together
}

func newCache(limit, inFlight int64, wait time.Duration, render *renderer) *cache {
	c := &cache{limit: limit, wait: wait, render: render, entries: make(map[key]*entry), now: time.Now, started: time.Now(), seed: maphash.MakeSeed()}
	c.epoch.Store(1)
	c.room.limit = inFlight
	return c
}

// get returns an entry with its representation, and whether it was there before. The caller releases it when the
// response was written. The error is errBusy if there was no room to make it before ctx ended or the wait was over.
func (c *cache) get(ctx context.Context, k key) (e *entry, hit bool, err error) {
	c.mu.RLock()
	if e = c.entries[k]; e != nil {
		e.users.Add(1)
		if epoch := c.epoch.Load(); e.again.Load() != epoch { // not stored every time: cores would fight over it
			e.again.Store(epoch)
		}
	}
	c.mu.RUnlock()
	if e != nil && e.ready.Load() {
		return e, true, nil
	}
	return c.getSlowly(ctx, k, e)
}

// getSlowly makes an entry, or waits until whoever came first has made it.
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
		case <-e.made: // even if ctx has ended: net/http ends it when a client closes its side, but may still read
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
		e = nil // it was too late for the one who came first, which may have been its client's fault
	}
}

// add returns the entry of a key, with the caller among its users, and whether the caller has to make it.
func (c *cache) add(k key) (e *entry, first bool) {
	k.host = strings.Clone(k.host) // it is a piece of a request, which must not live on
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

// make makes the representation of an entry, as soon as there is room for it.
func (c *cache) make(ctx context.Context, e *entry) {
	var taken int64
	defer func() {
		if e.rep == nil && e.err == nil {
			e.err = errors.New("rendering ended in a panic") // for those who wait
		}
		c.settle(e, taken)
		close(e.made)
	}()
	if taken, e.err = c.room.enter(ctx, int64(e.route.template.Size(e.host)+entryOverhead)); e.err == nil {
		e.rep, e.err = c.render.render(ctx, e.key)
	}
}

// settle puts an entry into the cache if there is room for it there. Else it stays in the room that was taken for it,
// until its last user releases it.
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
	e.users.Add(1) // the cache
	c.queue.PushBack(e)
	c.bytes += e.size
}

// makeRoom drops what nobody has asked for again recently and reports whether there is room for an entry then. Others are
// dropped only for an entry that did not find room the last time it was made, too. The caller holds the lock.
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

// evict drops entries until there is room for this many bytes, but for those that are being sent and, if it is sparing,
// those that were asked for again recently.
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

// remove takes an entry out. The caller holds the lock.
func (c *cache) remove(place *list.Element) {
	e := c.queue.Remove(place).(*entry)
	delete(c.entries, e.key)
	c.bytes -= e.size
	if e.users.Load() > 1 { // it is being sent, and stays in memory until then
		c.room.take(e.size)
		e.outside.Store(true)
	}
	c.release(e)
}

// release ends a use of an entry.
func (c *cache) release(e *entry) {
	if e.users.Add(-1) == 0 && e.outside.Load() {
		c.room.leave(e.size)
	}
}

// drop forgets what was made of routes that are no longer published, and what is still being made of them.
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
