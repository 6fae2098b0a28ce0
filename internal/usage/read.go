package usage

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
)

const (
	// blockSize is how much of a log a worker gets at a time.
	blockSize = 512 << 10

	// maxLine is longer than the lines that servers write: they accept URLs and headers of up to 64 KiB.
	maxLine = 128 << 10

	// maxDocument is how large a HAR or a usage file may be. What has no end within it is read as if it ended there.
	maxDocument = 16 << 20
)

// Count counts a log, whose formats it recognises line by line. What was read before an error, or before the context
// ended, is counted. After the context has ended, nothing more can be counted.
func (c *Counter) Count(ctx context.Context, name string, log io.Reader) error {
	blocks, failed := make(chan block), make(chan error, 1)
	go func() {
		failed <- readBlocks(ctx, log, Line{Log: name, Number: 1}, blocks)
		close(blocks)
	}()
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() { w.run(ctx, blocks) })
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

// block is a part of a log: whole lines, or one document.
type block struct {
	text *[]byte // of buffers
	at   Line    // the first line
}

// buffers are the texts of blocks that were counted. Counting takes a sixth longer without it (BenchmarkCount does not
// show it: it reads nothing).
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// run counts blocks. It does not wait for more if the context ends, because there may never be any.
func (w *worker) run(ctx context.Context, blocks <-chan block) {
	for {
		select {
		case b, ok := <-blocks:
			if !ok {
				return
			}
			w.block(*b.text, b.at)
			buffers.Put(b.text)
		case <-ctx.Done():
			return
		}
	}
}

func (w *worker) block(text []byte, at Line) {
	if startsDocument(text) {
		w.document(text, at)
		return
	}
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			w.unreadable(tooLong, line, at)
		} else {
			w.line(bytes.TrimSpace(line), at)
		}
		at.Number++
	}
}

// document counts a HAR or a usage file, or else a line of JSON that begins like one.
func (w *worker) document(text []byte, at Line) {
	var document struct {
		Usage
		Log struct{ Entries []json.RawMessage }
	}
	err := json.Unmarshal(text, &document)
	switch {
	case err != nil || document.Format > FileFormat:
		w.unreadable(badDocument, nil, at)
	case document.Format == FileFormat:
		w.add(&document.Usage)
	case document.Log.Entries != nil:
		for _, entry := range document.Log.Entries {
			w.line(entry, at)
		}
	default:
		w.line(text, at)
	}
}

// readBlocks sends the blocks of a log, compressed or not, as soon as they have a whole line.
func readBlocks(ctx context.Context, log io.Reader, at Line, blocks chan<- block) error {
	in := bufio.NewReader(log)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		in = bufio.NewReader(unzipped)
	}
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		in.Discard(len(mark))
	}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, blockSize), maxDocument+1)
	scanner.Split(new(splitter).split)
	for scanner.Scan() {
		buffer := buffers.Get().(*[]byte)
		*buffer = append((*buffer)[:0], scanner.Bytes()...)
		select {
		case blocks <- block{buffer, at}:
		case <-ctx.Done():
			return nil
		}
		at.Number += bytes.Count(scanner.Bytes(), newline)
	}
	return scanner.Err()
}

var newline = []byte("\n")

// byteOrderMark is what Windows begins a file with.
const byteOrderMark = "\ufeff"

// splitter splits a log into blocks.
type splitter struct {
	needed int // bytes with which it is worth another look whether a long line or a document has an end
}

// split is a [bufio.SplitFunc].
func (s *splitter) split(data []byte, atEOF bool) (size int, block []byte, err error) {
	isAll := atEOF || len(data) >= maxDocument
	if len(data) < s.needed && !isAll {
		return 0, nil, nil
	}
	lines := data
	if !isAll {
		lines = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	size = findDocument(lines)
	if size == 0 && len(lines) > 0 {
		size = max(0, members(data, func(name, value []byte) {}))
	}
	if size == 0 && isAll {
		size = len(data)
	}
	s.needed = 0
	if size > 0 {
		return size, data[:size], nil
	}
	if len(data) >= blockSize { // a pipe gives little at a time
		s.needed = 2 * len(data)
	}
	return 0, nil, nil
}

// documentStarts are what HAR and usage files have after the brace. JSON lines may have a field log with a text.
var documentStarts = [][]byte{
	[]byte(`"log":{`), []byte(`"log": {`), []byte(`"signpost_usage"`), []byte(`"endpoints"`),
}

// startsDocument reports whether a text begins with a HAR or a usage file, as far as there is one.
func startsDocument(text []byte) bool {
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	isStart := func(start []byte) bool { return bytes.HasPrefix(text, start) }
	return len(text) == 0 || slices.ContainsFunc(documentStarts, isStart)
}

// findDocument returns where in lines a HAR or a usage file may begin; otherwise, their end.
func findDocument(lines []byte) int {
	for begin := 0; begin < len(lines); {
		if startsDocument(lines[begin:]) {
			return begin
		}
		next := bytes.Index(lines[begin:], []byte("\n{"))
		if next < 0 {
			break
		}
		begin += next + 1
	}
	return len(lines)
}
