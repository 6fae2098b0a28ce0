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
}

// Fields that an outer handler may have set. All others describe the response itself, and are replaced.
var (
	lists    = []string{"Vary", "Cache-Control", "Access-Control-Expose-Headers"} // extended; the stricter value applies
	policies = []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
		"Access-Control-Max-Age", "X-Content-Type-Options"} // kept
)

func newField(name, value string) field { return field{name, []string{value}} }

func (f field) set(header http.Header) {
	before, ok := header[f.name]
	isList := slices.Contains(lists, f.name)
	switch {
	case !ok || !isList && !slices.Contains(policies, f.name):
		header[f.name] = f.values
	case isList && !slices.Contains(before, f.values[0]):
		header[f.name] = slices.Concat(before, f.values)
	}
}

// head holds the precomputed header of a response, both for net/http and as it is sent.
type head struct {
	fields []field
	lines  []byte
}

func (h head) with(fields ...field) head {
	h.fields = slices.Concat(h.fields, fields)
	h.lines = slices.Clip(h.lines) // otherwise heads derived from this one would share memory
	for _, f := range fields {
		h.lines = append(h.lines, f.name+": "+f.values[0]+"\r\n"...)
	}
	return h
}
