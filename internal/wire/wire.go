// Package wire writes precomputed HTTP/1 responses with a single system call.
//
// net/http copies the header of a response from one map into another, sorts it, and writes the head separately from a
// body of more than 4 kB. For a manifest that is about 7 of 26 µs per request (go run ./bench compare). Instead, a
// handler that finds its connection with [Of] announces the complete response to it and writes only the status to
// net/http. When net/http then writes the head of what it considers an empty response, the connection completes that
// head and sends everything at once. The status line, Date and Connection come from net/http, as do all decisions about
// keeping the connection alive.
//
// The package relies on how net/http writes a head. [Prove] checks that at start. After that it fails closed: bytes
// that are not exactly the head of the announced response are not sent, and the connection is closed.
package wire

import (
	"context"
	"net"
	"net/http"
)

type connKey struct{}

// Context is for [http.Server.ConnContext]: it makes a connection known to [Of]. TLS connections are left to net/http,
// since responses are split into records there anyway.
func Context(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Of returns the connection to which the response to r can be announced. It returns nil if the response must be written
// to w as usual: the connection is not from this package, the request came over HTTP/2, or headers have been set.
func Of(w http.ResponseWriter, r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	if c == nil || r.ProtoMajor != 1 || len(w.Header()) > 0 {
		return nil
	}
	return c
}
