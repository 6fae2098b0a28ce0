package definition

import (
	_ "embed"
	"slices"
)

//go:embed signpost.schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of the definition file, for editors. It takes everything that Lint
// takes, and refuses what a schema can tell is wrong.
func Schema() []byte { return slices.Clone(schema) }
