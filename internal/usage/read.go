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

	// maxDocument is how large a HAR or a usage file may be. Longer lines are read in parts.
	maxDocument = 16 << 20
)

// Count counts a log, whose formats it recognises line by line. What was read before an error, or before the context
// ended, is counted. After the context has ended, nothing more can be counted.
func (c *Counter) Count(ctx context.Context, name string, log io.Reader) error {
	failed := make(chan error, 1)
	go func() { failed <- c.read(ctx, name, log) }()
	select {
	case err := <-failed:
		if err != nil {
			return fmt.Errorf("read log %q: %w", name, err)
		}
	case <-ctx.Done(): // there may never be more to read
	}
	return context.Cause(ctx)
}

func (c *Counter) read(ctx context.Context, name string, log io.Reader) error {
	text, err := plain(log)
	if err != nil {
		return err
	}
	b := &blocks{scanner: bufio.NewScanner(text), at: Line{Log: name, Number: 1}}
	b.scanner.Buffer(make([]byte, blockSize), maxDocument+1)
	b.scanner.Split(new(splitter).split)
	var group sync.WaitGroup
	for _, w := range c.workers {
		group.Go(func() { w.run(ctx, b) })
	}
	group.Wait()
	return b.scanner.Err()
}

// blocks hands out the parts of a log: whole lines, or one document.
type blocks struct {
	mutex   sync.Mutex
	scanner *bufio.Scanner
	at      Line // the first line of the next one
}

// next copies the next block into a buffer.
func (b *blocks) next(buffer []byte) (text []byte, at Line, ok bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	at, ok = b.at, b.scanner.Scan()
	b.at.Number += bytes.Count(b.scanner.Bytes(), newline)
	return append(buffer[:0], b.scanner.Bytes()...), at, ok
}

// run counts blocks until there are no more or the context ends.
func (w *worker) run(ctx context.Context, b *blocks) {
	text, at, ok := b.next(nil)
	for ok && ctx.Err() == nil {
		w.counting.Lock()
		w.block(text, at)
		w.counting.Unlock()
		text, at, ok = b.next(text)
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

var newline = []byte("\n")

// byteOrderMark is what Windows begins a file with.
const byteOrderMark = "\ufeff"

// plain returns a log without its compression and its byte order mark.
func plain(log io.Reader) (io.Reader, error) {
	in := bufio.NewReader(log)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReader(unzipped)
	}
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		in.Discard(len(mark))
	}
	return in, nil
}

// splitter splits a log into blocks.
type splitter struct {
	needed int  // bytes with which it is worth another look whether a long line or a document has an end
	inLine bool // the last block ended before its line, of which nothing more is read
}

// split is a [bufio.SplitFunc].
func (s *splitter) split(data []byte, atEOF bool) (size int, block []byte, err error) {
	isAll := atEOF || len(data) >= maxDocument
	if len(data) < s.needed && !isAll {
		return 0, nil, nil
	}
	if s.inLine {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return len(data), nil, nil
		}
		s.inLine = false
		return end + 1, data[end : end+1], nil
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
	s.inLine = isAll && size == len(data) && !bytes.HasSuffix(data, newline)
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
