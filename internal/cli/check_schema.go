package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"signpost/client"
	"signpost/internal/readfile"
)

// readFeedSchema returns a function that validates feeds against the JSON Schema in a file, or nil if path is empty.
// References may only lead to other files.
func readFeedSchema(path string) (func(feed any) []client.Violation, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readfile.Limit(path, maxFile)
	var schema *jsonschema.Schema
	if err == nil {
		schema, err = compileFeedSchema(path, text)
	}
	if err != nil {
		return nil, fmt.Errorf("read --feed-schema: %w", err)
	}
	return func(feed any) []client.Violation {
		err, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(feed))
		if !ok {
			return nil
		}
		return violations(err)
	}, nil
}

func compileFeedSchema(path string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%q is not JSON: %w", path, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(path, doc); err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	schema, err := compiler.Compile(path)
	if err != nil {
		return nil, fmt.Errorf("%q is not a JSON Schema: %w", path, err)
	}
	return schema, nil
}

// violations returns the innermost reasons why a document is invalid. For anyOf and oneOf it returns the choice itself,
// because the reasons of the branches contradict each other.
func violations(err *jsonschema.ValidationError) []client.Violation {
	alone := *err
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		alone.Causes = nil
	}
	if len(alone.Causes) == 0 {
		out := alone.BasicOutput()
		return []client.Violation{{Pointer: out.InstanceLocation, Message: out.Error.String()}}
	}
	var all []client.Violation
	for _, cause := range err.Causes {
		all = append(all, violations(cause)...)
	}
	return all
}
