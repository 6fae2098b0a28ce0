package definition

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"signpost/internal/spell"
	"signpost/internal/tree"
)

// marks are the fields by which a definition is recognised. The others, such as service or modifiers, are those of other
// formats, too.
var marks = []string{"versions", "base_path", "context_keys"}

// isMark reports whether a top-level field makes a file a definition: it is one of marks, or close to versions. A version
// that is not an object is that of something else.
func isMark(name string, object bool) bool {
	return slices.Contains(marks, name) || spell.Nearest(name, []string{"versions"}) != "" && (object || name != "version")
}

var (
	// preamble matches the comments, directives and separators in front of YAML.
	preamble = regexp.MustCompile(`^(?:[ \t]*(?:(?:#|%|---).*)?\r?\n)*`)

	// blockField matches a top-level field of block YAML, and whether its value is on the same line. Unlike parsing, this
	// also recognises a definition with a syntax error.
	blockField = regexp.MustCompile(`^["']?([A-Za-z_]+)["']?[ \t]*:(?:[ \t]+([^\s#{])|\s|$)`)

	// flowField matches a field of a flow mapping or of broken JSON, on any level.
	flowField = regexp.MustCompile(`["'{,\s](` + strings.Join(marks, "|") + `)["']?\s*:`)
)

// IsDefinition reports whether a file found in a directory is a definition, even if a bad one. An empty file counts as
// one, because it may have been truncated. The name is that of the file, as for [Parse].
func IsDefinition(name string, text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(tree.ByteOrderMark)))
	if len(text) == 0 {
		return true
	}
	if bytes.HasPrefix(text[len(preamble.Find(text)):], []byte("{")) {
		doc := tree.Parse(text, isJSON(name, text))
		return doc.Failed && flowField.Match(text) || doc.Root != nil && formatOf(doc.Root) == nil
	}
	for line := range bytes.Lines(text) {
		if match := blockField.FindSubmatch(line); match != nil && isMark(string(match[1]), match[2] == nil) {
			return true
		}
	}
	return false
}

// format is a format that users confuse with a definition.
type format struct{ name, hint string }

// formats are recognised by one of their top-level fields.
var formats = map[string]format{
	"openapi":      {"an OpenAPI document", "signpost import makes a definition from it"},
	"swagger":      {"an OpenAPI document", "convert it to OpenAPI 3; then signpost import makes a definition from it"},
	"endpoints":    {"a manifest", "signpost diff, match and check read manifests; a definition has its endpoints under versions: and v1:"},
	"dependencies": {"a package.json", ""}, "devDependencies": {"a package.json", ""}, "scripts": {"a package.json", ""},
	"services":   {"a Compose file", ""},
	"apiVersion": {"a Kubernetes manifest", ""},
}

var unknownFormat = format{hint: "a definition has versions: {v1: {endpoints: {…}}}; signpost init writes one to start from"}

// formatOf returns the format of a file that is not a definition, and nil if it is one.
func formatOf(root *tree.Node) *format {
	is := &unknownFormat
	for _, f := range root.Fields {
		if isMark(f.Key.Text, f.Value.Kind == tree.Object) {
			return nil
		}
		if known, ok := formats[f.Key.Text]; ok && is == &unknownFormat {
			is = &known
		}
	}
	return is
}

// unlike returns the format of a file that is not meant as a definition, such as a page of text or a binary, or nil.
func unlike(name string, doc *tree.Document) *format {
	if doc.Root != nil {
		return formatOf(doc.Root)
	}
	extension := strings.ToLower(filepath.Ext(name))
	page := slices.Contains([]string{".md", ".rst", ".txt", ".html"}, extension) // it may show a definition
	tried := slices.Contains([]string{".yaml", ".yml", ".json"}, extension) && !bytes.Contains(doc.Text, []byte{0})
	if !doc.Failed || tried || !page && IsDefinition(name, doc.Text) {
		return nil
	}
	return &unknownFormat
}

// notADefinition reports that the file is something else, and nothing more.
func (d *decoder) notADefinition(is *format) {
	at, message := d.doc.Root, "this is not a Signpost definition"
	if at == nil {
		at = d.doc.NodeAt(0, 0)
	}
	if is.name != "" {
		message += ": it looks like " + is.name
	}
	d.findings, d.reported = nil, 0
	d.add(RuleNotADefinition, is.hint, at, "%s", message)
}
