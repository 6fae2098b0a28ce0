package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"signpost"
	"signpost/contextkeys"
)

// Call is what an app knows when it calls an endpoint.
type Call struct {
	// Feed is the URL of the feed, which must be on the endpoint's own scheme and authority and have no
	// placeholders left. Empty means the endpoint's URL with its placeholders filled in from Params.
	Feed string

	Params    map[string]string // by the name of the placeholder
	Modifiers map[string]string // what editors chose, by the key of the param; empty means not chosen
	Context   map[string]any    // by context key
}

// Defaults returns the values that the studio fills in beforehand, by the key of the param.
func Defaults(e signpost.Endpoint) map[string]string {
	values := make(map[string]string)
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			switch value := p.Schema.Default.(type) {
			case nil:
			case string:
				values[p.Key] = value
			default:
				if text, err := json.Marshal(value); err == nil { // as the manifest has it: 1000000, not 1e+06
					values[p.Key] = string(text)
				}
			}
		}
	}
	return values
}

// NewRequest returns the request that an app sends to an endpoint of a resolved manifest: placeholders filled
// in, modifiers appended to the query, context keys in ctx and in the body under the names of their mappers.
// A required key that is missing is an error that names it, and so is a value that its control cannot have.
// No error quotes the value of a context key.
func NewRequest(ctx context.Context, e signpost.Endpoint, call Call) (*http.Request, error) {
	if strings.Contains(e.URL, signpost.HostPlaceholder) {
		return nil, fmt.Errorf("endpoint %q has {{host}} in it: resolve the manifest first", e.URL)
	}
	if e.Method != signpost.MethodGet && e.Method != signpost.MethodPost {
		return nil, fmt.Errorf(`endpoint %q has method %q, which is not "get" or "post"`, e.URL, e.Method)
	}
	target, err := feedURL(e, call)
	if err != nil {
		return nil, err
	}
	query, err := modifierQuery(e, call.Modifiers)
	if err != nil {
		return nil, err
	}
	if err := checkContext(e, call.Context); err != nil {
		return nil, err
	}
	encoded, err := contextkeys.Encode(e.ContextObj, call.Context)
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
	}
	if encoded != "" {
		query = append(query, "ctx="+encoded)
	}
	var body io.Reader
	contentType := ""
	if e.Method == signpost.MethodPost {
		var encodedBody []byte
		if encodedBody, contentType, err = contextkeys.EncodeBody(e.ContextObj, call.Context, e.MIMEType); err != nil {
			return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
		}
		body = bytes.NewReader(encodedBody)
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(e.Method), appendQuery(target, query), body)
	if err != nil {
		return nil, fmt.Errorf("build request to endpoint %q: %w", e.URL, withoutURL(err))
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", e.MIMEType+", */*;q=0.1")
	return req, nil
}

// feedURL returns what a call asks for, before anything is appended to it.
func feedURL(e signpost.Endpoint, call Call) (string, error) {
	endpoint, feed := signpost.CutURL(e.URL), signpost.CutURL(call.Feed)
	switch {
	case call.Feed == "":
		bound, err := endpoint.Bind(call.Params)
		return bound.String(), err
	case len(feed.Placeholders()) > 0 || strings.Contains(call.Feed, signpost.HostPlaceholder):
		return "", fmt.Errorf("feed %q has placeholders left in it: fill them in", call.Feed)
	case !feed.SameOrigin(endpoint):
		return "", fmt.Errorf("feed %q is not on the host of endpoint %q: it gets no context of it", call.Feed, e.URL)
	}
	return call.Feed, nil
}

// modifierQuery returns key=value for each modifier that has a value, in the order of the manifest.
func modifierQuery(e signpost.Endpoint, values map[string]string) ([]string, error) {
	var query, known []string
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			known = append(known, p.Key)
			value := values[p.Key]
			if value == "" {
				continue
			}
			if err := checkValue(p, value); err != nil {
				return nil, err
			}
			query = append(query, escape(p.Key)+"="+escape(value))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("endpoint %q has no modifier with the key %q", e.URL, key)
		}
	}
	return query, nil
}

// checkValue reports a value that the control of a param cannot have.
func checkValue(p signpost.Param, value string) error {
	switch p.Schema.Type {
	case signpost.TypeNumber:
		if _, err := strconv.ParseFloat(value, 64); err != nil || !json.Valid([]byte(value)) {
			return fmt.Errorf("modifier %q takes a number, not %q", p.Key, value)
		}
	case signpost.TypeBoolean:
		if value != "true" && value != "false" {
			return fmt.Errorf("modifier %q takes true or false, not %q", p.Key, value)
		}
	}
	choices := slices.Clone(p.Schema.Enum)
	if len(choices) == 0 {
		for _, o := range p.UI.Options {
			choices = append(choices, o.Value)
		}
	}
	if len(choices) > 0 && !slices.Contains(choices, value) {
		return fmt.Errorf("modifier %q takes one of %q, not %q", p.Key, choices, value)
	}
	return nil
}

// checkContext reports a value for a key that the endpoint does not declare, and a key that cannot be sent.
func checkContext(e signpost.Endpoint, values map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(e.ContextObj, func(c signpost.ContextItem) bool { return c.Key == key }) {
			return fmt.Errorf("endpoint %q does not declare the context key %q", e.URL, key)
		}
	}
	for _, item := range e.ContextObj {
		inBody := item.Type == signpost.ContextBodyParam && e.Method != signpost.MethodPost
		if inBody && (item.Required || values[item.Key] != nil) {
			return fmt.Errorf("endpoint %q: context key %q goes into the body, and a %s request has none", e.URL, item.Key, e.Method)
		}
	}
	return nil
}

// escape escapes a query component with %20 for a space, which every server reads alike.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// appendQuery adds to the query of a URL, keeping what it has.
func appendQuery(target string, query []string) string {
	if len(query) == 0 {
		return target
	}
	target, fragment, hasFragment := strings.Cut(target, "#")
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
		if strings.HasSuffix(target, "?") || strings.HasSuffix(target, "&") {
			separator = ""
		}
	}
	target += separator + strings.Join(query, "&")
	if hasFragment {
		target += "#" + fragment
	}
	return target
}

// Answer is what an endpoint answered.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	Truncated bool   // there is more than MaxAnswer
	Redirect  string // where it redirects to, which was not followed; services repeat the query in it, ctx and all
}

// MaxAnswer bounds what is read of an answer: enough to see what it is.
const MaxAnswer = 1 << 20

// Send sends a request and reads the answer, bounded in time and size. It follows no redirect: another host
// must not get the context keys.
func Send(req *http.Request, opts Options) (*Answer, error) {
	res, body, err := exchange(req, opts, MaxAnswer)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	answer := &Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	if len(body) > MaxAnswer {
		answer.Body, answer.Truncated = body[:MaxAnswer], true
	}
	if target, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
		answer.Redirect = target.String()
	}
	return answer, nil
}

// exchange sends a request and reads the answer, up to one byte more than limit. If there is an answer but not
// all of it can be read, both it and the error are returned.
func exchange(req *http.Request, opts Options, limit int64) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(req.Context(), cmp.Or(opts.Timeout, DefaultTimeout))
	defer cancel()
	res, err := opts.client().Do(req.WithContext(ctx))
	if err != nil {
		return nil, nil, withoutURL(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil {
		err = ctx.Err() // a server that sees the connection end may end its answer properly, but not with all of it
	}
	return res, body, err
}

// withoutURL leaves the URL out of an error, since context keys are in it.
func withoutURL(err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		return withURL.Err
	}
	return err
}
