package server

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"signpost/internal/wire"
)

// response is a prepared response.
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

// write sends the response through net/http, and returns the number of body bytes written.
func (res *response) write(w http.ResponseWriter, r *http.Request) (int, error) {
	res.head.addTo(w.Header())
	w.WriteHeader(res.status)
	if r.Method == http.MethodHead || len(res.body) == 0 {
		return 0, nil
	}
	return w.Write(res.body)
}

// delivery is a request being answered. It ends when the response has been written, which on connections of package
// wire is after the handler has returned.
type delivery struct {
	handler *Handler
	request *http.Request
	start   time.Time
	event   Event
	rep     *representation // that the response is sent from, or nil
	wire    wire.Response
}

// deliveries recycles deliveries to avoid an allocation per request.
var deliveries = sync.Pool{New: func() any { return new(delivery) }}

// Written implements [wire.Observer].
func (d *delivery) Written(body int, err error) {
	h := d.handler
	if d.rep != nil {
		h.manifests.release(d.rep)
	}
	if h.observe != nil {
		d.event.Bytes = body
		d.event.Duration = time.Since(d.start)
		if d.event.Err == nil {
			d.event.Err = err
		}
		h.observe(d.request, d.event)
	}
	*d = delivery{}
	deliveries.Put(d)
}

// send writes a response, with a single system call if the connection supports it.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, res *response, d *delivery) {
	d.event.Status = res.status
	isHead := r.Method == http.MethodHead
	if conn := wire.Of(w, r); conn != nil {
		d.wire = wire.Response{Status: res.status, Header: res.head.lines, Body: res.body, Observer: d}
		if isHead {
			d.wire.Body = nil
		}
		conn.Announce(&d.wire)
		w.WriteHeader(res.status)
		return
	}
	n, err := res.write(w, r)
	if err == nil && h.observe != nil { // part of it may still be buffered, and therefore not written
		err = http.NewResponseController(w).Flush()
		// A response that an outer handler buffers cannot be tracked any further. One to HEAD ends with its header:
		// over HTTP/2 the stream is already closed then, and Flush reports an error.
		if errors.Is(err, http.ErrNotSupported) || isHead && r.ProtoMajor == 2 {
			err = nil
		}
	}
	d.Written(n, err)
}
