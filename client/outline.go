package client

import (
	"bytes"
	"encoding/json"
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

// eachText calls found for each string and number in a JSON text, in order, and the way to it, up to a syntax error. It
// builds no tree, which would take many times the memory of the text.
func eachText(text []byte, found func(text string, way []step)) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var read func(way []step) bool
	read = func(way []step) bool {
		token, err := dec.Token()
		switch token := token.(type) {
		case string:
			found(token, way)
		case json.Number:
			found(token.String(), way)
		case json.Delim:
			for i := 0; dec.More(); i++ {
				next := step{strconv.Itoa(i), true}
				if token == '{' {
					key, _ := dec.Token() // after an error, there is no value either
					next = step{fmt.Sprint(key), false}
				}
				if len(way) == maxDepth || !read(append(way, next)) {
					return false
				}
			}
			_, err = dec.Token() // the end of the object or array
		}
		return err == nil
	}
	read(nil)
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
