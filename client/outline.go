package client

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxLinks limits the number of links taken from one feed. A page of a feed has some hundred entries.
	maxLinks = 5000

	// maxPointer limits the length of a JSON pointer in bytes. Longer ones are truncated.
	maxPointer = 256

	// maxTopKeys limits how many top-level field names are examined.
	maxTopKeys = 32
)

// outline holds what the checks need to know about a JSON text: its type, its top-level field names, and its links.
type outline struct {
	kind   string   // "an object", "an array", …
	keys   []string // of the outermost object
	links  []link
	more   bool // there are more than maxLinks links
	broken bool // not JSON, or truncated
}

// link is an http(s) URL in a feed.
type link struct {
	url     string
	pointer string // location, as a JSON pointer
	pattern string // the pointer with * for every index, to group similar links

	from     *probe // the feed that contains it
	endpoint string // URL of the endpoint that answers for it
	unable   bool   // a required context value is missing
}

// level is an object or array around the current position.
type level struct {
	array bool
	index int    // in an array, of the current value
	key   string // in an object, of the current value
	named bool   // in an object, the key has been read
}

// readOutline reads a JSON text without building a tree. It takes the links, and what may be relative ones, for which
// takes returns true.
func readOutline(text []byte, takes func(url string) bool) outline {
	text = bytes.Trim(text, jsonSpace)
	if len(text) == 0 {
		return outline{broken: true}
	}
	o := outline{kind: jsonKind(text), broken: !json.Valid(text)}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var levels []level
	for {
		token, err := dec.Token()
		if err != nil { // end of the text, or a syntax error
			return o
		}
		if end, ok := token.(json.Delim); ok && (end == '}' || end == ']') {
			levels = levels[:len(levels)-1]
			next(levels)
			continue
		}
		if n := len(levels); n > 0 && !levels[n-1].array && !levels[n-1].named {
			levels[n-1].key, levels[n-1].named = token.(string), true
			if n == 1 && len(o.keys) < maxTopKeys {
				o.keys = append(o.keys, levels[0].key)
			}
			continue
		}
		if start, ok := token.(json.Delim); ok {
			levels = append(levels, level{array: start == '['})
			continue
		}
		if value, ok := token.(string); ok && (isLink(value) || mayBeRelative(value, levels)) && takes(value) {
			if len(o.links) == maxLinks {
				o.more = true
			} else {
				o.links = append(o.links, link{url: value, pointer: pointer(levels, false), pattern: pointer(levels, true)})
			}
		}
		next(levels)
	}
}

// next moves on to the next value of the innermost object or array.
func next(levels []level) {
	if n := len(levels); n > 0 {
		levels[n-1].index++
		levels[n-1].named = false
	}
}

// isLink reports whether text is an http(s) URL and nothing else.
func isLink(text string) bool {
	i := strings.Index(text, "://")
	return i > 0 && (strings.EqualFold(text[:i], "https") || strings.EqualFold(text[:i], "http")) && !strings.ContainsAny(text, " \t\r\n\"<>\\")
}

// mayBeRelative reports whether text looks like the path of a URL. The field id is for identifiers, which may as well.
func mayBeRelative(text string, levels []level) bool {
	isID := len(levels) > 0 && levels[len(levels)-1].key == "id"
	return len(text) > 1 && text[0] == '/' && text[1] != '/' && !isID && !strings.ContainsAny(text, " \t\r\n\"<>\\")
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(levels []level, pattern bool) string {
	var out strings.Builder
	for _, l := range levels {
		out.WriteByte('/')
		switch {
		case out.Len()+len(l.key) > maxPointer:
			out.WriteString("…")
			return out.String()
		case l.array && pattern:
			out.WriteByte('*')
		case l.array:
			out.WriteString(strconv.Itoa(l.index))
		default:
			out.WriteString(pointerEscapes.Replace(l.key))
		}
	}
	return out.String()
}

// errorKeys lists fields that error messages have, and that feeds do not have exclusively.
var errorKeys = []string{
	"error", "errors", "error_description", "message", "code", "status", "statusCode", "status_code", "success", "detail", "details", "title",
	"type", "instance", "path", "timestamp", "requestId", "request_id", "traceId", "trace_id", "stack",
}

// isError reports whether an object is an error message rather than a feed.
func (o outline) isError() bool {
	if !slices.Contains(o.keys, "error") && !slices.Contains(o.keys, "errors") {
		return false
	}
	return !slices.ContainsFunc(o.keys, func(key string) bool { return !slices.Contains(errorKeys, key) })
}
