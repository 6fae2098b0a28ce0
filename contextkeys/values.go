// Package contextkeys reads the context keys that clients send to a feed service, and encodes them for clients.
//
// A feed service puts [Middleware] around the handler of an endpoint, with the endpoint's context items, and looks
// the keys up in [FromContext]. A client sends what [Encode] and [EncodeBody] return.
//
// The keys are access tokens and the like. Errors name keys and places, never values; and [Values] print the names
// that they hold, and nothing else.
package contextkeys

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"signpost"
)

// Values are the context keys of one request. The zero value holds none.
//
// A key that a context item declares is found under its key, however the item's mapper renames it, and only where
// the item says that it is sent: in ctx or in the body. Any other name is found as it was sent, in ctx or else in
// the body. A null is as good as nothing.
//
// A form carries nothing but text, so look-ups do not tell 20 from "20" or true from "true".
type Values struct {
	items     []signpost.ContextItem
	ctx, body map[string]any // as sent: string, json.Number, bool or nil
}

// String returns the text of a key: a string, or a number or boolean as it was written.
func (v Values) String(key string) (string, bool) {
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

// Bool returns the value of a key that is true or false.
func (v Values) Bool(key string) (value, ok bool) {
	text, _ := v.String(key)
	return text == "true", text == "true" || text == "false"
}

// Number returns the value of a key that is a number, in the form in which it was written.
func (v Values) Number(key string) (json.Number, bool) {
	text, _ := v.String(key)
	if !isNumber(text) {
		return "", false
	}
	return json.Number(text), true
}

// Int64 returns the value of a key that is an integer, written as one.
func (v Values) Int64(key string) (int64, bool) {
	number, ok := v.Number(key)
	if !ok {
		return 0, false
	}
	n, err := number.Int64()
	return n, err == nil
}

// All yields the names and values as they were sent, first those of ctx, then those of the body, each sorted by name.
// A value is a string, a json.Number, a bool or nil.
func (v Values) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, part := range []map[string]any{v.ctx, v.body} {
			for _, name := range slices.Sorted(maps.Keys(part)) {
				if !yield(name, part[name]) {
					return
				}
			}
		}
	}
}

// Format prints the names alone, so that a token does not get into a log by accident.
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
			return v.sent(item)
		}
	}
	if value, ok := v.ctx[key]; ok {
		return value
	}
	return v.body[key]
}

// sent returns what came for an item, nil if nothing did.
func (v Values) sent(item signpost.ContextItem) any {
	if item.Type == signpost.ContextBodyParam {
		return v.body[sentAs(item)]
	}
	return v.ctx[sentAs(item)]
}

// sentAs returns the name that a client sends an item under.
func sentAs(item signpost.ContextItem) string {
	if item.Mapper != "" {
		return item.Mapper
	}
	return item.Key
}

// isNumber reports whether the text is a JSON number and no more: a valid text without a digit at an end has a
// quote, a bracket, a letter or a space there.
func isNumber(text string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return text != "" && (digit(text[0]) || text[0] == '-') && digit(text[len(text)-1]) && json.Valid([]byte(text))
}
