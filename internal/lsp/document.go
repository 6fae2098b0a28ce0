package lsp

import (
	"bytes"
	"cmp"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"signpost/definition"
	"signpost/internal/fields"
	"signpost/internal/tree"
	"signpost/internal/workspace"
)

// document is the text of a file in the editor. An edit creates a new one.
type document struct {
	uri     string
	path    string // "" if the URI is not a file
	version int
	text    string
	lines   *tree.Document // of the text; the protocol recognizes the same line endings as YAML

	file func() *definition.File // the parsed text, with its tree
	last *document               // the last version that parsed, if this one does not

	meant bool // it is a definition, or was one since it was opened
}

// newDocument returns a document. A byte order mark is not part of the text, for editors as for the tree.
func newDocument(uri string, version int, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, text: strings.TrimPrefix(text, tree.ByteOrderMark)}
	d.lines = tree.Positions([]byte(d.text), false)
	d.file = sync.OnceValue(d.parseAlone)
	return d
}

// parseAlone parses the text without regard to other files.
func (d *document) parseAlone() *definition.File {
	if d.isProject() {
		return workspace.ParseProject(d.name(), []byte(d.text)).File()
	}
	return definition.Options{KeepTree: true}.Parse(d.name(), []byte(d.text))
}

// root returns the tree of the text, or nil if it does not parse.
func (d *document) root() *tree.Node { return d.file().Tree().Root }

// edit returns the document with the changes applied in order.
func (d *document) edit(version int, changes []contentChange) *document {
	last, meant := d.parsed(), d.meant
	if last != nil {
		last.last = nil // it parsed, so what came before is never asked for
	}
	d = newDocument(d.uri, version, d.text) // without changes, the version counts all the same
	for _, c := range changes {
		text := c.Text
		if c.Range != nil {
			from, to := d.offset(c.Range.Start), d.offset(c.Range.End)
			text = d.text[:min(from, to)] + c.Text + d.text[max(from, to):]
		}
		d = newDocument(d.uri, version, text)
	}
	d.last, d.meant = last, meant || isDefinition(d.name(), []byte(d.text))
	return d
}

// parsed returns the last version of the document that parsed, or nil.
func (d *document) parsed() *document {
	if d.root() != nil {
		return d
	}
	return d.last
}

// name returns the name that findings use for the document. Its extension determines the format.
func (d *document) name() string { return cmp.Or(d.path, d.uri) }

func (d *document) isJSON() bool { return strings.EqualFold(filepath.Ext(d.path), ".json") }

func (d *document) isProject() bool { return filepath.Base(d.path) == definition.ProjectName }

func (d *document) fields() *fields.Value {
	if d.isProject() {
		return fields.Project
	}
	return fields.Definition
}

// isDefinition reports whether a file is a definition. One that is empty is just begun.
func isDefinition(name string, text []byte) bool {
	isBegun := len(bytes.TrimSpace(text)) > 0
	return filepath.Base(name) != definition.ProjectName && isBegun && definition.IsDefinition(name, text)
}

// offset returns the byte offset of a position. Positions outside the text are clamped.
func (d *document) offset(p position) int { return d.lines.UnitOffset(p.Line+1, p.Character) }

// position returns the position of a byte offset.
func (d *document) position(offset int) position {
	line, _ := d.lines.Position(offset)
	return position{line - 1, d.lines.Units(d.lines.Offset(line, 1), offset)}
}

func (d *document) span(from, to int) span { return span{d.position(from), d.position(to)} }

func (d *document) nodeSpan(n *tree.Node) span { return d.span(n.Start(), n.End()) }

// pathOf returns the path of a file URI, or "" for any other. It is the one by which the directory is known to the
// system, as signpost lint uses it there: above a symbolic link are other directories.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/feeds.yaml
	}
	dir, name := filepath.Split(filepath.Clean(filepath.FromSlash(path)))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, name)
}
