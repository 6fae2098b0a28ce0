package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxPointer limits the length of a JSON pointer in bytes. Longer ones are truncated.
	maxPointer = 256

	// maxDepth limits the nesting of a feed. Package json has the same limit.
	maxDepth = 10000
)

// step is a key or an index on the way to a value in a JSON text.
type step struct {
	key   string
	array bool // the key is an index
}

// eachText calls found for each string in a JSON value, in order, and the way to it, up to a syntax error. It builds no tree,
// which would take many times the memory of the text.
func eachText(dec *json.Decoder, way []step, found func(text string, way []step)) error {
	token, err := dec.Token()
	if text, ok := token.(string); ok {
		found(text, way)
	}
	delim, ok := token.(json.Delim)
	if err != nil || !ok {
		return err
	}
	if len(way) == maxDepth {
		return errors.New("nested too deeply")
	}
	for i := 0; err == nil && dec.More(); i++ {
		next := step{strconv.Itoa(i), true}
		if delim == '{' {
			key, _ := dec.Token() // after an error, there is no value either
			next = step{fmt.Sprint(key), false}
		}
		err = eachText(dec, append(way, next), found)
	}
	if err == nil {
		_, err = dec.Token() // the end of the object or array
	}
	return err
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

// isLink reports whether text is an http(s) URL and nothing else, or looks like the path of one. The field id is for
// identifiers, which may as well.
func isLink(text string, way []step) bool {
	scheme, _, absolute := strings.Cut(text, "://")
	absolute = absolute && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
	isID := len(way) > 0 && way[len(way)-1].key == "id"
	relative := strings.HasPrefix(text, "/") && len(text) > 1 && text[1] != '/' && !isID
	return (absolute || relative) && !strings.ContainsAny(text, " \t\r\n\"<>\\")
}

// errorKeys lists fields that error messages have, and that feeds do not have exclusively.
var errorKeys = []string{
	"error", "errors", "error_description", "message", "code", "status", "statusCode", "status_code", "success", "detail", "details", "title",
	"type", "instance", "path", "timestamp", "requestId", "request_id", "traceId", "trace_id", "stack",
}

// isError reports whether a JSON object is an error message rather than a feed.
func isError(object []byte) bool {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimSpace(object), &fields); err != nil || fields["error"] == nil && fields["errors"] == nil {
		return false
	}
	for key := range fields {
		if !slices.Contains(errorKeys, key) {
			return false
		}
	}
	return true
}
