package signpost

import "slices"

// Modifier advertises an optional query parameter for which the studio shows editors a control. [Text], [Number],
// [Boolean] and [Select] build one with a single param.
type Modifier struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Params []Param `json:"params"`
	Extra  Extra   `json:"-"`
}

// Clone returns a copy that shares nothing with the modifier.
func (m Modifier) Clone() Modifier {
	m.Params = slices.Clone(m.Params)
	for i := range m.Params {
		p := &m.Params[i]
		p.UI.Options = slices.Clone(p.UI.Options)
		p.Schema.Enum = slices.Clone(p.Schema.Enum)
	}
	return m
}

// Param is one query parameter of a modifier.
type Param struct {
	Key    string `json:"key"`
	UI     UI     `json:"ui"`
	Schema Schema `json:"schema"`
	Extra  Extra  `json:"-"`
}

// UI describes how the studio presents a param. Options make it a dropdown.
type UI struct {
	Label       string   `json:"label"`
	Placeholder string   `json:"placeholder,omitempty"`
	Options     []Option `json:"options,omitempty"`
	Extra       Extra    `json:"-"`
}

// Option is one entry of a dropdown.
type Option struct {
	Value string `json:"value"`
	Label string `json:"label"`
	Extra Extra  `json:"-"`
}

// Schema describes the values of a param.
type Schema struct {
	Type string `json:"type"` // TypeString, TypeNumber or TypeBoolean

	// Default is the pre-filled value: a string, a bool, or a number of any Go type. A json.Number keeps its notation.
	// Nil means no default; 0, false and "" are defaults.
	Default any `json:"default,omitempty"`

	Enum  []string `json:"enum,omitempty"`
	Extra Extra    `json:"-"`
}

// Types of a param's value.
const (
	TypeString  = "string"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
)

// ValueTypes returns the types of the values of modifiers.
func ValueTypes() []string { return []string{TypeString, TypeNumber, TypeBoolean} }

// In JSON, Extra follows the fields of each object. Reading keeps unknown fields there, and the notation of numbers.

func (m Modifier) MarshalJSON() ([]byte, error) { return marshal(m) }
func (p Param) MarshalJSON() ([]byte, error)    { return marshal(p) }
func (u UI) MarshalJSON() ([]byte, error)       { return marshal(u) }
func (o Option) MarshalJSON() ([]byte, error)   { return marshal(o) }
func (s Schema) MarshalJSON() ([]byte, error)   { return marshal(s) }

func (m *Modifier) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }
func (p *Param) UnmarshalJSON(data []byte) error    { return unmarshal(data, p) }
func (u *UI) UnmarshalJSON(data []byte) error       { return unmarshal(data, u) }
func (o *Option) UnmarshalJSON(data []byte) error   { return unmarshal(data, o) }
func (s *Schema) UnmarshalJSON(data []byte) error   { return unmarshal(data, s) }

// Kinds of modifier, each with its own control in the studio.
const (
	KindText    = "text"    // a text input
	KindNumber  = "number"  // a number input
	KindBoolean = "boolean" // a toggle
	KindSelect  = "select"  // a dropdown
)

// Kind is a kind of modifier.
type Kind struct {
	Name  string
	Type  string // of its values
	Build func(ModifierInput) Modifier
}

// Kinds returns the kinds of modifier.
func Kinds() []Kind {
	return []Kind{
		{KindText, TypeString, Text},
		{KindNumber, TypeNumber, Number},
		{KindBoolean, TypeBoolean, Boolean},
		{KindSelect, TypeString, Select},
	}
}

// Kind returns the kind of modifier that has such a param. If none of the builders could have made it, the type is used
// instead.
func (p Param) Kind() string {
	switch {
	case p.Schema.Type != TypeString:
		return p.Schema.Type
	case len(p.UI.Options) > 0 || len(p.Schema.Enum) > 0:
		return KindSelect
	}
	return KindText
}

// ModifierInput holds the inputs for building a modifier of any kind.
type ModifierInput struct {
	ID           string
	Name         string
	Key          string // the name of the query parameter
	Label        string
	DefaultValue any // see Schema.Default
	Placeholder  string
	Options      []Option // for Select only
}

// Text returns a modifier with a text input.
func Text(in ModifierInput) Modifier { return in.build(TypeString) }

// Number returns a modifier with a number input.
func Number(in ModifierInput) Modifier { return in.build(TypeNumber) }

// Boolean returns a modifier with a toggle.
func Boolean(in ModifierInput) Modifier { return in.build(TypeBoolean) }

// Select returns a modifier with a dropdown of the options. Their values become schema.enum.
func Select(in ModifierInput) Modifier {
	m := in.build(TypeString)
	p := &m.Params[0]
	if p.UI.Options == nil {
		p.UI.Options = []Option{} // so that Validate reports a select without options
	}
	p.Schema.Enum = optionValues(*p)
	return m
}

func (in ModifierInput) build(valueType string) Modifier {
	return Modifier{
		ID:   in.ID,
		Name: in.Name,
		Params: []Param{{
			Key:    in.Key,
			UI:     UI{Label: in.Label, Placeholder: in.Placeholder, Options: slices.Clone(in.Options)},
			Schema: Schema{Type: valueType, Default: in.DefaultValue},
		}},
	}
}
