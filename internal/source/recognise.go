package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// definitionFields are the fields at the top of a definition. A file in a directory that has none of them is somebody
// else's.
var definitionFields = []string{"service", "base_path", "enable", "context_keys", "features", "modifiers", "versions"}

// A field at the top of a definition in YAML, at the start of a line, and in a flow mapping or broken JSON, anywhere.
// Looking for these rather than parsing recognises a definition that has a syntax error, too.
var (
	blockField = regexp.MustCompile(`(?m)^["']?(service|base_path|enable|context_keys|features|modifiers|versions)["']?[ \t]*:([ \t\r]|$)`)
	flowField  = regexp.MustCompile(`["'{,\s](base_path|context_keys|versions)["']?\s*:`)
)

// IsDefinition reports whether a file that was found in a directory is a definition, if perhaps a bad one. An empty
// file is: it may be one that was cut off.
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

// isManifest tells a manifest from a definition.
func isManifest(text []byte) bool {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil
}
