package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// definitionFields are the top-level fields of a definition. A file in a directory that has none of them is not a
// definition.
var definitionFields = []string{"service", "base_path", "enable", "context_keys", "features", "modifiers", "versions"}

// These match a top-level field of a definition: in YAML at the start of a line, and in a flow mapping or broken JSON
// anywhere. Unlike parsing, this also recognizes a definition with a syntax error.
var (
	blockField = regexp.MustCompile(`(?m)^["']?(service|base_path|enable|context_keys|features|modifiers|versions)["']?[ \t]*:([ \t\r]|$)`)
	flowField  = regexp.MustCompile(`["'{,\s](base_path|context_keys|versions)["']?\s*:`)
)

// IsDefinition reports whether a file found in a directory is a definition, even if a bad one. An empty file counts as
// one, because it may have been truncated.
func IsDefinition(d Document) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(d.Text, []byte("\ufeff")))
	if !bytes.HasPrefix(text, []byte("{")) {
		return len(text) == 0 || blockField.Match(text)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(text, &top); err != nil {
		return flowField.Match(text)
	}
	return len(top) == 0 || slices.ContainsFunc(definitionFields, func(name string) bool { return top[name] != nil })
}

// isManifest distinguishes a manifest from a definition.
func isManifest(text []byte) bool {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil
}
