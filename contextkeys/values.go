// Package contextkeys reads the context keys that clients send to a feed service, and encodes them for clients.
//
// A feed service wraps the handler of an endpoint in [Middleware], with the endpoint's context items, and looks the
// keys up in [FromContext]. A client sends what [Encode] and [EncodeBody] return.
//
// Context keys are access tokens and the like. Errors name keys and places, never values that a client sent, and
// [Values] print only the names that they hold.
package contextkeys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"signpost"
)

// Values holds the context keys of one request. The zero value holds none.
//
// A declared key is found under its own name, whatever name the item's mapper gives it, and only in the part of the
// request that the item specifies: ctx, the body or a header. Any other name is found as it was sent, in ctx or else in
// the body. null counts as absent.
//
// A form carries only text, so lookups do not distinguish 20 from "20" or true from "true". An object or an array is
// neither text nor number nor boolean: Text, Number, Int64 and Bool report false for it, and [Values.JSON] returns it.
type Values struct {
	items []signpost.ContextItem

	// What was sent, by type and name: a string, json.Number, bool, nil, or json.RawMessage for an object or array.
	parts map[string]map[string]any
}

// Text returns a string, number or boolean as it was written.
func (v Values) Text(key string) (string, bool) {
	switch value := v.lookup(key).(type) {
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		return strconv.FormatBool(value), true
	}
	return "", false
}

// JSON returns a value of any type as JSON: an object or an array as it was written, a form field as a string.
func (v Values) JSON(key string) (json.RawMessage, bool) {
	value := v.lookup(key)
	if value == nil {
		return nil, false
	}
	if raw, ok := value.(json.RawMessage); ok {
		return bytes.Clone(raw), true
	}
	raw, err := json.Marshal(value)
	return raw, err == nil
}

// Bool returns a value that is true or false.
func (v Values) Bool(key string) (value, ok bool) {
	text, _ := v.Text(key)
	return text == "true", text == "true" || text == "false"
}

// Number returns a number as it was written.
func (v Values) Number(key string) (json.Number, bool) {
	text, _ := v.Text(key)
	if !isNumber(text) {
		return "", false
	}
	return json.Number(text), true
}

// Int64 returns a value that is written as an integer.
func (v Values) Int64(key string) (int64, bool) {
	number, ok := v.Number(key)
	if !ok {
		return 0, false
	}
	n, err := number.Int64()
	return n, err == nil
}

// All yields names and values as they were sent, those of ctx before those of the body and of headers, each sorted by
// name. A value is a string, a json.Number, a bool, nil, or a json.RawMessage that holds an object or an array.
func (v Values) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, kind := range []string{signpost.ContextCtx, signpost.ContextBodyParam, signpost.ContextHeader} {
			for _, name := range slices.Sorted(maps.Keys(v.parts[kind])) {
				if !yield(name, v.parts[kind][name]) {
					return
				}
			}
		}
	}
}

// Format prints only the names, so that tokens do not end up in a log by accident.
func (v Values) Format(state fmt.State, _ rune) {
	names := []string{}
	for name := range v.All() {
		names = append(names, name)
	}
	fmt.Fprintf(state, "context keys %q", names)
}

func (v Values) lookup(key string) any {
	for _, item := range v.items {
		if item.Key == key {
			value, _ := v.sent(item)
			return value
		}
	}
	for _, kind := range signpost.ContextTypes() {
		if value, ok := v.parts[kind][key]; ok {
			return value
		}
	}
	return nil
}

// sent returns the value that was sent for an item, which may be null, and whether there was one.
func (v Values) sent(item signpost.ContextItem) (value any, ok bool) {
	part, known := v.parts[item.Type]
	if !known {
		part = v.parts[signpost.ContextCtx]
	}
	value, ok = part[item.SentAs()]
	return value, ok
}

// noValue reports whether a client sent this because it had no value. JavaScript turns undefined and null into these
// strings when it builds text.
func noValue(value any) bool {
	text, isText := value.(string)
	return value == nil || isText && (text == "" || text == "undefined" || text == "null")
}

// isNumber reports whether text is a JSON number and nothing else: in any other valid JSON text, the first or last
// character is a quote, a bracket, a letter or a space.
func isNumber(text string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return text != "" && (digit(text[0]) || text[0] == '-') && digit(text[len(text)-1]) && json.Valid([]byte(text))
}
