package daemon

import (
	"io"
	"sync/atomic"
	"time"
)

// LogWriter writes log lines in the background, so that a reader that does not read, such as a full pipe, never holds up a
// request, a reload or a shutdown. Lines beyond the queue are dropped and counted.
type LogWriter struct {
	w       io.Writer
	lines   chan []byte
	done    chan struct{}
	dropped atomic.Int64
}

const (
	// queuedLines is how many lines may wait: a burst of requests, at about 200 bytes each.
	queuedLines = 4096

	// lastLines is how long Close waits for the queue to be written.
	lastLines = time.Second
)

// NewLogWriter returns a writer to w. Each call of its Write is a line.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{w: w, lines: make(chan []byte, queuedLines), done: make(chan struct{})}
	go l.run()
	return l
}

func (l *LogWriter) run() {
	defer close(l.done)
	for line := <-l.lines; line != nil; line = <-l.lines { // nil is from Close
		if _, err := l.w.Write(line); err != nil {
			l.dropped.Add(1)
		}
	}
}

// Write queues a line. It never blocks and never fails.
func (l *LogWriter) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte{}, line...): // the caller uses its buffer again
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// Dropped returns the number of lines that were dropped, or could not be written.
func (l *LogWriter) Dropped() int64 { return l.dropped.Load() }

// Close writes the queued lines, as far as that is possible within a second. Lines that are written later are lost.
func (l *LogWriter) Close() {
	timeout := time.After(lastLines)
	select {
	case l.lines <- nil:
	case <-timeout:
		return
	}
	select {
	case <-l.done:
	case <-timeout:
	}
}
