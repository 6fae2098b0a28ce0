package daemon

import (
	"io"
	"sync/atomic"
	"time"
)

// LogWriter writes log lines in the background, so that a reader that does not read, such as a full pipe, never holds
// up a request, a reload or a shutdown. Lines beyond the queue are dropped and counted.
type LogWriter struct {
	w       io.Writer
	queue   chan queued
	dropped atomic.Int64
}

// queued is a line, or a mark whose channel is closed when all lines before it are written.
type queued struct {
	line []byte
	mark chan struct{}
}

const (
	// queuedLines is how many lines may wait: a burst of requests, at about 200 bytes each.
	queuedLines = 4096

	// flushTimeout is how long Flush waits for the queue to be written.
	flushTimeout = time.Second
)

// NewLogWriter returns a writer to w. Each call of its Write is a line.
func NewLogWriter(w io.Writer) *LogWriter {
	l := &LogWriter{w: w, queue: make(chan queued, queuedLines)}
	go l.run()
	return l
}

func (l *LogWriter) run() {
	for next := range l.queue {
		if next.mark != nil {
			close(next.mark)
		} else if _, err := l.w.Write(next.line); err != nil {
			l.dropped.Add(1)
		}
	}
}

// Write queues a line. It never blocks and never fails.
func (l *LogWriter) Write(line []byte) (int, error) {
	select {
	case l.queue <- queued{line: append([]byte{}, line...)}: // the caller uses its buffer again
	default:
		l.dropped.Add(1)
	}
	return len(line), nil
}

// Dropped returns the number of lines that were dropped, or could not be written.
func (l *LogWriter) Dropped() int64 { return l.dropped.Load() }

// Flush waits until the queued lines are written, as far as that is possible within a second.
func (l *LogWriter) Flush() {
	mark, timeout := make(chan struct{}), time.After(flushTimeout)
	select {
	case l.queue <- queued{mark: mark}:
	case <-timeout:
		return
	}
	select {
	case <-mark:
	case <-timeout:
	}
}
