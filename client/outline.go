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

// below returns the JSON pointer of a value that is one key or index further down.
func below(pointer, key string) string {
	switch {
	case strings.HasSuffix(pointer, "/…"):
		return pointer
	case len(pointer)+len(key) > maxPointer:
		key = "…"
	}
	return pointer + "/" + pointerEscapes.Replace(key)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pattern returns a JSON pointer with * for every index, which similar values have in common.
func pattern(pointer string) string {
	keys := strings.Split(pointer, "/")
	for i, key := range keys {
		if key != "" && strings.Trim(key, "0123456789") == "" {
			keys[i] = "*"
		}
	}
	return strings.Join(keys, "/")
}

// eachText calls found for each string and number in a JSON tree, in the order of keys and indexes.
func eachText(value any, pointer string, found func(text, pointer string)) {
	switch value := value.(type) {
	case string:
		found(value, pointer)
	case json.Number:
		found(value.String(), pointer)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			eachText(value[key], below(pointer, key), found)
		}
	case []any:
		for i, item := range value {
			eachText(item, below(pointer, strconv.Itoa(i)), found)
		}
	}
}

// errorKeys lists fields that error messages have, and that feeds do not have exclusively.
var errorKeys = []string{
	"error", "errors", "error_description", "message", "messages", "reason",
	"code", "status", "statusCode", "status_code", "success", "ok",
	"detail", "details", "title", "type", "instance", "path", "timestamp", "requestId", "request_id", "traceId", "trace_id",
	"stack",
}

// isError reports whether a JSON object is an error message rather than a feed. Many services send null in place of what
// they failed to get.
func isError(object map[string]any) bool {
	for key, value := range object {
		if value != nil && !slices.Contains(errorKeys, key) {
			return false
		}
	}
	for _, key := range []string{"status", "statusCode", "status_code", "code"} {
		code, _ := object[key].(json.Number)
		if n, err := code.Int64(); err == nil && n >= 400 {
			return true
		}
	}
	failed := object["success"] == false || object["ok"] == false || object["status"] == "error"
	if failed || object["error"] != nil || object["errors"] != nil {
		return true
	}
	return len(object) == 1 && (object["message"] != nil || object["detail"] != nil)
}
