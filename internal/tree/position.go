package tree

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// stride is the number of bytes between two counts of characters. With them, a position on a long line takes as long as
// one on a short line: JSON is often on a single line.
const stride = 256

// count is how many characters, and how many units of UTF-16, precede an offset.
type count struct{ characters, units int32 }

// add counts a byte of UTF-8. Only the first one of a character counts, and those beyond the basic plane are two units.
func (c *count) add(b byte) {
	if b&0xc0 != 0x80 {
		c.characters++
		c.units++
	}
	if 0xf0 <= b && b <= 0xf4 {
		c.units++
	}
}

// findLines records where the lines of the text start. YAML lines may also end in a carriage return.
func (d *Document) findLines() {
	d.lines = append(make([]int32, 0, 1+bytes.Count(d.Text, []byte("\n"))), 0)
	d.ascii = true
	for i, c := range d.Text {
		if c == '\n' || c == '\r' && !d.JSON && (i+1 == len(d.Text) || d.Text[i+1] != '\n') {
			d.lines = append(d.lines, int32(i+1))
		}
		d.ascii = d.ascii && c < utf8.RuneSelf
	}
	if !d.ascii {
		d.countCharacters()
	}
}

// countCharacters counts them from the beginning to every multiple of stride.
func (d *Document) countCharacters() {
	var n count
	for i, c := range d.Text {
		if i%stride == 0 {
			d.counts = append(d.counts, n)
		}
		n.add(c)
	}
}

// before counts what precedes an offset.
func (d *Document) before(offset int) count {
	if d.ascii {
		return count{int32(offset), int32(offset)}
	}
	at := min(offset/stride, len(d.counts)-1)
	n := d.counts[at]
	for _, b := range d.Text[at*stride : offset] {
		n.add(b)
	}
	return n
}

// characters counts the characters between two offsets.
func (d *Document) characters(start, end int) int {
	return int(d.before(end).characters - d.before(start).characters)
}

// Units counts the units of UTF-16 between two offsets.
func (d *Document) Units(start, end int) int { return int(d.before(end).units - d.before(start).units) }

// after returns the offset behind which a number of characters, or of units of UTF-16, precede, between start and end.
func (d *Document) after(start, end, number int, of func(count) int32) int {
	if d.ascii {
		return min(start+number, end)
	}
	want := of(d.before(start)) + int32(min(number, end-start)) // no character has more units than bytes
	skip, _ := slices.BinarySearchFunc(d.counts, want, func(c count, want int32) int { return int(of(c) - want) })
	at := min(max(start, (skip-1)*stride), end)
	n := d.before(at)
	for at < end && of(n) < want {
		_, size := utf8.DecodeRune(d.Text[at:end])
		for _, b := range d.Text[at : at+size] {
			n.add(b)
		}
		at += size
	}
	return at
}

// Position returns the line and column of a byte offset. Both count from 1, columns in characters.
func (d *Document) Position(offset int) (line, column int) {
	offset = max(0, min(offset, len(d.Text)))
	line, _ = slices.BinarySearch(d.lines, int32(offset)+1) // the number of lines that start at or before it
	return line, d.characters(int(d.lines[line-1]), offset) + 1
}

// Offset returns the byte offset of a line and column. A column past the end of the line is treated as its end.
func (d *Document) Offset(line, column int) int {
	if line < 1 {
		return 0
	}
	if line > len(d.lines) {
		return len(d.Text)
	}
	start, end := d.bounds(line)
	return d.after(start, end, max(column, 1)-1, func(c count) int32 { return c.characters })
}

// UnitOffset returns the byte offset of a line and a number of units of UTF-16 in it, clamped like that of
// [Document.Offset].
func (d *Document) UnitOffset(line, units int) int {
	if line < 1 || line > len(d.lines) {
		return d.Offset(line, 1)
	}
	start, end := d.bounds(line)
	return d.after(start, end, max(units, 0), func(c count) int32 { return c.units })
}

// Lines returns the number of lines.
func (d *Document) Lines() int { return len(d.lines) }

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
	start, end = int(d.lines[number-1]), len(d.Text)
	if number < d.Lines() {
		end = int(d.lines[number])
	}
	line := bytes.TrimSuffix(d.Text[start:end], []byte("\n"))
	return start, start + len(bytes.TrimSuffix(line, []byte("\r")))
}

// Width returns the number of characters of a scalar on its first line, and 1 for a collection or an empty value.
func (n *Node) Width() int {
	if n.Kind >= List || n.Style == BlockText {
		return 1
	}
	_, end := n.doc.bounds(n.Line())
	return max(1, n.doc.characters(n.Start(), max(n.Start(), min(n.End(), end))))
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
