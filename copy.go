package signpost

import (
	"hash/maphash"
	"slices"
	"strings"
)

// cloneEndpoints returns copies of endpoints that share nothing with them or each other. All lists of a type are cut from
// one allocation, and so are all texts: a manifest has tens of thousands, and that many small pieces would keep the memory
// around them from being given back.
func cloneEndpoints(endpoints []Endpoint) []Endpoint {
	var items, modifiers, params, options, values int
	for _, e := range endpoints {
		items += len(e.ContextObj)
		modifiers += len(e.Modifiers)
		for _, m := range e.Modifiers {
			params += len(m.Params)
			for _, p := range m.Params {
				options += len(p.UI.Options)
				values += len(p.Schema.Enum)
			}
		}
	}
	c := cloner{
		make([]ContextItem, 0, items), make([]Modifier, 0, modifiers), make([]Param, 0, params), make([]Option, 0, options), make([]string, 0, values),
	}
	out := append(make([]Endpoint, 0, len(endpoints)), endpoints...)
	for i := range out {
		out[i].ContextObj = cut(&c.items, out[i].ContextObj)
		out[i].Modifiers = c.clone(out[i].Modifiers)
	}
	size := 0
	eachText(out, func(s *string) { size += len(*s) })
	var text strings.Builder
	text.Grow(size)
	eachText(out, func(s *string) {
		text.WriteString(*s)
		*s = text.String()[text.Len()-len(*s):]
	})
	return out
}

// Clone returns a copy that shares nothing with the endpoint.
func (e Endpoint) Clone() Endpoint { return cloneEndpoints([]Endpoint{e})[0] }

// cloner holds the room for copies of lists.
type cloner struct {
	items     []ContextItem
	modifiers []Modifier
	params    []Param
	options   []Option
	values    []string
}

func (c *cloner) clone(modifiers []Modifier) []Modifier {
	out := cut(&c.modifiers, modifiers)
	for i := range out {
		out[i].Params = cut(&c.params, out[i].Params)
		for j := range out[i].Params {
			p := &out[i].Params[j]
			p.UI.Options = cut(&c.options, p.UI.Options)
			p.Schema.Enum = cut(&c.values, p.Schema.Enum)
		}
	}
	return out
}

// cut returns a copy of a list that has no room to grow, and takes the memory for it from room. Nil stays nil.
func cut[T any](room *[]T, list []T) []T {
	if list == nil {
		return nil
	}
	from := len(*room)
	*room = append(*room, list...)
	return (*room)[from:len(*room):len(*room)]
}

// eachText visits the texts of endpoints, apart from the defaults, which can have any type, and from those that most
// endpoints have and that are in the program anyway.
func eachText(endpoints []Endpoint, visit func(*string)) {
	for i := range endpoints {
		e := &endpoints[i]
		visit(&e.URL)
		visit(&e.Name)
		visitWord(&e.Method, visit)
		visitWord(&e.MIMEType, visit)
		for j := range e.ContextObj {
			c := &e.ContextObj[j]
			visit(&c.Key)
			visitWord(&c.Type, visit)
			visit(&c.Mapper)
		}
		for j := range e.Modifiers {
			m := &e.Modifiers[j]
			visit(&m.ID)
			visit(&m.Name)
			for k := range m.Params {
				m.Params[k].eachText(visit)
			}
		}
	}
}

func (p *Param) eachText(visit func(*string)) {
	visit(&p.Key)
	visit(&p.UI.Label)
	visit(&p.UI.Placeholder)
	visitWord(&p.Schema.Type, visit)
	for i := range p.UI.Options {
		visit(&p.UI.Options[i].Value)
		visit(&p.UI.Options[i].Label)
	}
	for i := range p.Schema.Enum {
		visit(&p.Schema.Enum[i])
	}
}

// visitWord replaces a usual text by that of the program, and visits any other.
func visitWord(s *string, visit func(*string)) {
	switch *s {
	case MethodGet:
		*s = MethodGet
	case MethodPost:
		*s = MethodPost
	case MIMEJSON:
		*s = MIMEJSON
	case ContextCtx:
		*s = ContextCtx
	case TypeString:
		*s = TypeString
	case TypeNumber:
		*s = TypeNumber
	case TypeBoolean:
		*s = TypeBoolean
	default:
		visit(s)
	}
}

// compact returns copies of endpoints for a template, which keeps them and never changes them: context lists that are
// equal are the same one, and so are lists of modifiers.
func compact(endpoints []Endpoint) []Endpoint {
	items := firsts[ContextItem]{hash: hashItem, equal: func(a, b ContextItem) bool { return a == b }}
	modifiers := firsts[Modifier]{hash: hashModifier, equal: sameModifier}
	firstItems, firstModifiers := make([]int, len(endpoints)), make([]int, len(endpoints))
	out := slices.Clone(endpoints)
	for i := range out {
		e := &out[i]
		if firstItems[i] = items.of(e.ContextObj, i); firstItems[i] != i {
			e.ContextObj = nil
		}
		if firstModifiers[i] = modifiers.of(e.Modifiers, i); firstModifiers[i] != i {
			e.Modifiers = nil
		}
	}
	out = cloneEndpoints(out)
	for i := range out {
		out[i].ContextObj, out[i].Modifiers = out[firstItems[i]].ContextObj, out[firstModifiers[i]].Modifiers
	}
	return out
}

// firsts tells where a list was first seen.
type firsts[T any] struct {
	hash  func(*maphash.Hash, T)
	equal func(a, b T) bool

	state maphash.Hash
	seen  map[uint64][]firstList[T] // by hash
}

type firstList[T any] struct {
	list []T
	at   int
}

// of returns the place of the first list that is equal to the given one, which is at the given place. Lists without
// anything in them are left alone.
func (f *firsts[T]) of(list []T, at int) int {
	if len(list) == 0 {
		return at
	}
	f.state.Reset()
	for _, v := range list {
		f.hash(&f.state, v)
	}
	sum := f.state.Sum64()
	for _, known := range f.seen[sum] {
		if slices.EqualFunc(known.list, list, f.equal) {
			return known.at
		}
	}
	if f.seen == nil {
		f.seen = make(map[uint64][]firstList[T])
	}
	f.seen[sum] = append(f.seen[sum], firstList[T]{list, at})
	return at
}

func hashItem(h *maphash.Hash, c ContextItem) { maphash.WriteComparable(h, c) }

// hashModifier hashes everything, so that modifiers with the same hash are nearly always equal.
func hashModifier(h *maphash.Hash, m Modifier) {
	h.WriteString(m.ID)
	h.WriteString(m.Name)
	for _, p := range m.Params {
		p.eachText(func(s *string) { h.WriteString(*s) })
		h.WriteString(p.Schema.Type)
		maphash.WriteComparable(h, p.Schema.Default)
	}
}

// sameModifier compares everything, nil and empty lists and the Go type of a default included, since a template hands out
// copies of what it was given.
func sameModifier(a, b Modifier) bool {
	return a.ID == b.ID && a.Name == b.Name && sameList(a.Params, b.Params, func(a, b Param) bool {
		return a.Key == b.Key && a.UI.Label == b.UI.Label && a.UI.Placeholder == b.UI.Placeholder &&
			a.Schema.Type == b.Schema.Type && a.Schema.Default == b.Schema.Default &&
			sameList(a.UI.Options, b.UI.Options, func(a, b Option) bool { return a == b }) &&
			sameList(a.Schema.Enum, b.Schema.Enum, func(a, b string) bool { return a == b })
	})
}

func sameList[T any](a, b []T, same func(a, b T) bool) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, same)
}
