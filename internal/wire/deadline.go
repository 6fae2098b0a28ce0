package wire

import (
	"os"
	"sync"
	"time"
)

// deadlineSlack is how much later than asked for a deadline may be. For each request, net/http moves the deadlines of a
// connection eight times; the runtime is told about once in this time. That and the reads in the background, which
// never reach the kernel, save about a tenth of a request (go run ./bench compare).
const deadlineSlack = time.Second

// deadline is that of reads or of writes. It is set when an operation needs it.
type deadline struct{ wanted, set time.Time }

// due returns the deadline to set before an operation. It returns false if the one that is set will do.
func (d *deadline) due() (time.Time, bool) {
	ahead := d.set.Sub(d.wanted)
	switch {
	case d.wanted.IsZero() && d.set.IsZero(), !d.wanted.IsZero() && 0 <= ahead && ahead < deadlineSlack:
		return d.set, false
	case d.wanted.IsZero():
		d.set = time.Time{}
	default:
		d.set = d.wanted.Add(deadlineSlack)
	}
	return d.set, true
}

// backgroundRead replaces the read of one byte by which net/http learns during a request that the client is gone.
// A manifest is written before that matters.
type backgroundRead struct {
	mu      sync.Mutex
	changed sync.Cond
	aborted bool
}

// wait waits until net/http aborts the read.
func (b *backgroundRead) wait() (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.aborted {
		b.changed.Wait()
	}
	return 0, os.ErrDeadlineExceeded
}

// abort ends the read, or the next one if there is none yet. With false it lets reads wait again.
func (b *backgroundRead) abort(yes bool) {
	b.mu.Lock()
	b.aborted = yes
	b.mu.Unlock()
	b.changed.Signal()
}
