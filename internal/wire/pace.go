package wire

import (
	"sync/atomic"
	"time"
)

const (
	// maxAhead is how many bytes more than it has written an HTTP/2 connection reads without a pause, and how many it reads
	// at once. Together that is up to 480 PING frames, whose replies take 25 kB while they are queued.
	maxAhead = 4 << 10

	// quiet is how long nothing must have been written until all replies count as written. On a busy machine, a goroutine
	// that has something to write needs some of that time to get its turn.
	quiet = 10 * time.Millisecond
)

// pace keeps an HTTP/2 connection from reading much faster than it writes. net/http queues up to ten thousand replies
// to control frames for a client that does not read, which takes a third of a megabyte per connection.
type pace struct {
	on      atomic.Bool   // the connection uses HTTP/2; HTTP/1 replies to a request before it reads the next one
	ahead   atomic.Int64  // bytes read minus bytes written
	writing atomic.Bool   // a write is in progress
	wrote   chan struct{} // signals the end of a write
}

// beforeRead returns the part of b to read into. If the connection is too far ahead, it first waits until the queue is
// empty. Closing the connection ends the wait, since it ends the write in progress.
func (p *pace) beforeRead(b []byte) []byte {
	if !p.on.Load() {
		return b
	}
	b = b[:min(len(b), maxAhead)]
	if p.ahead.Load() <= maxAhead {
		return b
	}
	for {
		select {
		case <-p.wrote:
			continue
		case <-time.After(quiet):
		}
		if !p.writing.Load() {
			break
		}
		<-p.wrote
	}
	p.ahead.Store(0)
	return b
}

// read counts the bytes of a read.
func (p *pace) read(n int) {
	if p.on.Load() {
		p.ahead.Add(int64(n))
	}
}

// write calls w and counts its bytes.
func (p *pace) write(w func([]byte) (int, error), b []byte) (int, error) {
	if !p.on.Load() {
		return w(b)
	}
	p.writing.Store(true)
	n, err := w(b)
	p.writing.Store(false)
	if p.ahead.Add(-int64(n)) < 0 {
		p.ahead.Store(0)
	}
	select {
	case p.wrote <- struct{}{}:
	default:
	}
	return n, err
}
