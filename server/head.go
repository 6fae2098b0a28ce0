package server

import (
	"net/http"
	"slices"

	"signpost/internal/wire"
)

// field is a header with its values as net/http takes them. It is put into every response as it is, and never written to.
type field struct {
	name   string // canonical
	values []string
}

func newField(name, value string) field { return field{name, []string{value}} }

func (f field) set(header http.Header) { header[f.name] = f.values }

// head is the headers of an answer, made once: for net/http, and as they are sent.
type head struct {
	fields []field
	lines  []byte
}

// with returns a head that has more fields.
func (h head) with(fields ...field) head {
	h.fields = slices.Concat(h.fields, fields)
	h.lines = slices.Clip(h.lines)
	for _, f := range fields {
		h.lines = append(h.lines, f.name+": "+f.values[0]+"\r\n"...)
	}
	return h
}

// write answers, in one piece where the connection can do that.
func (h *head) write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	if conn := wire.FromContext(r.Context()); conn != nil {
		conn.Announce(h.lines, body)
		w.WriteHeader(status)
		return
	}
	header := w.Header()
	for _, f := range h.fields {
		f.set(header)
	}
	w.WriteHeader(status)
	w.Write(body) // a client that is gone needs no answer
}
