// Package fields is the table of the definition file's fields. The decoder and the language server are made from it,
// and a test holds the JSON Schema against it.
//
// Start at [Definition] and follow [Value.Fields] and [Value.Each], or ask [Value.At] for the values at a path.
package fields

import "regexp"

// Type is the type of a value.
type Type uint8

// Types of values.
const (
	Text Type = iota
	Bool
	Scalar // text, a number, true or false
	Date   // text, with or without quotes
	Object
	List
)

// Names says whose names a value or the keys of an object have, for completion and the schema.
type Names uint8

// Names that are not part of the table.
const (
	Features Names = iota + 1
	Modifiers
	ContextKeys
	Warnings // the rules that can be allowed
	Extras   // fields beyond the specification, with their plus
)

// Key stands for the free key of a value in [Value.What].
const Key = "{key}"

// Value describes a value of the definition file.
type Value struct {
	What string // what messages call it, such as "context item", with Key for its own key; a field is called by its name
	Type Type

	Fields []Field        // of an object with fixed fields
	Each   *Value         // the values of an object with free keys, or the items of a list
	Keys   *regexp.Regexp // what free keys must match; nil if every key is allowed

	Values   []string // the only values, if not nil
	Examples []string // values that completion offers
	Names    Names    // of a text, or of the free keys of an object
	OrNull   bool     // null is allowed
	OrList   bool     // a list of such values is allowed
	Short    *Value   // of an object without its last field: the form that it has then
	Plus     bool     // an object of the manifest, which may have fields beyond the specification, with a plus
	OrName   Names    // text is allowed: the name of such a value
	OrObject *Value   // of a text: an object is allowed in its place

	Form string // what to write in place of a value of another type
}

// Field is a field of an object.
type Field struct {
	Name     string
	Value    *Value
	Required bool
	Local    bool   // of the definition alone: not part of the manifest
	Doc      string // for people
}

// Field returns the field with a name, or nil.
func (v *Value) Field(name string) *Field {
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i]
		}
	}
	return nil
}

// Of returns what the value of a key must be, or nil if there is no such key.
func (v *Value) Of(key string) *Value {
	if f := v.Field(key); f != nil {
		return f.Value
	}
	if v.Type == Object && v.Each != nil && (v.Keys == nil || v.Keys.MatchString(key)) {
		return v.Each
	}
	return nil
}

// forms returns the value and its other form, if it has one.
func (v *Value) forms() []*Value {
	switch {
	case v.Short != nil:
		return []*Value{v.Short, v}
	case v.OrObject != nil:
		return []*Value{v, v.OrObject}
	}
	return []*Value{v}
}

// At returns what the value at a path may be. The steps are field names and free keys; "" is a list item.
func (v *Value) At(path ...string) []*Value {
	here := v.forms()
	for _, step := range path {
		var next []*Value
		for _, v := range here {
			if v.Type == List && step == "" {
				next = append(next, v.Each.forms()...)
			} else if v.OrList && step == "" {
				next = append(next, v)
			} else if value := v.Of(step); value != nil {
				next = append(next, value.forms()...)
			}
		}
		here = next
	}
	return here
}
