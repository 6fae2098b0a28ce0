package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"signpost"
	"signpost/contextkeys"
	"signpost/internal/httpurl"
)

// Call holds what an app knows when it calls an endpoint.
type Call struct {
	// Feed is the URL of the feed. It must have the endpoint's scheme and authority, and no placeholders. If it is
	// empty, the endpoint's URL is used, with its placeholders filled in from Params.
	Feed string

	Params    map[string]string // by the name of the placeholder
	Modifiers map[string]string // chosen by editors, by the key of the param; empty means not chosen
	Context   map[string]any    // by context key
}

// NewRequest returns the request that an app sends to an endpoint of a resolved manifest: placeholders filled in,
// modifiers in the query, and context keys in ctx, the body and headers under the names of their mappers. Keys of a
// type that Signpost does not know are left out. A query parameter that the feed already has is replaced. Context
// values that the endpoint does not declare are ignored.
//
// It returns an error if a required key is missing, or if a value is not possible in its control. No error quotes the
// value of a context key.
func NewRequest(ctx context.Context, e signpost.Endpoint, call Call) (*http.Request, error) {
	if strings.Contains(e.URL, signpost.HostPlaceholder) {
		return nil, fmt.Errorf("endpoint %q still contains {{host}}: resolve the manifest first", e.URL)
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
	encoded, ctxErr := contextkeys.Encode(e.ContextObj, call.Context)
	header, headerErr := contextkeys.EncodeHeader(e.ContextObj, call.Context)
	body, contentType, bodyErr := encodeBody(e, call.Context)
	if err := cmp.Or(ctxErr, headerErr, bodyErr); err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", e.URL, err)
	}
	if encoded != "" {
		query = append(query, parameter{signpost.ContextCtx, encoded})
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(e.Method), setQuery(target, query), body)
	if err != nil {
		return nil, fmt.Errorf("build request to endpoint %q: %w", e.URL, httpurl.WithoutURL(err))
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", accept(e))
	maps.Copy(req.Header, header)
	return req, nil
}

// encodeBody returns the body for an endpoint and its Content-Type. A get request has none, and cannot carry the items
// that belong there.
func encodeBody(e signpost.Endpoint, values map[string]any) (body io.Reader, contentType string, err error) {
	if e.Method == signpost.MethodPost {
		encoded, contentType, err := contextkeys.EncodeBody(e.ContextObj, values, e.MIMEType)
		return bytes.NewReader(encoded), contentType, err
	}
	for _, item := range e.ContextObj {
		if item.Type == signpost.ContextBodyParam && (item.Required || values[item.Key] != nil) {
			return nil, "", fmt.Errorf("context key %q belongs in the body, but a get request has none", item.Key)
		}
	}
	return nil, "", nil
}

// accept returns the Accept header for an endpoint. On a post endpoint the form type describes the request, so no
// response has it.
func accept(e signpost.Endpoint) string {
	if media := mediaType(e.MIMEType); media == signpost.MIMEForm || !strings.Contains(media, "/") {
		return "*/*"
	}
	return e.MIMEType + ", */*;q=0.1"
}

// feedURL returns the URL of a call, before its query is set.
func feedURL(e signpost.Endpoint, call Call) (string, error) {
	endpoint, feed := signpost.CutURL(e.URL), signpost.CutURL(call.Feed)
	switch {
	case call.Feed == "":
		bound, err := endpoint.Bind(call.Params)
		return bound.String(), err
	case len(feed.Placeholders()) > 0 || strings.Contains(call.Feed, signpost.HostPlaceholder):
		return "", fmt.Errorf("feed %q still has placeholders: fill them in", call.Feed)
	case !feed.SameOrigin(endpoint):
		return "", fmt.Errorf("feed %q is not on the host of endpoint %q, so it gets no context keys of it",
			call.Feed, e.URL)
	}
	return call.Feed, nil
}

type parameter struct{ key, value string }

// modifierQuery returns a parameter for each modifier that has a value, in manifest order.
func modifierQuery(e signpost.Endpoint, values map[string]string) ([]parameter, error) {
	var query []parameter
	var known []string
	for _, m := range e.Modifiers {
		for _, p := range m.Params {
			known = append(known, p.Key)
			value := values[p.Key]
			if err := CheckValue(p, value); err != nil {
				return nil, err
			}
			if value != "" {
				query = append(query, parameter{p.Key, value})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("endpoint %q has no modifier with the key %q", e.URL, key)
		}
	}
	return query, nil
}

// escape escapes a query component. A space becomes %20, which all servers decode alike.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// setQuery sets parameters in the query of a URL: it replaces the first one with the same key and removes the others,
// or appends. The rest of the query is left as it is.
func setQuery(target string, query []parameter) string {
	if len(query) == 0 {
		return target
	}
	target, fragment, hasFragment := strings.Cut(target, "#")
	target, existing, _ := strings.Cut(target, "?")
	pairs := strings.Split(existing, "&")
	for _, p := range query {
		set := escape(p.key) + "=" + escape(p.value)
		for i, pair := range pairs {
			name, _, _ := strings.Cut(pair, "=")
			if key, err := url.QueryUnescape(name); err == nil && key == p.key && pair != "" {
				pairs[i], set = set, ""
			}
		}
		pairs = append(pairs, set)
	}
	pairs = slices.DeleteFunc(pairs, func(pair string) bool { return pair == "" })
	target += "?" + strings.Join(pairs, "&")
	if hasFragment {
		target += "#" + fragment
	}
	return target
}
