package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"signpost/internal/httpurl"
)

// Answer is the response to a request, including its body.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	Truncated bool   // the body is longer than MaxAnswer
	Redirect  string // target of a redirect, which was not followed; services may repeat the query in it, including ctx

	asked      *url.URL     // wherever SendTo sent the request
	compressed bool         // the body was, on its way
	signpost   *problemBody // what Signpost says, if it wrote this error
	tls        *tls.ConnectionState
}

// MaxAnswer limits how much of a response body [Send] reads: enough to see what it is.
const MaxAnswer = 1 << 20

// Send sends a request and reads the response, limited in time and size. It does not follow redirects, because context
// keys must not reach another host. [Explain] explains its error, which contains no part of the URL. If the response is
// cut off, Send returns both what it has read and the error.
func Send(req *http.Request, opts Options) (*Answer, error) {
	answer, err := exchange(req, opts, MaxAnswer)
	if err != nil {
		err = fmt.Errorf("send request: %w", err)
	}
	return answer, err
}

// exchange sends a request and reads up to limit bytes of the body. If the response is incomplete, it returns both what
// it has read and the error, which is a *requestError.
func exchange(req *http.Request, opts Options, limit int) (*Answer, error) {
	timeout := cmp.Or(opts.Timeout, DefaultTimeout)
	limit = cmp.Or(opts.limit, limit)
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()
	req = req.Clone(ctx)
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", acceptEncoding)
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: opts.Transport, CheckRedirect: noRedirect}
	res, err := client.Do(req)
	if err != nil {
		return nil, &requestError{err: httpurl.WithoutURL(err), timeout: timeout}
	}
	defer res.Body.Close()
	sent, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	if err == nil {
		err = ctx.Err() // a server that notices the cancellation may end its response properly, but early
	}
	body, compressed, undecoded := decode(res.Header, sent, limit)
	answer := &Answer{Status: res.StatusCode, Header: res.Header, Body: body, asked: httpurl.Requested(req),
		compressed: compressed, signpost: signpostProblem(res.StatusCode, body), tls: res.TLS}
	answer.Truncated = max(len(sent), len(body)) > limit
	if answer.Truncated {
		answer.Body = body[:min(limit, len(body))]
	}
	if compressed && undecoded == nil { // these describe what was sent
		answer.Header.Del("Content-Encoding")
		answer.Header.Del("Content-Length")
	}
	if location := res.Header.Get("Location"); location != "" && res.StatusCode/100 == 3 {
		if target, err := answer.asked.Parse(location); err == nil {
			answer.Redirect = target.String()
		}
	}
	if err == nil && len(sent) <= limit {
		err = undecoded
	}
	if err != nil {
		return answer, &requestError{err: err, timeout: timeout, begun: true}
	}
	return answer, nil
}

// requestError is the reason why there is no complete response.
type requestError struct {
	err     error
	timeout time.Duration // limit of the request
	begun   bool          // part of the response was read
}

func (e *requestError) Error() string { return e.err.Error() }
func (e *requestError) Unwrap() error { return e.err }
