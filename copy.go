package signpost

import "slices"

// Clone returns a copy that shares nothing with the endpoint.
func (e Endpoint) Clone() Endpoint {
	e.ContextObj = slices.Clone(e.ContextObj)
	e.Modifiers = slices.Clone(e.Modifiers)
	for i, m := range e.Modifiers {
		e.Modifiers[i] = m.Clone()
	}
	return e
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
