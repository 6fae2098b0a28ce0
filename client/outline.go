package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxPointer limits the length of a JSON pointer in bytes. Longer ones are truncated.
const maxPointer = 256

// decodeJSON parses a JSON text, with json.Number for numbers.
func decodeJSON(text []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// step is a key or an index on the way to a value in a JSON tree.
type step struct {
	key   string
	array bool // the key is an index
}

// eachText calls found for each string and number in a JSON tree, in the order of keys and indexes, and the way to it.
func eachText(value any, way []step, found func(text string, way []step)) {
	switch value := value.(type) {
	case string:
		found(value, way)
	case json.Number:
		found(value.String(), way)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			eachText(value[key], append(way, step{key, false}), found)
		}
	case []any:
		for i, item := range value {
			eachText(item, append(way, step{strconv.Itoa(i), true}), found)
		}
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the JSON pointer of a value, and a pattern of it that similar values have: with * for every index.
func pointer(way []step) (pointer, pattern string) {
	for _, s := range way {
		key := pointerEscapes.Replace(s.key)
		if len(pointer)+len(key) > maxPointer {
			return pointer + "/…", pattern + "/…"
		}
		pointer += "/" + key
		if s.array {
			key = "*"
		}
		pattern += "/" + key
	}
	return pointer, pattern
}

// errorKeys lists fields that error messages have, and that feeds do not have exclusively.
var errorKeys = []string{
	"error", "errors", "error_description", "message", "code", "status", "statusCode", "status_code", "success", "detail", "details", "title",
	"type", "instance", "path", "timestamp", "requestId", "request_id", "traceId", "trace_id", "stack",
}

// isError reports whether a JSON object is an error message rather than a feed.
func isError(object map[string]any) bool {
	for key := range object {
		if !slices.Contains(errorKeys, key) {
			return false
		}
	}
	return object["error"] != nil || object["errors"] != nil
}
