package definition

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"signpost/internal/tree"
)

// marks are the fields by which a definition is recognised. The others, such as service or modifiers, are those of
// other formats, too.
var marks = []string{"versions", "base_path", "context_keys"}

// IsDefinition reports whether a file found in a directory is meant as a definition, even if a bad one: it is empty,
// which truncation may have done; a field at its top is one of marks, in any case and however it is misspelt as YAML;
// or its text has mime_type together with endpoints or {{host}}, and it is not a manifest, an OpenAPI document, a JSON
// Schema, a usage file or a Kubernetes manifest. The name is that of the file, as for [Parse].
func IsDefinition(name string, text []byte) bool {
	if decoded, ok := tree.DecodeUTF16(text); ok {
		text = decoded
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(tree.ByteOrderMark)))
	if len(text) == 0 {
		return true
	}
	fields := blockFields(text)
	if isFlow(text) {
		fields = slices.Values(flowFields(name, text))
	}
	top := make(map[string]bool)
	for field := range fields {
		if isMark(field) { // what is below it need not be read, and that is most of a definition
			return true
		}
		top[field] = true
	}
	has := func(part string) bool { return bytes.Contains(text, []byte(part)) }
	return !leftAlone(top, text) && has("mime_type") && (has("endpoints") || has("{{host}}"))
}

func isMark(field string) bool { return slices.Contains(marks, strings.ToLower(field)) }

// leftAlone reports whether the fields at the top are those of another format that may have the words of a definition.
func leftAlone(top map[string]bool, text []byte) bool {
	isServed := isFlow(text) || !bytes.Contains(text, []byte("{{host}}")) // otherwise, a definition lacks its versions
	return top["openapi"] || top["swagger"] || top["signpost_usage"] || top["apiVersion"] && top["kind"] ||
		top["endpoints"] && isServed || top["$defs"] || top["properties"] ||
		top["$schema"] && bytes.Contains(text, []byte("json-schema.org/"))
}

var (
	// blockField matches a line of block YAML that has a key, or nothing but a word, in any quotes: its indentation with a
	// dash, the key, and its value.
	blockField = regexp.MustCompile(`^([\s\p{Z}]*)([-–—][\s\p{Z}]*)?` +
		`["'“”„‘’]?([$\pL_][\pL\pN_.-]*)["'“”„‘’]?\s*(?:[:：]\s*(.*)|(?:#.*)?)$`)

	// goesOn matches a value whose text is on the lines below it.
	goesOn = regexp.MustCompile(`^(?:[|>&!#].*|[{\[].*[^}\]]|[{\[])?$`)

	// flowField matches a key in a flow mapping or in broken JSON.
	flowField = regexp.MustCompile(`["'“”„{,\s]([$\pL_]+)["'“”]?\s*:`)
)

// isFlow reports whether a text is JSON or a flow mapping, behind comments, directives and separators.
func isFlow(text []byte) bool {
	for line := range bytes.Lines(text) {
		content := bytes.TrimSpace(line)
		isBlank := len(content) == 0 || content[0] == '#'
		if !isBlank && content[0] != '%' && !bytes.HasPrefix(content, []byte("---")) {
			return line[0] == '{'
		}
	}
	return false
}

// flowFields returns the fields at the top of a flow mapping. Unlike parsing, this also finds those of a text with a
// syntax error.
func flowFields(name string, text []byte) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil { // without a tree of data that is none of ours, and may be large
		return slices.Collect(maps.Keys(object))
	}
	var fields []string
	doc := tree.Parse(text, isJSON(name, text))
	if doc.Root != nil {
		for _, f := range doc.Root.Fields {
			fields = append(fields, f.Key.Text)
		}
		return fields
	}
	const most = 100 // broken texts have their marks near the top
	for _, match := range flowField.FindAllSubmatchIndex(text, most) {
		if len(tree.Unclosed(string(text[:match[2]]))) <= 2 { // the brace, and a quote
			fields = append(fields, string(text[match[2]:match[3]]))
		}
	}
	return fields
}

// blockFields returns the fields at the top of block YAML, also those of a text with a syntax error, for example one
// whose fields are indented by one space too many.
func blockFields(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		inner, parent := -1, -1 // indentation of what is inside the last field, and of that field if its first line is to come
		for line := range bytes.Lines(text) {
			line = bytes.TrimRight(line, " \t\r\n")
			content := bytes.TrimLeft(line, " \t-")
			if len(content) == 0 || content[0] == '#' {
				continue
			}
			indent := len(line) - len(bytes.TrimLeft(line, " \t"))
			if parent >= 0 && indent > parent {
				inner = indent
			}
			parent = -1
			if inner >= 0 && indent >= inner {
				continue
			}
			inner = -1
			match := blockField.FindSubmatch(line)
			if match == nil {
				continue
			}
			if !yield(string(match[3])) {
				return
			}
			switch {
			case len(match[2]) > 0: // the rest of a list item
				inner = len(match[1]) + len(match[2])
			case goesOn.Match(match[4]):
				parent = indent
			}
		}
	}
}

// format is a format that users confuse with a definition.
type format struct{ name, hint string }

// formats are recognised by one of their top-level fields.
var formats = map[string]format{
	"openapi": {"an OpenAPI document", "signpost import makes a definition from it"},
	"swagger": {"an OpenAPI document", "convert it to OpenAPI 3; then signpost import makes a definition from it"},
	"endpoints": {"a manifest",
		"signpost import makes a definition from it; signpost diff, match and check read it as it is"},
	"dependencies":    {"a package.json", ""},
	"devDependencies": {"a package.json", ""},
	"scripts":         {"a package.json", ""},
	"services":        {"a Compose file", ""},
	"apiVersion":      {"a Kubernetes manifest", ""},
	"signpost_usage":  {"a usage file", "signpost diff --usage reads it"},
}

var unknownFormat = format{hint: "a definition has versions: {v1: {endpoints: {…}}}; signpost init writes one to start from"}

// unlike returns the format of a named file that is not meant as a definition, such as a page of text or a binary, or
// nil.
func unlike(name string, doc *tree.Document) *format {
	extension := strings.ToLower(filepath.Ext(name))
	page := slices.Contains([]string{".md", ".rst", ".txt", ".html"}, extension) // it may show a definition
	tried := slices.Contains([]string{".yaml", ".yml", ".json"}, extension) && !bytes.Contains(doc.Text, []byte{0})
	hasMark := func(f tree.Field) bool { return isMark(f.Key.Text) }
	switch {
	case doc.Root != nil && slices.ContainsFunc(doc.Root.Fields, hasMark):
		return nil
	case doc.Root == nil && (!doc.Failed || tried): // its error says more
		return nil
	case !(page && doc.Root == nil) && IsDefinition(name, doc.Text):
		return nil
	case doc.Root != nil:
		for _, f := range doc.Root.Fields {
			if known, ok := formats[f.Key.Text]; ok {
				return &known
			}
		}
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
