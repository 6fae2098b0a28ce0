package usage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
)

const (
	// blockSize is how much of a log a worker gets at a time. There are three blocks for each core.
	blockSize = 512 << 10

	// maxLine is longer than the lines that servers write: they accept URLs and headers of up to 64 KiB.
	maxLine = 128 << 10

	// maxDocument is how large a HAR or a usage file may be.
	maxDocument = 16 << 20
)

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

// Count counts a log, whose formats it recognises line by line. What was read before an error, or before the context ended, is
// counted.
func (c *Counter) Count(ctx context.Context, name string, log io.Reader) error {
	c.logs++
	r := &reader{ctx: ctx, at: Line{Log: name, Number: 1, log: c.logs}, blocks: make(chan block), free: make(chan []byte, 3*len(c.workers))}
	for range cap(r.free) {
		r.free <- nil
	}
	failed := make(chan error, 1)
	go func() { // abandoned if it waits for input when the context ends
		failed <- r.read(log)
		close(r.blocks)
	}()
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() {
			for ctx.Err() == nil {
				select {
				case b, open := <-r.blocks:
					if !open {
						return
					}
					w.block(b)
					r.free <- b.lines
				case <-ctx.Done():
				}
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := <-failed; err != nil {
		return fmt.Errorf("read log %q: %w", name, err)
	}
	return nil
}

var newline = []byte("\n")

// reader cuts a log into blocks.
type reader struct {
	ctx    context.Context
	in     *bufio.Reader
	at     Line // the line that is read next
	blocks chan block
	free   chan []byte // buffers for lines
}

// read reads a log, compressed or not.
func (r *reader) read(log io.Reader) error {
	r.in = bufio.NewReaderSize(log, blockSize)
	if magic, _ := r.in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(r.in)
		if err != nil {
			return err
		}
		r.in = bufio.NewReaderSize(unzipped, blockSize)
	}
	if mark, _ := r.in.Peek(3); string(mark) == "\ufeff" {
		r.in.Discard(3)
	}
	for r.ctx.Err() == nil {
		size := r.in.Buffered()
		if size < maxLine {
			size = blockSize // moves what is left to the front of the buffer, so not after every small document
		}
		text, err := r.in.Peek(size)
		if len(text) == 0 && errors.Is(err, io.EOF) {
			return nil
		} else if len(text) == 0 {
			return err
		}
		end := bytes.LastIndexByte(text, '\n') + 1
		if err != nil {
			end = len(text) // the last line
		}
		begin, isDocument := findDocument(text, end)
		switch {
		case end == 0:
			r.send(block{lines: text[:maxMasked], reason: tooLong}, 1)
			r.skipLine()
		case begin > 0:
			r.send(block{lines: text[:begin]}, bytes.Count(text[:begin], newline))
			r.in.Discard(begin)
		case isDocument:
			r.document()
		}
	}
	return r.ctx.Err()
}

// send hands a block with a copy of its lines to a worker, and goes on by a number of lines.
func (r *reader) send(b block, lines int) {
	b.at = r.at
	r.at.Number += lines
	select {
	case buffer := <-r.free:
		b.lines = append(buffer[:0], b.lines...)
	case <-r.ctx.Done():
		return
	}
	select {
	case r.blocks <- b:
	case <-r.ctx.Done():
	}
}

// skipLine skips the rest of a line, however long it is.
func (r *reader) skipLine() {
	for r.ctx.Err() == nil {
		if _, err := r.in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// documentStart matches the beginning of a HAR or a usage file, which may have many lines. maxStart is how much of it is
// looked at.
var documentStart = regexp.MustCompile(`^\{\s*("log"\s*:\s*\{|"signpost_usage"\s*:|"endpoints"\s*:)`)

const maxStart = 256

// findDocument returns where a document begins in the lines that end at a position of the text, or that position.
func findDocument(text []byte, end int) (begin int, found bool) {
	for begin < end {
		start := text[begin:min(begin+maxStart, len(text))]
		if start[0] == '{' && documentStart.Match(start) {
			return begin, true
		}
		next := bytes.Index(text[begin:end], []byte("\n{"))
		if next < 0 {
			break
		}
		begin += next + 1
	}
	return end, false
}

// document reads a HAR or a usage file. If it does not end within maxDocument, it is left out.
func (r *reader) document() {
	text, err := r.in.Peek(r.in.Buffered())
	end, taken := endOfValue(text, 0), 0
	for end < 0 && err == nil && len(text) < maxDocument {
		if taken == 0 {
			text = bytes.Clone(text)
		}
		r.in.Discard(len(text) - taken)
		taken = len(text)
		var more []byte
		more, err = r.in.Peek(blockSize)
		text = append(text, more...)
		end = endOfValue(text, 0)
	}
	if end >= 0 {
		text = text[:end]
	}
	r.in.Discard(len(text) - taken)
	var document struct {
		Usage
		Log struct{ Entries []json.RawMessage }
	}
	b := block{reason: badDocument}
	if json.Unmarshal(text, &document) == nil {
		switch {
		case document.Log.Entries != nil:
			b = block{requests: document.Log.Entries}
		case document.Format == FileFormat:
			b = block{usage: &document.Usage}
		}
	}
	r.send(b, bytes.Count(text, newline))
}
