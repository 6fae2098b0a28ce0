package cli

import (
	"bytes"
	"fmt"
)

// unifiedContext is the number of unchanged lines around a change, as in other tools.
const unifiedContext = 3

// diffLine is a line of a unified diff: ' ' unchanged, '-' removed, '+' added.
type diffLine struct {
	mark byte
	text []byte
}

// unifiedDiff returns the changes between two texts in unified format, or nothing if they are equal.
func unifiedDiff(name string, old, text []byte) []byte {
	lines := diffLines(splitLines(old), splitLines(text))
	var out bytes.Buffer
	before, after := 1, 1 // next line numbers
	for i := 0; i < len(lines); {
		end := hunkEnd(lines, i)
		if end == i {
			before, after = before+1, after+1
			i++
			continue
		}
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
		}
		var minus, plus int
		for _, l := range lines[i:end] {
			if l.mark != '+' {
				minus++
			}
			if l.mark != '-' {
				plus++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", lineRange(before, minus), lineRange(after, plus))
		for _, l := range lines[i:end] {
			out.WriteByte(l.mark)
			out.Write(l.text)
			if !bytes.HasSuffix(l.text, []byte("\n")) {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		before, after, i = before+minus, after+plus, end
	}
	return out.Bytes()
}

// hunkEnd returns the end of the hunk that starts at a line, or the line itself if none does: there must be a change
// within the context, and each further change must be close to the previous one.
func hunkEnd(lines []diffLine, from int) int {
	end, near := from, unifiedContext
	for i := from; i < len(lines) && i-max(end, from) <= near; i++ {
		if lines[i].mark != ' ' {
			end, near = i+1, 2*unifiedContext-1
		}
	}
	if end == from {
		return from
	}
	return min(len(lines), end+unifiedContext)
}

func lineRange(from, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", from-1)
	case 1:
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, count)
}

func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lookAhead is how many lines ahead to search for the next equal line. Fixes change single lines and remove a few, so
// it is near.
const lookAhead = 200

// diffLines returns the lines of both texts in the order of a diff.
func diffLines(a, b [][]byte) []diffLine {
	var lines []diffLine
	for len(a) > 0 || len(b) > 0 {
		goes, comes := nearestMatch(a, b)
		for _, text := range a[:goes] {
			lines = append(lines, diffLine{'-', text})
		}
		for _, text := range b[:comes] {
			lines = append(lines, diffLine{'+', text})
		}
		if a, b = a[goes:], b[comes:]; len(a) > 0 && len(b) > 0 {
			lines = append(lines, diffLine{' ', a[0]})
			a, b = a[1:], b[1:]
		}
	}
	return lines
}

// nearestMatch returns the smallest number of lines to skip on both sides to reach equal lines, or all lines.
func nearestMatch(a, b [][]byte) (int, int) {
	for distance := range lookAhead {
		for i := range distance + 1 {
			if j := distance - i; i < len(a) && j < len(b) && bytes.Equal(a[i], b[j]) {
				return i, j
			}
		}
	}
	return len(a), len(b)
}
