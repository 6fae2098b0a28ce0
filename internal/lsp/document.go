package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/tree"
)

// document is the text of an open file. It is immutable: an edit creates a new one, so that findings can be computed
// while the author types.
type document struct {
	uri     string
	path    string // "" if the URI is not a file
	version int
	text    string // without a byte order mark, like the text of the tree
	bom     bool   // whether the file begins with one
	lines   []int  // start offsets of the lines

	tree func() *tree.Document   // the parsed text
	file func() *definition.File // the text as a definition
	last *document               // the last version that parsed, if this one does not
}

func newDocument(uri string, version int, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, lines: []int{0}}
	d.text, d.bom = strings.CutPrefix(text, tree.ByteOrderMark)
	for i := 0; i < len(d.text); i++ {
		switch d.text[i] { // the protocol recognizes these three line endings
		case '\r':
			if i+1 < len(d.text) && d.text[i+1] == '\n' {
				i++
			}
			d.lines = append(d.lines, i+1)
		case '\n':
			d.lines = append(d.lines, i+1)
		}
	}
	d.tree = sync.OnceValue(func() *tree.Document { return tree.Parse([]byte(d.text), tree.Options{JSON: d.isJSON()}) })
	d.file = sync.OnceValue(func() *definition.File { return definition.Parse(d.name(), []byte(d.text)) })
	return d
}

// edit returns the document with the changes applied in order.
func (d *document) edit(version int, changes []contentChange) *document {
	last := d.parsed()
	if last != nil {
		last.last = nil // it parsed, so what came before is never asked for
	}
	d = newDocument(d.uri, version, d.full()) // without changes, the version counts all the same
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			full, from, to := d.full(), d.fullOffset(c.Range.Start), d.fullOffset(c.Range.End)
			text = full[:min(from, to)] + c.Text + full[max(from, to):]
		}
		d = newDocument(d.uri, version, text)
	}
	d.last = last
	return d
}

// parsed returns the last version of the document that parsed, or nil.
func (d *document) parsed() *document {
	if d.tree().Root != nil {
		return d
	}
	return d.last
}

// full returns the text with its byte order mark.
func (d *document) full() string {
	if d.bom {
		return tree.ByteOrderMark + d.text
	}
	return d.text
}

// fullOffset returns the offset of a position in the full text.
func (d *document) fullOffset(p position) int {
	if d.bom && p != (position{}) {
		return d.offset(p) + len(tree.ByteOrderMark)
	}
	return d.offset(p)
}

// name returns the name that findings use for the document. Its extension determines the format.
func (d *document) name() string {
	if d.path != "" {
		return d.path
	}
	return d.uri
}

// isJSON reports whether the file name is that of a JSON document.
func (d *document) isJSON() bool { return strings.EqualFold(filepath.Ext(d.path), ".json") }

// isDefinition reports whether a document is a definition: editors open all kinds of YAML and JSON.
func (d *document) isDefinition() bool {
	return strings.TrimSpace(d.text) != "" && source.IsDefinition(source.Document{Name: d.name(), Text: []byte(d.text)})
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
	line := strings.TrimRight(d.text[at:end], "\r\n")
	left := p.Character - d.unitsBefore(p.Line)
	for i, r := range line {
		if left <= 0 {
			return at + i
		}
		left -= utf16Length(r)
	}
	return at + len(line)
}

// position returns the position of a byte offset.
func (d *document) position(offset int) position {
	offset = min(max(0, offset), len(d.text))
	line, found := slices.BinarySearch(d.lines, offset)
	if !found {
		line--
	}
	units := d.unitsBefore(line)
	for _, r := range d.text[d.lines[line]:offset] {
		units += utf16Length(r)
	}
	return position{line, units}
}

// unitsBefore returns what precedes the text of a line: the first line may have a byte order mark, which editors count.
func (d *document) unitsBefore(line int) int {
	if d.bom && line == 0 {
		return 1
	}
	return 0
}

func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

func (d *document) nodeSpan(n *tree.Node) span { return d.span(n.Start(), n.End()) }

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
