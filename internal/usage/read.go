package usage

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
)

const (
	// blockSize is how much of a log is read at a time, or at least minRead. Workers get the lines in it.
	blockSize, minRead = 512 << 10, 64 << 10

	// maxLine is longer than the lines that servers write: they accept URLs and headers of up to 64 KiB.
	maxLine = 128 << 10

	// maxDocument is how large a HAR or a usage file may be.
	maxDocument = 16 << 20
)

// Count counts a log, whose formats it recognises line by line. What was read before an error, or before the context
// ended, is counted. After the context has ended, nothing more can be counted.
func (c *Counter) Count(ctx context.Context, name string, log io.Reader) error {
	c.logs++
	r := &reader{in: log, at: Line{Log: name, Number: 1, log: c.logs}}
	work := make(chan func(*worker))
	go r.run(ctx, work)
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() { w.do(ctx, work) })
	}
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(r.err, io.EOF) {
		return fmt.Errorf("read log %q: %w", name, r.err)
	}
	return nil
}

// do does work. It does not wait for more if the context ends, because there may never be any.
func (w *worker) do(ctx context.Context, work <-chan func(*worker)) {
	for {
		select {
		case f, more := <-work:
			if !more {
				return
			}
			f(w)
		case <-ctx.Done():
			return
		}
	}
}

// lines counts lines, which begin at a line of the log.
func (w *worker) lines(lines []byte, at Line) {
	for rest := lines; len(rest) > 0; at.Number++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		if len(line) > maxLine {
			w.unreadable(tooLong, line, at)
		} else {
			w.line(bytes.TrimSpace(line), at)
		}
	}
}

var newline = []byte("\n")

// reader cuts a log into work.
type reader struct {
	in   io.Reader
	text []byte // read, but not in any work yet
	err  error  // why there is no more to read
	at   Line   // the line that text begins with
}

// run sends the work of a log, as soon as there is a whole line.
func (r *reader) run(ctx context.Context, work chan<- func(*worker)) {
	defer close(work)
	r.open()
	for r.err == nil || len(r.text) > 0 {
		f := r.next()
		if f == nil {
			r.fill(len(r.text) + 1)
			continue
		}
		select {
		case work <- f:
		case <-ctx.Done():
			return
		}
	}
}

// next takes work from the text. It returns nil if that needs more of the log.
func (r *reader) next() func(*worker) {
	at := r.at
	end := bytes.LastIndexByte(r.text, '\n') + 1
	if r.err != nil {
		end = len(r.text)
	}
	begin := findDocument(r.text[:end])
	switch {
	case begin > 0:
		lines := r.take(begin)
		return func(w *worker) { w.lines(lines, at) }
	case begin < end && (len(r.text) >= maxStart || r.err != nil):
		return r.document()
	case end == 0 && len(r.text) >= blockSize:
		line := bytes.Clone(r.text[:maxMasked])
		r.skipLine()
		return func(w *worker) { w.unreadable(tooLong, line, at) }
	}
	return nil
}

// take takes what ends there from the text.
func (r *reader) take(end int) []byte {
	taken := r.text[:end]
	r.text = r.text[end:]
	r.at.Number += bytes.Count(taken, newline)
	return taken
}

// skipLine skips the rest of a line, however long it is.
func (r *reader) skipLine() {
	end := -1
	for ; end < 0 && len(r.text) > 0; end = bytes.IndexByte(r.text, '\n') {
		r.text = r.text[:0]
		r.fill(1)
	}
	r.text = r.text[end+1:]
	r.at.Number++
}

// open reads the beginning of a log, compressed or not.
func (r *reader) open() {
	r.fill(3)
	if bytes.HasPrefix(r.text, []byte("\x1f\x8b")) {
		unzipped, err := gzip.NewReader(io.MultiReader(bytes.NewReader(r.text), r.in))
		r.text, r.in, r.err = nil, unzipped, err
		r.fill(3)
	}
	r.text = bytes.TrimPrefix(r.text, []byte("\ufeff"))
}

// fill reads until there are so many bytes, or no more.
func (r *reader) fill(size int) {
	for len(r.text) < size && r.err == nil {
		if cap(r.text)-len(r.text) < minRead {
			r.text = slices.Grow(r.text, blockSize) // the work keeps what it has of the former one
		}
		var n int
		n, r.err = r.in.Read(r.text[len(r.text):cap(r.text)])
		r.text = r.text[:len(r.text)+n]
	}
}

// maxStart is how much of a line is looked at to see whether a document begins with it.
const maxStart = 256

// documentStart matches the beginning of a HAR or a usage file, as far as there is one. JSON lines may have a field log
// as well, with a text.
var documentStart = regexp.MustCompile(`^\{\s*($|"(log"\s*:\s*($|\{)|signpost_usage"|endpoints"))`)

// findDocument returns where in the lines of a text a HAR or a usage file may begin; otherwise, the end of the text.
func findDocument(text []byte) int {
	for begin := 0; begin < len(text); {
		if text[begin] == '{' && documentStart.Match(text[begin:min(begin+maxStart, len(text))]) {
			return begin
		}
		next := bytes.Index(text[begin:], []byte("\n{"))
		if next < 0 {
			break
		}
		begin += next + 1
	}
	return len(text)
}

// document takes a HAR or a usage file. If it does not end within maxDocument, it is left out.
func (r *reader) document() func(*worker) {
	at := r.at
	end := endOfValue(r.text, 0)
	for end < 0 && r.err == nil && len(r.text) < maxDocument {
		r.fill(2 * len(r.text))
		end = endOfValue(r.text, 0)
	}
	if end < 0 {
		end = len(r.text)
	}
	var document struct {
		Usage
		Log struct{ Entries []json.RawMessage }
	}
	err := json.Unmarshal(r.take(end), &document)
	switch {
	case err == nil && document.Log.Entries != nil:
		return func(w *worker) {
			for _, entry := range document.Log.Entries {
				w.line(entry, at)
			}
		}
	case err == nil && document.Format == FileFormat:
		return func(w *worker) { w.add(w.files, &document.Usage) }
	}
	return func(w *worker) { w.unreadable(badDocument, nil, at) }
}
