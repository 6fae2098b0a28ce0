package server

import (
	"net/http"
	"slices"
)

// field is a header field in the form that net/http uses. The values are shared by all responses and must not be
// modified.
type field struct {
	name   string // canonical
	values []string
	merge  merge
}

// merge says how to combine a field with one that an outer handler has set.
type merge int

const (
	replace merge = iota // the field describes the response itself: body, status or connection
	extend               // the field is a list: append the handler's value; the stricter one applies
	keep                 // the field is a policy: that of the outer handler wins
)

var merges = map[string]merge{
	"Vary":                          extend,
	"Cache-Control":                 extend,
	"Access-Control-Expose-Headers": extend,
	"Access-Control-Allow-Origin":   keep,
	"Access-Control-Allow-Methods":  keep,
	"Access-Control-Allow-Headers":  keep,
	"Access-Control-Max-Age":        keep,
	"X-Content-Type-Options":        keep,
}

func newField(name, value string) field { return field{name, []string{value}, merges[name]} }

func (f field) set(header http.Header) {
	before, ok := header[f.name]
	switch {
	case !ok || f.merge == replace:
		header[f.name] = f.values
	case f.merge == extend && !slices.Contains(before, f.values[0]):
		header[f.name] = slices.Concat(before, f.values)
	}
}

// head holds the precomputed header of a response, both for net/http and as it is sent.
type head struct {
	fields []field
	lines  []byte
}

// with returns a head with additional fields.
func (h head) with(fields ...field) head {
	h.fields = slices.Concat(h.fields, fields)
	h.lines = slices.Clip(h.lines) // otherwise heads derived from this one would share memory
	for _, f := range fields {
		h.lines = append(h.lines, f.name+": "+f.values[0]+"\r\n"...)
	}
	return h
}

// addTo adds the fields to the header of a response.
func (h *head) addTo(header http.Header) {
	if len(header) == 0 { // the usual case
		for _, f := range h.fields {
			header[f.name] = f.values
		}
		return
	}
	for _, f := range h.fields {
		f.set(header)
	}
}
