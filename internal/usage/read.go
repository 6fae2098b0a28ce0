package usage

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

const (
	// blockSize is how much of a log is read at a time, and at most how much a worker gets.
	blockSize = 512 << 10

	// maxLine is longer than the lines that servers write: they accept URLs and headers of up to 64 KiB.
	maxLine = 128 << 10

	// maxDocument is how large a HAR or a usage file may be.
	maxDocument = 16 << 20
)

// Count counts a log, whose formats it recognises line by line. What was read before an error, or before the context
// ended, is counted. After the context has ended, nothing more can be counted.
func (c *Counter) Count(ctx context.Context, name string, log io.Reader) error {
	c.logs++
	r := &reader{ctx: ctx, in: log, at: Line{Log: name, Number: 1, log: c.logs}}
	var counting sync.RWMutex // held for reading by workers that count
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() {
			var buffer []byte
			for more := true; more; {
				var b block
				b, more = r.next(buffer)
				counting.RLock()
				if more = more && ctx.Err() == nil; more {
					w.block(b)
				}
				counting.RUnlock()
				buffer = b.lines
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done(): // a worker may wait for input forever
		counting.Lock()
		defer counting.Unlock()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(r.err, io.EOF) {
		return fmt.Errorf("read log %q: %w", name, r.err)
	}
	return nil
}

// block is work for a worker: lines of a log, the requests of a HAR, a usage file, or a line that cannot be read.
type block struct {
	lines    []byte
	requests []json.RawMessage
	usage    *Usage
	reason   string
	at       Line // its first line
}

func (w *worker) block(b block) {
	switch {
	case b.usage != nil:
		w.add(b.usage)
	case b.reason != "":
		w.unreadable(b.reason, b.lines, b.at)
		return
	}
	for _, request := range b.requests {
		w.line(request, b.at)
	}
	for rest := b.lines; len(rest) > 0; b.at.Number++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, newline)
		if len(line) > maxLine {
			w.unreadable(tooLong, line, b.at)
		} else {
			w.line(bytes.TrimSpace(line), b.at)
		}
	}
}

var newline = []byte("\n")

// reader cuts a log into blocks.
type reader struct {
	mu     sync.Mutex
	ctx    context.Context
	in     io.Reader
	opened bool
	text   []byte // read, but not in a block yet
	err    error  // why there is no more to read
	at     Line   // the line that text begins with
}

// next returns the next block, as soon as there is a whole line. It takes a buffer that is no longer used.
func (r *reader) next(free []byte) (b block, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.opened {
		r.open()
	}
	for {
		end := bytes.LastIndexByte(r.text, '\n') + 1
		if r.err != nil {
			end = len(r.text)
		}
		begin, found := findDocument(r.text[:end], r.err != nil)
		switch {
		case found && begin == 0:
			return r.document(), true
		case begin > 0:
			b = block{lines: r.text[:begin], at: r.at}
			r.text = append(free[:0], r.text[begin:]...)
			r.at.Number += bytes.Count(b.lines, newline)
			return b, true
		case end == 0 && len(r.text) >= blockSize:
			b = block{lines: bytes.Clone(r.text[:maxMasked]), reason: tooLong, at: r.at}
			r.skipLine()
			return b, true
		case r.err != nil:
			return b, false
		}
		r.fill(len(r.text) + 1)
	}
}

// open reads the beginning of a log, compressed or not.
func (r *reader) open() {
	r.opened = true
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
		r.text = slices.Grow(r.text, blockSize)
		var n int
		n, r.err = r.in.Read(r.text[len(r.text) : len(r.text)+blockSize])
		r.text = r.text[:len(r.text)+n]
		if r.ctx.Err() != nil {
			r.err = r.ctx.Err()
		}
	}
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

// maxStart is how much of a line is looked at to see whether a document begins with it.
const maxStart = 256

// findDocument returns where in the lines of a text a HAR or a usage file begins, or may begin if there is more to
// come; otherwise, the end of the text.
func findDocument(text []byte, whole bool) (begin int, found bool) {
	for ; begin < len(text); begin++ {
		brace := bytes.IndexByte(text[begin:], '{')
		if brace < 0 {
			break
		}
		begin += brace
		if begin > 0 && text[begin-1] != '\n' {
			continue
		}
		start := text[begin+1 : min(begin+maxStart, len(text))]
		name := bytes.TrimLeft(start, " \t\r\n")
		if len(name) == 0 && len(start) < maxStart-1 && !whole {
			return begin, false
		}
		if isDocument(name) {
			return begin, true
		}
	}
	return len(text), false
}

// isDocument reports whether a HAR or a usage file begins with these members.
func isDocument(members []byte) bool {
	if log, found := bytes.CutPrefix(members, []byte(`"log"`)); found { // also a field of JSON lines, with a text
		return bytes.HasPrefix(bytes.TrimLeft(log, " \t\r\n:"), []byte("{"))
	}
	return bytes.HasPrefix(members, []byte(`"signpost_usage"`)) || bytes.HasPrefix(members, []byte(`"endpoints"`))
}

// document reads a HAR or a usage file. If it does not end within maxDocument, it is left out.
func (r *reader) document() block {
	end := endOfValue(r.text, 0)
	for end < 0 && r.err == nil && len(r.text) < maxDocument {
		r.fill(2 * len(r.text))
		end = endOfValue(r.text, 0)
	}
	if end < 0 {
		end = len(r.text)
	}
	b := block{reason: badDocument, at: r.at}
	var document struct {
		Usage
		Log struct{ Entries []json.RawMessage }
	}
	if json.Unmarshal(r.text[:end], &document) == nil {
		switch {
		case document.Log.Entries != nil:
			b = block{requests: document.Log.Entries, at: r.at}
		case document.Format == FileFormat:
			b = block{usage: &document.Usage, at: r.at}
		}
	}
	r.at.Number += bytes.Count(r.text[:end], newline)
	r.text = r.text[end:]
	return b
}
