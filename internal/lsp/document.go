package lsp

import (
	"cmp"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost/internal/tree"
)

// document is the text of an open file. It is immutable: an edit creates a new one, so a request keeps working on the
// text it was sent for.
type document struct {
	uri     string
	path    string // "" if the URI is not a file
	version int
	text    string
	lines   []int  // start offsets of the lines
	marks   []mark // every markDistance bytes or a little more, from the start of the text

	analysis *analysis
	before   *tree.Node // the last root that parsed
}

// mark is the offset of a character and the length of the text before it in UTF-16, in which the protocol counts.
// Marks keep positions on a long line from taking as long as the line.
type mark struct{ offset, units int }

const markDistance = 256

func newDocument(uri string, version int, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, text: text, lines: []int{0}, marks: []mark{{}}, analysis: &analysis{}}
	units := 0
	for i, r := range text {
		if i-d.marks[len(d.marks)-1].offset >= markDistance {
			d.marks = append(d.marks, mark{i, units})
		}
		units += utf16Length(r)
	}
	for i := 0; i < len(text); i++ {
		switch text[i] { // the protocol recognizes these three line endings
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			d.lines = append(d.lines, i+1)
		case '\n':
			d.lines = append(d.lines, i+1)
		}
	}
	return d
}

// edit returns the document with the changes applied in order.
func (d *document) edit(version int, changes []contentChange) *document {
	before := d.lastRoot()
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			from, to := d.offset(c.Range.Start), d.offset(c.Range.End)
			if to < from {
				from, to = to, from
			}
			text = d.text[:from] + c.Text + d.text[to:]
		}
		d = newDocument(d.uri, version, text)
	}
	d.before = before
	return d
}

// name returns the name that findings use for the document. Its extension determines the format.
func (d *document) name() string {
	if d.path != "" {
		return d.path
	}
	return d.uri
}

// offset returns the byte offset of a position. Positions outside the text are clamped.
func (d *document) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(d.lines) {
		return len(d.text)
	}
	at, end := d.lines[p.Line], len(d.text)
	if p.Line+1 < len(d.lines) {
		end = d.lines[p.Line+1]
	}
	end = at + len(strings.TrimRight(d.text[at:end], "\r\n"))
	units := d.units(at)
	want := units + min(max(0, p.Character), end-at)
	next, _ := slices.BinarySearchFunc(d.marks, want, func(m mark, units int) int { return cmp.Compare(m.units, units) })
	if last := d.marks[max(0, next-1)]; last.offset > at {
		at, units = min(last.offset, end), last.units
	}
	for units < want && at < end {
		r, size := utf8.DecodeRuneInString(d.text[at:end])
		units += utf16Length(r)
		at += size
	}
	return at
}

// units returns the length of the text before an offset in UTF-16.
func (d *document) units(offset int) int {
	next, _ := slices.BinarySearchFunc(d.marks, offset+1, func(m mark, offset int) int { return cmp.Compare(m.offset, offset) })
	last := d.marks[next-1]
	units := last.units
	for _, r := range d.text[last.offset:offset] {
		units += utf16Length(r)
	}
	return units
}

// position returns the position of a byte offset.
func (d *document) position(offset int) position {
	offset = min(max(0, offset), len(d.text))
	line, found := slices.BinarySearch(d.lines, offset)
	if !found {
		line--
	}
	return position{line, d.units(offset) - d.units(d.lines[line])}
}

func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

func utf16Length(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// pathOf returns the path of a file URI, or "" for any other.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/feeds.yaml
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf returns the URI of a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
