package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unicode/utf16"

	"signpost/definition"
	"signpost/internal/tree"
)

// document is the text of an open file. It is immutable: an edit creates a new one, so that findings can be computed
// while the author types.
type document struct {
	uri     string
	path    string // "" if the URI is not a file
	version int
	full    string         // the text as the editor has it
	text    string         // without a byte order mark, like the text of the tree
	lines   *tree.Document // of the text; the protocol recognizes the same line endings as YAML

	tree func() *tree.Document   // the parsed text
	file func() *definition.File // the text as a definition
	last *document               // the last version that parsed, if this one does not
}

func newDocument(uri string, version int, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, full: text}
	d.text = strings.TrimPrefix(text, tree.ByteOrderMark)
	d.lines = tree.Positions([]byte(text), false)
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
	d = newDocument(d.uri, version, d.full) // without changes, the version counts all the same
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			from, to := d.fullOffset(c.Range.Start), d.fullOffset(c.Range.End)
			text = d.full[:min(from, to)] + c.Text + d.full[max(from, to):]
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

// fullOffset returns the offset of a position in the full text.
func (d *document) fullOffset(p position) int {
	if p == (position{}) {
		return 0
	}
	return d.offset(p) + len(d.full) - len(d.text)
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

// definition returns the document as a definition, or nil if it is something else: editors open all kinds of YAML and
// JSON.
func (d *document) definition() *definition.File {
	if strings.TrimSpace(d.text) == "" || !definition.IsDefinition(d.name(), []byte(d.text)) {
		return nil
	}
	return d.file()
}

// offset returns the byte offset of a position. Positions outside the text are clamped.
func (d *document) offset(p position) int {
	at, line := d.lines.Offset(p.Line+1, 1), string(d.lines.Line(p.Line+1))
	left := p.Character - d.unitsBefore(p.Line)
	for i, r := range line {
		if left <= 0 {
			return at + i
		}
		left -= utf16.RuneLen(r)
	}
	return at + len(line)
}

// position returns the position of a byte offset.
func (d *document) position(offset int) position {
	line, _ := d.lines.Position(offset)
	units := d.unitsBefore(line - 1)
	for _, r := range d.text[d.lines.Offset(line, 1):offset] {
		units += utf16.RuneLen(r)
	}
	return position{line - 1, units}
}

// unitsBefore returns what precedes the text of a line: the first line may have a byte order mark, which editors count.
func (d *document) unitsBefore(line int) int {
	if line == 0 && len(d.full) > len(d.text) {
		return 1
	}
	return 0
}

func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

func (d *document) nodeSpan(n *tree.Node) span { return d.span(n.Start(), n.End()) }

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
