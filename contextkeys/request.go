package contextkeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"signpost"
)

// MaxBody is the maximum length of a body in bytes. Body parameters are small; the rest leaves room for other data
// meant for the handler.
const MaxBody = 1 << 20

// FromRequest reads the context keys of a request and checks that the required ones have a value.
//
// Some clients send the strings "undefined" and "null", or an empty string, when they have no value. For a required key
// these count as missing, and so does null. Undeclared keys may hold anything.
//
// Keys of the types header and bearerHeader, which the specification does not know, are read from the headers; no other
// header is. The body is read only if an item is of type bodyParam, as a form or as a JSON object according to the
// Content-Type. It can be read again afterwards, even after an error.
//
// The error is a [*MissingError] or a [*MalformedError].
func FromRequest(r *http.Request, items []signpost.ContextItem) (Values, error) {
	ctx, err := ctxParameter(r.URL.RawQuery)
	if err != nil {
		return Values{}, err
	}
	inCtx, err := decodeCtx(ctx, sentIn(signpost.ContextCtx, items))
	if err != nil {
		return Values{}, err
	}
	inBody, err := bodyParameters(r, items)
	if err != nil {
		return Values{}, err
	}
	inHeader, err := headerParameters(r.Header, items)
	if err != nil {
		return Values{}, err
	}
	v := Values{slices.Clone(items), map[string]map[string]any{
		signpost.ContextCtx: inCtx, signpost.ContextBodyParam: inBody,
		signpost.ContextHeader: inHeader, signpost.ContextBearerHeader: inHeader,
	}}
	for _, item := range items {
		value, sent := v.sent(item)
		if !item.Required || !noValue(value) {
			continue
		}
		missing := &MissingError{Item: item}
		if sent {
			raw, _ := json.Marshal(value) // null or a short string
			missing.Sent = string(raw)
		}
		return Values{}, missing
	}
	return v, nil
}

// ctxParameter finds the ctx parameter and leaves it escaped. url.ParseQuery would drop a badly escaped one, and its
// keys would seem to be missing.
func ctxParameter(query string) (ctx string, err error) {
	found := 0
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && name == signpost.ContextCtx {
			ctx, found = value, found+1
		}
	}
	if found > 1 {
		return "", bad(signpost.ContextCtx, "", "occurs %d times", found)
	}
	return ctx, nil
}

// sentIn returns the names under which items are sent in one part of a request.
func sentIn(kind string, items []signpost.ContextItem) map[string]bool {
	names := make(map[string]bool)
	for _, item := range items {
		if item.Type == kind {
			names[item.SentAs()] = true
		}
	}
	return names
}

// bodyParameters reads the fields of the body if any item is sent there.
func bodyParameters(r *http.Request, items []signpost.ContextItem) (map[string]any, error) {
	declared := sentIn(signpost.ContextBodyParam, items)
	if len(declared) == 0 {
		return nil, nil
	}
	data, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return formParameters(r.PostForm, declared) // the form was already parsed
	}
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case media == signpost.MIMEForm:
		form, err := parseForm(string(data), declared)
		if err != nil {
			return nil, err
		}
		return formParameters(form, declared)
	case media == signpost.MIMEJSON, strings.HasSuffix(media, "+json"):
		return decodeObject(data, signpost.ContextBodyParam, declared)
	}
	return nil, malformed(http.StatusUnsupportedMediaType, signpost.ContextBodyParam, "",
		"needs a Content-Type of %s or %s", signpost.MIMEJSON, signpost.MIMEForm)
}

// headerParameters reads the headers of the items that are sent in one, by the names of the items.
func headerParameters(header http.Header, items []signpost.ContextItem) (map[string]any, error) {
	params := make(map[string]any)
	for _, item := range items {
		scheme, inHeader := headerSchemes[item.Type]
		texts := header.Values(item.SentAs())
		switch {
		case !inHeader || len(texts) == 0:
			continue
		case len(texts) > 1:
			return nil, bad(item.Type, item.SentAs(), "occurs %d times", len(texts))
		case !utf8.ValidString(texts[0]):
			return nil, bad(item.Type, item.SentAs(), "is not UTF-8 text")
		}
		n := len(scheme)
		if len(texts[0]) >= n && strings.EqualFold(texts[0][:n], scheme) { // another scheme is not meant for the key
			params[item.SentAs()] = strings.TrimSpace(texts[0][n:])
		}
	}
	return params, nil
}

// parseForm reads the fields of a form. It keeps at most MaxKeys that are not declared, and none that is escaped badly.
func parseForm(data string, declared map[string]bool) (url.Values, error) {
	form := make(url.Values)
	for pair := range strings.SplitSeq(data, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || pair == "" || !declared[name] && len(form) >= MaxKeys {
			continue
		}
		value, err = url.QueryUnescape(value)
		switch {
		case err == nil:
			form.Add(name, value)
		case declared[name]: // err quotes what it cannot read
			return nil, bad(signpost.ContextBodyParam, name, "is not a valid form field: the percent-encoding is wrong")
		}
	}
	return form, nil
}

func formParameters(form url.Values, declared map[string]bool) (map[string]any, error) {
	params := make(map[string]any, len(form))
	for _, name := range slices.Sorted(maps.Keys(form)) { // so that of several mistakes the same one is told
		texts := form[name]
		valid := utf8.ValidString(texts[0])
		switch {
		case len(texts) == 1 && valid:
			params[name] = texts[0]
		case !declared[name]:
		case !valid:
			return nil, bad(signpost.ContextBodyParam, name, "is not UTF-8 text")
		default:
			return nil, bad(signpost.ContextBodyParam, name, "occurs %d times", len(texts))
		}
	}
	return params, nil
}

// readBody returns the body and restores it for the handler.
func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
	_, limited := errors.AsType[*http.MaxBytesError](err) // set by the service
	switch {
	case limited, len(data) > MaxBody:
		const status = http.StatusRequestEntityTooLarge
		return nil, malformed(status, signpost.ContextBodyParam, "", "is longer than the service accepts")
	case err != nil:
		return nil, bad(signpost.ContextBodyParam, "", "could not be read completely")
	}
	return data, nil
}
