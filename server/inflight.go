package server

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// DefaultInFlightBytes is room for a few hundred usual manifests that are rendered or sent at the same time and
	// are not in the cache. That takes as many made-up hosts, or clients that do not read.
	DefaultInFlightBytes = 16 << 20

	// DefaultInFlightWait is long enough for a burst to pass, and shorter than the patience of a studio.
	DefaultInFlightWait = 3 * time.Second

	// inFlightManifests is how many of the largest manifest fit at least, so that a client that reads slowly does
	// not keep out all others.
	inFlightManifests = 4

	// maxStreams bounds the HTTP/2 requests that are answered at the same time. Each takes some 16 kB, and a client
	// can have many of them on a connection and read none of the responses. HTTP/1 has one for each connection.
	maxStreams = 512
)

// errBusy says that there was no room for a manifest in time.
var errBusy = errors.New("too many manifests are in flight")

// room bounds the bytes of manifests that are in flight: being rendered, or being sent while they are not in the
// cache. Whoever needs some waits for it, first come first served, before anything is allocated.
type room struct {
	mu      sync.Mutex
	limit   int64
	used    int64
	waiting list.List // of *waiter
}

type waiter struct {
	need  int64
	ready chan struct{} // closed when the bytes were taken for it
}

// enter takes bytes, or waits for them until ctx ends. More than there could ever be counts as all there are. It returns
// the bytes that it took, which must be given back with leave.
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
	case <-w.ready: // just now
		return w.need, nil
	default:
		r.waiting.Remove(place)
		r.admit() // it may have kept smaller ones waiting
		return 0, errBusy
	}
}

// take takes bytes that are there already, whatever the limit.
func (r *room) take(n int64) {
	r.mu.Lock()
	r.used += n
	r.mu.Unlock()
}

// leave gives bytes back.
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

// admit lets in who is next, as far as there is room. The caller holds the lock.
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
