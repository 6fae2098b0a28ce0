package server

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// DefaultInFlightBytes is room for a few hundred typical manifests that are being rendered or sent and are not in
	// the cache. It takes as many made-up hosts, or clients that do not read, to fill it.
	DefaultInFlightBytes = 16 << 20

	// DefaultInFlightWait is long enough for a burst to pass, and shorter than the patience of a studio.
	DefaultInFlightWait = 3 * time.Second

	// inFlightManifests is the minimum number of manifests of the largest size that fit, so that a single slow client
	// does not block all others.
	inFlightManifests = 4

	// maxStreams limits the number of concurrent HTTP/2 requests. Each takes some 16 kB, and a client can have many of
	// them on one connection without reading any response. HTTP/1 has one request per connection.
	maxStreams = 512
)

// errBusy means that there was no room for a manifest in time.
var errBusy = errors.New("too many manifests are in flight")

// room limits the bytes of manifests in flight: those being rendered, and those being sent that are not in the cache.
// Requests wait in FIFO order before anything is allocated.
type room struct {
	mu      sync.Mutex
	limit   int64
	used    int64
	waiting list.List // of *waiter
}

type waiter struct {
	need  int64
	ready chan struct{} // closed when its bytes have been reserved
}

// enter reserves bytes, waiting until ctx ends if necessary. A request that exceeds the limit gets all of it. enter
// returns the number of bytes reserved, which must be passed to leave.
func (r *room) enter(ctx context.Context, need int64) (int64, error) {
	r.mu.Lock()
	need = min(need, r.limit)
	if r.waiting.Len() == 0 && r.used+need <= r.limit {
		r.used += need
		r.mu.Unlock()
		return need, nil
	}
	w := &waiter{need, make(chan struct{})}
	place := r.waiting.PushBack(w)
	r.mu.Unlock()

	select {
	case <-w.ready:
		return w.need, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.ready: // granted at the same time
		return w.need, nil
	default:
		r.waiting.Remove(place)
		r.admit() // it may have blocked smaller ones
		return 0, errBusy
	}
}

// take accounts for bytes already in use, regardless of the limit.
func (r *room) take(n int64) {
	r.mu.Lock()
	r.used += n
	r.mu.Unlock()
}

// leave releases bytes.
func (r *room) leave(n int64) {
	r.mu.Lock()
	r.used -= n
	r.admit()
	r.mu.Unlock()
}

// resize changes the limit.
func (r *room) resize(limit int64) {
	r.mu.Lock()
	r.limit = limit
	r.admit()
	r.mu.Unlock()
}

// admit grants waiting requests in order, as far as there is room. The caller holds the lock.
func (r *room) admit() {
	for place := r.waiting.Front(); place != nil; place = r.waiting.Front() {
		w := place.Value.(*waiter)
		w.need = min(w.need, r.limit)
		if r.used+w.need > r.limit {
			return
		}
		r.used += w.need
		r.waiting.Remove(place)
		close(w.ready)
	}
}

func (r *room) inUse() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
