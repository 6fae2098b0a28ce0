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

// newResponse returns a response with a body, whose length it adds to the head.
func newResponse(status int, head head, body []byte) *response {
	return &response{status, head.with(lengthOf(body)), body}
}

func lengthOf(body []byte) field { return newField("Content-Length", strconv.Itoa(len(body))) }

// delivery is a request that is being answered. It ends when the response was written, which on connections of
// package wire is after the handler has returned.
type delivery struct {
	handler *Handler
	request *http.Request
	start   time.Time
	event   Event
}

// deliveries keeps deliveries that have ended, so that a request does not allocate one.
var deliveries = sync.Pool{New: func() any { return new(delivery) }}

// Written implements [wire.Observer].
func (d *delivery) Written(body int, err error) {
	d.event.Bytes = body
	d.event.Duration = time.Since(d.start)
	if d.event.Err == nil {
		d.event.Err = err
	}
	d.handler.observe(d.request, d.event)
	*d = delivery{}
	deliveries.Put(d)
}

// announcer is a connection that sends a prepared response.
type announcer interface {
	Announce(wire.Response, wire.Observer)
}

// connOf returns the connection to which a response can be announced, or nil.
func connOf(w http.ResponseWriter, r *http.Request) announcer {
	if conn := wire.Of(w, r); conn != nil {
		return conn
	}
	return nil
}

// send writes a response, with one system call where the connection can do that. A nil delivery is not observed.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, res *response, d *delivery) {
	isHead := r.Method == http.MethodHead
	body := res.body
	if isHead {
		body = nil
	}
	if conn := h.conn(w, r); conn != nil {
		prepared := wire.Response{Status: res.status, Header: res.head.lines, Body: body, Head: isHead}
		if d != nil {
			conn.Announce(prepared, d)
		} else {
			conn.Announce(prepared, nil)
		}
		w.WriteHeader(res.status)
		return
	}
	res.head.addTo(w.Header())
	w.WriteHeader(res.status)
	n, err := 0, error(nil)
	if len(body) > 0 {
		n, err = w.Write(body)
	}
	if d == nil {
		return
	}
	if err == nil { // part of it may be in a buffer still, and then it is not written
		err = http.NewResponseController(w).Flush()
	}
	switch {
	case errors.Is(err, http.ErrNotSupported):
		err = nil // a handler around this one holds the response back: this is as far as it can be followed
	case isHead && r.ProtoMajor == 2:
		err = nil // the header is all of the response, so the stream is closed now, which Flush takes for an error
	}
	d.Written(n, err)
}
