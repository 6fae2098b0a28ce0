package source

import (
	"bytes"
	"encoding/json"

	"signpost/definition"
)

// IsDefinition reports whether a file found in a directory is a definition, even if a bad one.
func IsDefinition(d Document) bool { return definition.IsDefinition(d.Name, d.Text) }

// isManifest distinguishes a manifest from a definition.
func isManifest(text []byte) bool {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &top); err != nil {
		return false
	}
	return top["endpoints"] != nil && top["versions"] == nil
}
