package lsp

import (
	"path/filepath"
	"strings"
	"sync"

	"signpost"
	"signpost/definition"
	"signpost/internal/source"
	"signpost/internal/tree"
)

// analysis holds the results of parsing a document, computed on first use.
type analysis struct {
	once sync.Once
	tree *tree.Document

	fileOnce sync.Once
	file     *definition.File
}

// parsing is held while a text is parsed: that takes up to 200 times the memory of the text, and an editor that sends
// several versions in a row needs none of them sooner.
var parsing sync.Mutex

// isJSON reports whether the file name is that of a JSON document.
func (d *document) isJSON() bool { return strings.EqualFold(filepath.Ext(d.path), ".json") }

// parse returns the tree of the document.
func (d *document) parse() *tree.Document {
	d.analysis.once.Do(func() {
		parsing.Lock()
		defer parsing.Unlock()
		d.analysis.tree = tree.Parse([]byte(d.text), tree.Options{JSON: d.isJSON()})
	})
	return d.analysis.tree
}

// root returns the root of the document, or nil if it does not parse.
func (d *document) root() *tree.Node { return d.parse().Root }

// lastRoot returns the root of the last version of the document that could be parsed. Its positions may be outdated.
func (d *document) lastRoot() *tree.Node {
	if root := d.root(); root != nil {
		return root
	}
	return d.before
}

// file returns the document as a definition.
func (d *document) file() *definition.File {
	d.analysis.fileOnce.Do(func() {
		parsing.Lock()
		defer parsing.Unlock()
		d.analysis.file = definition.Parse(d.name(), []byte(d.text))
	})
	return d.analysis.file
}

// nodeSpan returns the range of a node.
func (d *document) nodeSpan(n *tree.Node) span {
	return d.span(n.Start()+d.skipped(), n.End()+d.skipped())
}

// skipped returns the length of the byte order mark, which the tree does not count.
func (d *document) skipped() int {
	if d.parse().BOM {
		return len(tree.ByteOrderMark)
	}
	return 0
}

// diagnostics returns the findings of a document, linted together with its directory. A file that is not a definition
// has none: editors open all kinds of YAML.
func (v *view) diagnostics(doc *document) []diagnostic {
	found := []diagnostic{}
	for _, f := range v.findings(doc) {
		found = append(found, doc.diagnostic(f))
	}
	return found
}

// findings lints a document.
func (v *view) findings(doc *document) []signpost.Finding {
	if !doc.isDefinition() {
		return nil
	}
	var own []signpost.Finding
	for _, f := range definition.Lint(v.together(doc)...) {
		if f.File == doc.name() {
			own = append(own, f)
		}
	}
	return own
}

func (d *document) diagnostic(f signpost.Finding) diagnostic {
	out := diagnostic{
		Range: d.findingSpan(f), Severity: severityWarning, Code: f.Rule, Source: "signpost", Message: f.Message,
	}
	if f.Severity == signpost.SeverityError {
		out.Severity = severityError
	}
	if f.Hint != "" {
		out.Message += "\n" + f.Hint
	}
	if strings.HasPrefix(f.Rule, "unused-") {
		out.Tags = append(out.Tags, tagUnnecessary)
	}
	return out
}

func (d *document) findingSpan(f signpost.Finding) span {
	t := d.parse()
	return d.span(t.Offset(f.Line, f.Column)+d.skipped(), t.Offset(f.Line, f.Column+max(f.Width, 1))+d.skipped())
}

// isDefinition reports whether a document is a definition: editors open all kinds of YAML and JSON.
func (d *document) isDefinition() bool {
	return strings.TrimSpace(d.text) != "" && source.IsDefinition(source.Document{Name: d.name(), Text: []byte(d.text)})
}
