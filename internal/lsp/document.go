package lsp

import (
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
	lines   []int // start offsets of the lines

	analysis *analysis
	before   *tree.Node // the last root that parsed
}

func newDocument(uri string, version int, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, text: text, lines: []int{0}, analysis: &analysis{}}
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
	for units := 0; units < p.Character && at < end; {
		r, size := utf8.DecodeRuneInString(d.text[at:end])
		units += utf16Length(r)
		at += size
	}
	return at
}

// position returns the position of a byte offset.
func (d *document) position(offset int) position {
	offset = min(max(0, offset), len(d.text))
	line, found := slices.BinarySearch(d.lines, offset)
	if !found {
		line--
	}
	units := 0
	for _, r := range d.text[d.lines[line]:offset] {
		units += utf16Length(r)
	}
	return position{line, units}
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
