package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// acceptEncoding is what requests accept, as those of every browser and app do. The transport is not left to decode it:
// it would hide the mistakes that break other clients.
const acceptEncoding = "gzip"

// encodingError says that clients cannot decode a response.
type encodingError struct{ message, hint string }

func (e *encodingError) Error() string { return e.message }

// decode undoes the Content-Encoding of a body, up to limit bytes and one more, and reports whether there was one.
func decode(header http.Header, body []byte, limit int) (decoded []byte, compressed bool, err error) {
	const together = "make it pass on header and body as they are, or compress by itself"
	isNone := func(coding string) bool { return coding == "" || coding == "identity" }
	codings := slices.DeleteFunc(listed(header, "Content-Encoding"), isNone)
	isZipped := func(b []byte) bool { return bytes.HasPrefix(b, []byte("\x1f\x8b")) }
	declaredJSON := isJSON(mediaType(header.Get("Content-Type")))
	switch {
	case len(codings) == 0 && isZipped(body) && declaredJSON:
		return body, true, &encodingError{"the body is compressed with gzip, but the header Content-Encoding is missing",
			"a proxy in front of the service dropped the header: " + together}
	case len(codings) == 0 || len(body) == 0:
		return body, false, nil
	case len(codings) > 1:
		return body, true, &encodingError{
			fmt.Sprintf("Content-Encoding has more than one value, %q, so clients decode the body more than once",
				strings.Join(codings, ", ")),
			"set the header where the body is compressed and nowhere else: nginx's add_header adds a second one"}
	case codings[0] != "gzip" && codings[0] != "x-gzip":
		return body, true, &encodingError{
			fmt.Sprintf("Content-Encoding is %q, which the request did not accept", codings[0]),
			"compress only with an encoding that Accept-Encoding of the request names; this one named " + acceptEncoding}
	case !isZipped(body):
		return body, true, &encodingError{"Content-Encoding is gzip, but the body is not compressed",
			"a proxy in front of the service added the header, or decompressed the body: " + together}
	}
	zip, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		decoded, err = io.ReadAll(io.LimitReader(zip, int64(limit)+1))
	}
	switch {
	case err != nil:
		err = fmt.Errorf("decompress the response: %w", err)
	case isZipped(decoded) && declaredJSON:
		err = &encodingError{"the body is compressed with gzip twice, and clients decompress it once",
			"let either the service or the proxy in front of it compress, not both"}
	}
	return decoded, true, err
}

// compareEncodings reports a manifest that is not the same with and without compression: caches mix the two if they
// ignore Vary. If neither is compressed, a cache may have answered, so a second address that no cache knows decides.
func (c *checker) compareEncodings(ctx context.Context) {
	zipped := c.answer
	plain, err := c.get(ctx, c.address, "Accept-Encoding", "identity")
	if err == nil && !zipped.compressed && !plain.compressed {
		fresh := c.fresh()
		again, againErr := c.get(ctx, fresh, "Accept-Encoding", acceptEncoding)
		if againErr == nil && again.Status == http.StatusOK && again.compressed {
			zipped = again
			plain, err = c.get(ctx, fresh, "Accept-Encoding", "identity")
		}
	}
	const (
		ignoresVary = "a cache or proxy in front of the service ignores Vary: Accept-Encoding, " +
			"and stores one response for all clients: make it obey Vary, as nginx does without proxy_ignore_headers Vary; " +
			"or the service compresses for clients that do not accept it"
		mixes = "a cache in front of the service mixes responses, or still has an older one: " +
			"make it obey Vary: Accept-Encoding, and the host a part of its keys " +
			"(nginx: proxy_cache_key $scheme$host$uri); " +
			"after a change, check again when it has the new one, and all replicas do"
	)
	switch {
	case err != nil:
		c.addProblem("without compression: ", Explain(err))
	case plain.Status != http.StatusOK:
		c.add(Failed, statusHint(plain.Status, "answer requests that accept no compression like any other"),
			"without compression, the response is %s", statusText(plain.Status))
	case plain.compressed:
		c.add(Failed, ignoresVary, "a request that accepts no compression gets gzip")
	case !bytes.Equal(plain.Body, zipped.Body):
		c.add(Failed, mixes, "the manifest is another one with gzip than without: %d and %d bytes",
			len(zipped.Body), len(plain.Body))
	}
}

// uncached returns the response to a request that no cache knows. It is empty if there is none.
func (c *checker) uncached(ctx context.Context) *Answer {
	answer, err := c.get(ctx, c.fresh(), "", "")
	if err != nil {
		return new(Answer)
	}
	return answer
}

// fresh returns the address with a query that no cache knows. Services ignore it.
func (c *checker) fresh() *url.URL {
	u := *c.address
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&signpost-check="+rand.Text(), "&")
	return &u
}
