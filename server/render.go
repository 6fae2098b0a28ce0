package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"runtime"
	"slices"
)

// hashBytes is how much of a SHA-256 makes an ETag.
const hashBytes = 16

// representation is a manifest as it is sent: resolved for a host, and compressed or not.
type representation struct {
	hash              string // of the plain body
	full, notModified response
}

// renderer makes representations, as many at a time as there are cores: more would take memory and no less time.
type renderer struct {
	head  head // of every representation
	slots chan *gzip.Writer
}

func newRenderer(head head) *renderer {
	r := &renderer{head: head, slots: make(chan *gzip.Writer, runtime.GOMAXPROCS(0))}
	for range cap(r.slots) {
		r.slots <- gzip.NewWriter(nil) // which takes most of a megabyte once it is used
	}
	return r
}

// render makes the representation of a key, once there is a free slot. If ctx ends before, it returns errBusy.
func (r *renderer) render(ctx context.Context, k key) (*representation, error) {
	var writer *gzip.Writer
	select {
	case writer = <-r.slots: // even if ctx has ended
	default:
		select {
		case writer = <-r.slots:
		case <-ctx.Done():
			return nil, errBusy
		}
	}
	defer func() { r.slots <- writer }()

	body, err := k.route.template.Render(k.host)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	rep := &representation{hash: hex.EncodeToString(sum[:hashBytes])}
	tag, fields := rep.hash, []field{jsonType}
	if k.gzip {
		tag += gzipTagSuffix
		body = compress(writer, body)
		fields = append(fields, gzipCoding)
	}
	head := r.head.with(slices.Concat([]field{newField("Etag", `"`+tag+`"`)}, k.route.fields)...)
	rep.notModified = response{status: http.StatusNotModified, head: head}
	rep.full = response{http.StatusOK, head.with(append(fields, lengthOf(body))...), body}
	return rep, nil
}

func compress(writer *gzip.Writer, body []byte) []byte {
	var out bytes.Buffer
	writer.Reset(&out)
	writer.Write(body) // a Buffer takes everything
	writer.Close()
	return bytes.Clone(out.Bytes()) // without the room to grow
}
