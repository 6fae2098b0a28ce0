package lsp

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"signpost/definition"
)

// schema is a part of the JSON Schema of the definition file. It is the only list of fields and their descriptions; the
// language server uses it, too.
type schema struct {
	Ref         string             `json:"$ref"`
	Description string             `json:"description"`
	Type        any                `json:"type"`
	Required    []string           `json:"required"`
	Enum        []any              `json:"enum"`
	Const       any                `json:"const"`
	Examples    []any              `json:"examples"`
	Properties  map[string]*schema `json:"properties"`
	Patterns    map[string]*schema `json:"patternProperties"`
	Additional  *schema            `json:"additionalProperties"`
	Items       *schema            `json:"items"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	AllOf       []*schema          `json:"allOf"`
	If          *schema            `json:"if"`
	Then        *schema            `json:"then"`
	Else        *schema            `json:"else"`
	Defs        map[string]*schema `json:"$defs"`
}

// UnmarshalJSON treats true and false as empty schemas.
func (s *schema) UnmarshalJSON(data []byte) error {
	if string(data) == "true" || string(data) == "false" {
		return nil
	}
	type plain schema // sheds this method
	return json.Unmarshal(data, (*plain)(s))
}

// loadSchema reads the embedded schema.
func loadSchema() *schema {
	root := new(schema)
	if err := json.Unmarshal(definition.Schema(), root); err != nil {
		panic(err) // a bug: the tests of package definition parse it
	}
	return root
}

// expand returns a schema and all its parts: references, alternatives and conditions.
func (s *schema) expand(root *schema) []*schema {
	var all []*schema
	var visit func(*schema)
	visit = func(s *schema) {
		if s == nil || slices.Contains(all, s) {
			return
		}
		all = append(all, s)
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			visit(root.Defs[name])
		}
		for _, list := range [][]*schema{s.AnyOf, s.OneOf, s.AllOf} {
			for _, part := range list {
				visit(part)
			}
		}
		for _, part := range []*schema{s.If, s.Then, s.Else} {
			visit(part)
		}
	}
	visit(s)
	return all
}

// walk returns the schemas of the value at a path; "" is a list item.
func (s *schema) walk(path []string) []*schema {
	here := s.expand(s)
	for _, step := range path {
		var next []*schema
		for _, part := range here {
			for _, child := range part.step(step) {
				for _, expanded := range child.expand(s) {
					if !slices.Contains(next, expanded) {
						next = append(next, expanded)
					}
				}
			}
		}
		here = next
	}
	return here
}

// step returns the schemas of a field or, for "", of list items.
func (s *schema) step(name string) []*schema {
	if name == "" {
		if s.Items == nil {
			return nil
		}
		return []*schema{s.Items}
	}
	if field := s.Properties[name]; field != nil {
		return []*schema{field}
	}
	var found []*schema
	for pattern, field := range s.Patterns {
		if matched, err := regexp.MatchString(pattern, name); err == nil && matched && !strings.HasPrefix(name, "x-") {
			found = append(found, field)
		}
	}
	if found == nil && s.Additional != nil {
		found = append(found, s.Additional)
	}
	return found
}

// field describes a field of an object.
type field struct {
	name        string
	description string
	required    bool
	object      bool // an object or a list, which starts on the next line
}

// fields returns the fields of the object at a path, required ones first.
func (s *schema) fields(path []string) []field {
	byName := make(map[string]*field)
	for _, part := range s.walk(path) {
		for name, property := range part.Properties {
			f := byName[name]
			if f == nil {
				f = &field{name: name}
				byName[name] = f
			}
			for _, p := range property.expand(s) {
				if f.description == "" {
					f.description = p.Description
				}
				f.object = f.object || p.Type == "object" || p.Type == "array"
			}
		}
		for _, name := range part.Required {
			if f := byName[name]; f != nil {
				f.required = true
			}
		}
	}
	var all []field
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[name])
	}
	slices.SortStableFunc(all, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return all
}

// values returns the strings that the value at a path can have, if the schema lists them.
func (s *schema) values(path []string) []string {
	var values []string
	add := func(v any) {
		text, isText := v.(string)
		if isText && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	for _, part := range s.walk(path) {
		for _, v := range slices.Concat(part.Enum, part.Examples, []any{part.Const}) {
			add(v)
		}
		if part.Type == "boolean" {
			add("true")
			add("false")
		}
	}
	return values
}

// describe returns the schema's description of the value at a path.
func (s *schema) describe(path []string) string {
	for _, part := range s.walk(path) {
		if part.Description != "" {
			return part.Description
		}
	}
	return ""
}
