package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"sync/atomic"
)

// hashBytes is the number of bytes of a SHA-256 hash in an ETag.
const hashBytes = 16

// representation is a manifest as it is sent: resolved for a host, and optionally compressed.
type representation struct {
	host, tag         string
	full, notModified *response

	size  int64        // in memory
	users atomic.Int32 // the cache and responses being sent
}

// use adds a user, unless there is none any more.
func (r *representation) use() bool {
	for {
		n := r.users.Load()
		if n == 0 || r.users.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

// render makes the representation of a route. At most one per core is rendered at a time: more would take more memory
// without being faster.
func (m *manifests) render(route *route, k key) (*representation, error) {
	writer := <-m.writers
	defer func() { m.writers <- writer }()

	body, err := route.template.Render(k.host)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	rep := &representation{host: k.host, tag: hex.EncodeToString(sum[:hashBytes])}
	fields := []field{jsonType}
	if k.gzip {
		rep.tag += "-gzip"
		body = compress(writer, body)
		fields = append(fields, gzipCoding)
	}
	head := m.head.with(slices.Concat([]field{newField("Etag", `"`+rep.tag+`"`)}, route.fields)...)
	rep.notModified = &response{status: http.StatusNotModified, head: head}
	rep.full = newResponse(http.StatusOK, head, body, fields...)
	return rep, nil
}

func compress(writer *gzip.Writer, body []byte) []byte {
	var out bytes.Buffer
	writer.Reset(&out)
	writer.Write(body) // writing to a Buffer cannot fail
	writer.Close()
	return bytes.Clone(out.Bytes()) // without spare capacity
}
