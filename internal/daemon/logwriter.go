package daemon

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"
)

// LogWriter writes log lines in the background, so that a reader that does not read, such as a full pipe, never holds
// up a request, a reload or a shutdown. Lines beyond the queue are dropped and counted.
type LogWriter struct {
	w       io.Writer
	queue   chan func() // that write a line, one after the other
	dropped atomic.Int64
}

const (
	// queuedLines is how many lines may wait: a burst of requests, at about 200 bytes each.
	queuedLines = 4096

	// flushTimeout is how long Flush waits for the queue to be written.
	flushTimeout = time.Second
)

// NewLogWriter returns a writer to w. Each call of its Write is a line.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{w: w, queue: make(chan func(), queuedLines)}
	go func() {
		for write := range l.queue {
			write()
		}
	}()
	return l
}

// Write queues a line. It never blocks and never fails.
func (l *LogWriter) Write(line []byte) (int, error) {
	own := bytes.Clone(line) // the caller uses its buffer again
	write := func() {
		if _, err := l.w.Write(own); err != nil {
			l.dropped.Add(1)
		}
	}
	select {
	case l.queue <- write:
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// Dropped returns the number of lines that were dropped, or could not be written.
func (l *LogWriter) Dropped() int64 { return l.dropped.Load() }

// Flush waits until the queued lines are written, as far as that is possible within a second.
func (l *LogWriter) Flush() {
	written, timeout := make(chan struct{}), time.After(flushTimeout)
	select {
	case l.queue <- func() { close(written) }:
	case <-timeout:
		return
	}
	select {
	case <-written:
	case <-timeout:
	}
}
