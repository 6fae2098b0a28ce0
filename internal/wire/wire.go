// Package wire answers plain HTTP/1 requests without the machinery of net/http.
//
// For each request, net/http sets deadlines, watches for a client that disconnects, and copies, sorts and buffers the
// header of the response: more than half of the time that a prepared response takes (go run ./bench compare). Few
// requests need that. A [Listener] with [Listener.Answer] reads a connection itself, lets the handler answer one plain
// request after another, and sends each response with one system call. As soon as anything else arrives, it hands the
// connection over to net/http, together with what it has read.
//
// A request is plain if it arrives alone and complete, is GET or HEAD over HTTP/1.1 without a body, and asks nothing of
// the connection. It is parsed by [http.ReadRequest], so it means here what it means to net/http.
package wire

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"sync"
)

// maxPlain is the maximum size of a plain request. Those of browsers and proxies have a few hundred bytes.
const maxPlain = 4 << 10

// readers recycles the buffers in which requests are parsed.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, maxPlain) }}

// plainRequest returns the request that data consists of, or nil if it is not a plain one.
func plainRequest(data []byte) *http.Request {
	if !bytes.HasSuffix(data, []byte("\r\n\r\n")) {
		return nil
	}
	in := readers.Get().(*bufio.Reader)
	defer readers.Put(in)
	in.Reset(bytes.NewReader(data))
	r, err := http.ReadRequest(in)
	if err != nil || in.Buffered() > 0 {
		return nil
	}
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !isRead || r.Proto != "HTTP/1.1" || r.RequestURI[0] != '/' || r.Body != http.NoBody {
		return nil
	}
	if r.Host == "" || strings.ContainsFunc(r.Host, isUnusualInHost) {
		return nil
	}
	connection := r.Header["Connection"]
	keepsAlive := len(connection) == 1 && strings.EqualFold(connection[0], "keep-alive")
	if connection != nil && !keepsAlive || r.Header["Expect"] != nil {
		return nil
	}
	for name := range r.Header {
		if strings.Contains(name, " ") { // which net/http rejects
			return nil
		}
	}
	return r
}

// isUnusualInHost reports whether the server of net/http may reject a Host header because of a character.
func isUnusualInHost(c rune) bool {
	isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return !isLetter && !('0' <= c && c <= '9') && !strings.ContainsRune("-.:[]_", c)
}
