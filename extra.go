package signpost

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// Extra holds the fields of an object of the manifest that the specification does not name, as JSON text on one line
// without the braces, such as `"observe_storage":true,"x":[1]`. They are written after the fields of the specification.
// The empty text means none.
type Extra string

// All returns the fields in order, with their values as they were written.
func (x Extra) All() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		r := newReader([]byte("{" + string(x) + "}"))
		_ = r.members(func(name string) error { // Validate reports text that is not JSON
			value, err := r.raw()
			if err == nil && !yield(name, value) {
				err = errStop
			}
			return err
		})
	}
}

// extraFields collects the fields of an Extra. Of several with one name, the last one counts.
type extraFields struct {
	names  []string
	values map[string]json.RawMessage
}

func (f *extraFields) set(name string, value json.RawMessage) {
	if f.values == nil {
		f.values = make(map[string]json.RawMessage)
	}
	if _, ok := f.values[name]; !ok {
		f.names = append(f.names, name)
	}
	f.values[name] = value
}

func (f *extraFields) text() Extra {
	w := newWriter()
	for i, name := range f.names {
		w.name(i, name)
		w.raw(f.values[name])
	}
	return Extra(w.out.String())
}

// check returns an error if the fields cannot be written beside the known ones.
func (x Extra) check(known []string) error {
	if x == "" {
		return nil
	}
	if !json.Valid([]byte("{"+string(x)+"}")) || !utf8.ValidString(string(x)) {
		return fmt.Errorf("the extra fields %q are not JSON", string(x))
	}
	seen := make(map[string]bool)
	for name := range x.All() {
		switch {
		case slices.Contains(known, name):
			return fmt.Errorf("the extra field %q is one of the specification", name)
		case seen[name]:
			return fmt.Errorf("the extra field %q is there twice", name)
		}
		seen[name] = true
	}
	return nil
}

// Beyond marks a method or a context type that is meant although the specification does not know it: an endpoint with
// the method "+GET" is served with the method "GET".
const Beyond = "+"

// Served returns a copy of the manifest as it is served, with the marks of values beyond the specification removed.
func (m Manifest) Served() Manifest {
	m = m.Clone()
	for i, e := range m.Endpoints {
		m.Endpoints[i] = e.unmarked()
	}
	return m
}

// unmarked returns the endpoint as it is served, with the marks of values beyond the specification removed.
func (e Endpoint) unmarked() Endpoint {
	e.Method = strings.TrimPrefix(e.Method, Beyond)
	if slices.ContainsFunc(e.ContextObj, func(c ContextItem) bool { return c != c.unmarked() }) {
		e.ContextObj = slices.Clone(e.ContextObj)
		for i, c := range e.ContextObj {
			e.ContextObj[i] = c.unmarked()
		}
	}
	return e
}

func (c ContextItem) unmarked() ContextItem {
	c.Type = strings.TrimPrefix(c.Type, Beyond)
	return c
}
