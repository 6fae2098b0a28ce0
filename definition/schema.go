package definition

import (
	"bytes"
	_ "embed"
)

//go:embed signpost.schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of the definition file, for editors. It accepts everything that Lint
// accepts, and rejects what a schema can detect.
func Schema() []byte { return bytes.Clone(schema) }
