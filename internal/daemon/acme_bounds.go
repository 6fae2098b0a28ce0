package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Limits on what an ACME server can make this one do. It is trusted, but it may be broken, and whatever is in between may
// be hostile.
const (
	// maxACMEResponse is many times the largest response, a certificate chain.
	maxACMEResponse = 1 << 20

	// maxACMERequest is how long one request may take, including its response.
	maxACMERequest = 30 * time.Second

	// maxACMERetry is the longest Retry-After that is honoured. A certificate takes seconds.
	maxACMERetry = time.Minute

	// handshakeWait is how long a handshake waits for the first certificate of a domain. After that the client has to
	// retry, so that its connection does not take up the place of another.
	handshakeWait = 5 * time.Second

	// startWait is longer than one attempt of autocert, which takes at most five minutes.
	startWait = 6 * time.Minute
)

// errNoCertificateYet ends a handshake for a domain that has no certificate yet.
var errNoCertificateYet = errors.New("the certificate has not been issued yet")

// boundedTransport limits the time and the size of responses.
type boundedTransport struct{ http.RoundTripper }

func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), maxACMERequest, fmt.Errorf("no response within %v", maxACMERequest))
	res, err := b.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxACMEResponse, cancel: cancel}
	if after := res.Header.Get("Retry-After"); after != "" {
		res.Header.Set("Retry-After", boundedRetry(after, time.Now()))
	}
	return res, nil
}

// boundedRetry returns a value of Retry-After, in seconds or as a date, of maxACMERetry at most.
func boundedRetry(value string, now time.Time) string {
	wait := maxACMERetry
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = min(wait, time.Duration(seconds)*time.Second)
	} else if date, err := http.ParseTime(value); err == nil {
		wait = min(wait, max(0, date.Sub(now)))
	}
	return strconv.Itoa(int(wait.Seconds()))
}

// boundedBody is a body that fails once it exceeds its limit.
type boundedBody struct {
	io.ReadCloser
	left   int
	cancel context.CancelFunc
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("response is larger than %d bytes", maxACMEResponse)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
