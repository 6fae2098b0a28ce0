package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"signpost/client"
)

// maxSchema bounds the file of --feed-schema, in bytes. Large published schemas have less than one MiB.
const maxSchema = 8 << 20

// readFeedSchema returns what judges feeds by the JSON Schema in a file. References lead to other files only.
func readFeedSchema(path string) (func(feed any) []client.Violation, error) {
	text, err := readFlagFile(path, maxSchema)
	if err != nil {
		return nil, fmt.Errorf("read --feed-schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read --feed-schema: %q is not JSON: %w", path, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(path, doc); err != nil {
		return nil, fmt.Errorf("read --feed-schema: %q: %w", path, err)
	}
	schema, err := compiler.Compile(path)
	if err != nil {
		return nil, fmt.Errorf("read --feed-schema: %q is not a JSON Schema: %w", path, err)
	}
	return func(feed any) []client.Violation {
		err, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(feed))
		if !ok {
			return nil
		}
		return violations(err)
	}, nil
}

// violations returns the innermost reasons why a document is not valid. Of alternatives, of which none or more than one
// is valid, it is the choice itself: the reasons of the branches contradict each other.
func violations(err *jsonschema.ValidationError) []client.Violation {
	keyword := strings.Join(err.ErrorKind.KeywordPath(), "/")
	switch err.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
	default:
		if len(err.Causes) > 0 {
			var all []client.Violation
			for _, cause := range err.Causes {
				all = append(all, violations(cause)...)
			}
			return all
		}
	}
	pointer := ""
	for _, token := range err.InstanceLocation {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
	}
	alone := *err
	alone.Causes = nil
	_, message, found := strings.Cut(strings.TrimPrefix(alone.Error(), "at '"+pointer), "': ")
	if !found {
		message = alone.Error()
	}
	return []client.Violation{{Pointer: pointer, Keyword: keyword, Message: message}}
}
