package server

import (
	"errors"
	"net/http"
	"strconv"

	"signpost/internal/wire"
)

type response struct {
	status int
	head   head
	body   []byte
}

// newResponse returns a response with a body. The fields and the length are added to the head.
func newResponse(status int, head head, body []byte, fields ...field) *response {
	length := newField("Content-Length", strconv.Itoa(len(body)))
	return &response{status, head.with(append(fields, length)...), body}
}

// send writes a response, with a single system call if the connection supports it, and returns the number of body bytes
// written.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, res *response) (n int, err error) {
	isHead := r.Method == http.MethodHead
	body := res.body
	if isHead {
		body = nil
	}
	if direct, ok := w.(wire.Sender); ok {
		return direct.Send(res.status, res.head.lines, body)
	}
	for _, f := range res.head.fields {
		f.set(w.Header())
	}
	w.WriteHeader(res.status)
	if len(body) > 0 {
		n, err = w.Write(body)
	}
	if err != nil || h.observe == nil {
		return n, err
	}
	err = http.NewResponseController(w).Flush() // part of it may still be buffered, and therefore not written
	// A response that an outer handler buffers cannot be tracked any further. One to HEAD ends with its header: over
	// HTTP/2 the stream is already closed then, and Flush reports an error.
	if errors.Is(err, http.ErrNotSupported) || isHead && r.ProtoMajor == 2 {
		err = nil
	}
	return n, err
}
