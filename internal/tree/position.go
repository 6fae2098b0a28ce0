package tree

import (
	"bytes"
	"sort"
	"strings"
)

// index converts between byte offsets and lines and columns, in time that depends neither on the number of lines nor on
// their length.
type index struct {
	lines []int32 // start offset of each line
	runes []int32 // number of characters before each block of the text
	ascii bool    // every character is a single byte
}

// blockSize is the number of bytes between two entries of runes.
const blockSize = 1024

func newIndex(d *Document) index {
	x := index{lines: []int32{0}}
	text := d.Text
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < 0x80 && c != '\n' && c != '\r' {
			continue
		}
		if size := lineBreak(text[i:], d.JSON); size > 0 {
			i += size - 1
			x.lines = append(x.lines, int32(i+1))
		}
	}
	count := 0
	for from := 0; from <= len(text); from += blockSize {
		x.runes = append(x.runes, int32(count))
		count += countRunes(text[from:min(from+blockSize, len(text))])
	}
	x.ascii = count == len(text)
	return x
}

// lineBreak returns the length of the line break at the start of text, or 0. JSON only has line feeds.
func lineBreak(text []byte, json bool) int {
	switch c := text[0]; {
	case c == '\n':
		return 1
	case json || c < 0x80 && c != '\r':
		return 0
	case c == '\r' && len(text) > 1 && text[1] == '\n':
		return 2
	case c == '\r':
		return 1
	case bytes.HasPrefix(text, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(text, []byte("\u2028")), bytes.HasPrefix(text, []byte("\u2029")):
		return 3
	}
	return 0
}

// countRunes counts the characters that start in a piece of UTF-8, which may begin in the middle of one.
func countRunes(text []byte) int {
	n := 0
	for _, c := range text {
		if c&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// runesBefore returns the number of characters before an offset.
func (d *Document) runesBefore(offset int) int {
	if d.index.ascii {
		return offset
	}
	block := offset / blockSize
	return int(d.index.runes[block]) + countRunes(d.Text[block*blockSize:offset])
}

// Position returns the line and column of a byte offset. Both count from 1, columns in characters.
func (d *Document) Position(offset int) (line, column int) {
	offset = max(0, min(offset, len(d.Text)))
	line = sort.Search(len(d.index.lines), func(i int) bool { return int(d.index.lines[i]) > offset })
	return line, d.runesBefore(offset) - d.runesBefore(int(d.index.lines[line-1])) + 1
}

// Offset returns the byte offset of a line and column. A column past the end of the line is treated as its end.
func (d *Document) Offset(line, column int) int {
	if line < 1 {
		return 0
	}
	if line > len(d.index.lines) {
		return len(d.Text)
	}
	start, end := d.bounds(line)
	if d.index.ascii {
		return min(start+max(column, 1)-1, end)
	}
	want := d.runesBefore(start) + max(column, 1) - 1
	// Start at the last block with fewer characters before it, unless that is before the line.
	block := sort.Search(len(d.index.runes), func(i int) bool { return int(d.index.runes[i]) > want }) - 1
	at, count := block*blockSize, 0
	if at <= start {
		at, count = start, d.runesBefore(start)
	} else {
		count = int(d.index.runes[block])
	}
	for ; at < end; at++ {
		if d.Text[at]&0xC0 == 0x80 {
			continue
		}
		if count == want {
			return at
		}
		count++
	}
	return end
}

// Lines returns the number of lines.
func (d *Document) Lines() int { return len(d.index.lines) }

// Line returns a line without its line break. Lines count from 1.
func (d *Document) Line(number int) []byte {
	if number < 1 || number > d.Lines() {
		return nil
	}
	start, end := d.bounds(number)
	return d.Text[start:end]
}

// bounds returns the start and end of a line, without its line break.
func (d *Document) bounds(number int) (start, end int) {
	start, end = int(d.index.lines[number-1]), len(d.Text)
	if number < d.Lines() {
		end = int(d.index.lines[number])
	}
	for _, ending := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.HasSuffix(d.Text[start:end], []byte(ending)) && (number < d.Lines() || ending == "\r") {
			return start, end - len(ending)
		}
	}
	return start, end
}

// Width returns the number of characters of a scalar on its first line, and 1 for a collection or an empty value.
func (n *Node) Width() int {
	line, _ := n.doc.Position(n.Start())
	_, end := n.doc.bounds(line)
	if n.Kind >= List || n.Style == BlockText {
		return 1
	}
	return max(1, n.doc.runesBefore(max(n.Start(), min(n.End(), end)))-n.doc.runesBefore(n.Start()))
}

// Snippet returns at most width characters of a line around a column, and the column of the first of them.
func (d *Document) Snippet(line, column, width int) (text string, first int) {
	if line < 1 || line > d.Lines() {
		return "", 1
	}
	_, end := d.bounds(line)
	_, last := d.Position(end)
	first = max(1, min(column-width/2, last-width))
	return strings.ToValidUTF8(string(d.Text[d.Offset(line, first):d.Offset(line, first+width)]), "\ufffd"), first
}
