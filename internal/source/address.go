package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"

	"signpost/client"
	"signpost/definition"
	"signpost/host"
	"signpost/internal/httpurl"
	"signpost/internal/readfile"
)

// addressTimeout limits one attempt, so that a server that hangs counts as down. A definition is one small file.
const addressTimeout = 15 * time.Second

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

// safeRedirect follows a few redirects on the same host, and none from https to plain http. Whoever controls the host
// that was named decides where apps send access tokens, and nobody else should. If the address has a query, which may
// be a token, another port counts as another host. The address is not passed on as the referrer.
func safeRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if req.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
		return errors.New("redirected from https to http")
	}
	from := via[0].URL
	if !host.Equal(req.URL.Host, from.Host) || from.RawQuery != "" && req.URL.Port() != from.Port() {
		return fmt.Errorf("redirected to another host, %q: use its address if that is right", req.URL.Host)
	}
	req.Header.Del("Referer")
	return nil
}

// fetchAddress fetches the definition at an http or https URL. Its version is its ETag. A response that may have been
// cut off counts only if a second one is the same.
func (r *Reader) fetchAddress(address string) fetchFunc {
	sender := &http.Client{Transport: r.Transport, Timeout: addressTimeout, CheckRedirect: safeRedirect}
	return func(ctx context.Context, before state) (state, error) {
		now, unended, err := r.getAddress(ctx, sender, address, before)
		if err != nil || !unended || slices.EqualFunc(now.documents, before.documents, sameDocument) {
			return now, err
		}
		again, _, err := r.getAddress(ctx, sender, address, before)
		if err == nil && !slices.EqualFunc(now.documents, again.documents, sameDocument) {
			err = errors.New("the response has no length, and a second one is different: one of them was cut off; " +
				"let the server send Content-Length")
		}
		if err != nil {
			return state{}, err
		}
		return again, nil
	}
}

// getAddress sends one request. unended reports whether the end of the connection was the end of the response, so that
// nobody can tell whether all of it has arrived.
func (r *Reader) getAddress(
	ctx context.Context, sender *http.Client, address string, before state,
) (now state, unended bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return state{}, false, err
	}
	if before.version != "" {
		req.Header.Set("If-None-Match", before.version)
	}
	req.Header.Set("User-Agent", cmp.Or(r.UserAgent, "signpost"))
	res, err := sender.Do(req)
	if err != nil {
		return state{}, false, explain(err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified && before.version != "":
		return before, false, nil
	case res.StatusCode != http.StatusOK:
		return state{}, false, explain(&client.StatusError{Status: res.StatusCode})
	}
	text, err := readfile.All(res.Body, definition.MaxSize)
	switch {
	case errors.Is(err, readfile.ErrTooLarge):
		return state{}, false, fmt.Errorf("the response is larger than %d MiB", definition.MaxSize>>20)
	case err != nil:
		return state{}, false, explain(err)
	}
	unended = res.ProtoMajor == 1 && res.ContentLength < 0 && len(res.TransferEncoding) == 0 && !res.Uncompressed
	document := Document{Name: Shown(address), Text: text, Sum: digest.FromBytes(text)}
	return state{[]Document{document}, res.Header.Get("ETag")}, unended, nil
}

// explain says what a failed request means to whoever operates the server. It leaves out the address: whoever reports
// the error names it, without its password.
func explain(err error) error {
	problem := client.Explain(httpurl.WithoutURL(err))
	if problem.Cause == "unknown-authority" {
		return fmt.Errorf("%s: --ca-file adds the authority that signed it", problem.Message)
	}
	return errors.New(problem.Message)
}
