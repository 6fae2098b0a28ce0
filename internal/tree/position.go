package tree

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// findLines records where the lines of the text start. YAML lines may also end in a carriage return.
func (d *Document) findLines() {
	d.lines, d.ascii = []int32{0}, true
	for i, c := range d.Text {
		if c == '\n' || c == '\r' && !d.JSON && (i+1 == len(d.Text) || d.Text[i+1] != '\n') {
			d.lines = append(d.lines, int32(i+1))
		}
		d.ascii = d.ascii && c < utf8.RuneSelf
	}
}

// characters counts the characters between two offsets.
func (d *Document) characters(start, end int) int {
	if d.ascii {
		return end - start
	}
	return utf8.RuneCount(d.Text[start:end])
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
	if d.ascii {
		return min(start+max(column, 1)-1, end)
	}
	for ; column > 1 && start < end; column-- {
		_, size := utf8.DecodeRune(d.Text[start:end])
		start += size
	}
	return start
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
