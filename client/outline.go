package client

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxLinks bounds how many links are taken from one feed. A page of a feed has some hundred entries.
	maxLinks = 5000

	// maxPointer bounds the length of a JSON pointer in bytes. A longer one is cut off.
	maxPointer = 256

	// maxTopKeys bounds how many names of a feed's own fields are looked at.
	maxTopKeys = 32
)

// outline is what the checks need to know of a JSON text: its type, the names of its own fields, and its links.
type outline struct {
	kind   string   // "an object", "an array", …
	keys   []string // of the outermost object
	links  []link
	more   bool // there are more than maxLinks links
	broken bool // the text is not JSON, or cut off
}

// link is an http(s) URL in a feed.
type link struct {
	url     string
	pointer string // where it is, as a JSON pointer
	pattern string // the pointer with * for every index, to find links of the same kind

	from     *probe // the feed that has it
	endpoint string // the URL of the endpoint that answers for it
	unable   bool   // a required context value is missing
}

// level is an object or array around the place that is read.
type level struct {
	array bool
	index int    // in an array, of the value that is read
	key   string // in an object, of the value that is read
	named bool   // in an object, the key has been read
}

// readOutline reads a JSON text without building a tree of it. It takes the links that keep reports true for.
func readOutline(text []byte, keep func(url string) bool) outline {
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
		if err != nil { // the end, or where the text is broken
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
		if value, ok := token.(string); ok && isLink(value) && keep(value) {
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

// isLink reports whether a text is an http(s) URL and nothing else.
func isLink(text string) bool {
	i := strings.Index(text, "://")
	return i > 0 && (strings.EqualFold(text[:i], "https") || strings.EqualFold(text[:i], "http")) && !strings.ContainsAny(text, " \t\r\n\"<>\\")
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

// errorKeys are the fields that error messages have, and feeds do not have alone.
var errorKeys = []string{
	"error", "errors", "error_description", "message", "code", "status", "statusCode", "status_code", "success", "detail", "details", "title",
	"type", "instance", "path", "timestamp", "requestId", "request_id", "traceId", "trace_id", "stack",
}

// isError reports whether an object is an error message in place of a feed.
func (o outline) isError() bool {
	if !slices.Contains(o.keys, "error") && !slices.Contains(o.keys, "errors") {
		return false
	}
	return !slices.ContainsFunc(o.keys, func(key string) bool { return !slices.Contains(errorKeys, key) })
}
